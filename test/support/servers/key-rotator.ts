import { openServices } from '../../../src/composition/services.js';
import { readConfig } from '../../../src/config/config.js';
import { ringNames } from '../../../src/keys/rings/key-file-format.js';
import { settableClock } from '../fakes/settable-clock.js';
import { textOf } from '../clients/service-client.js';
import { askOperators, operateOn } from './operate-on.js';

/**
 * A process that seals secrets and rotates every ring of a data directory with the operators' commands, until it is
 * killed. It prints a line for each acknowledged operation: `sealed <user id> <sealed value>` or `added|promoted <ring>
 * <kid>`.
 */
const [directory = '', name = '', startAt = ''] = process.argv.slice(2);
const clock = settableClock(new Date(startAt));
const services = await openServices(readConfig({ DATA_DIR: directory, LOG_LEVEL: 'silent' }), { clock });
const [minuteMs, dayMs] = [60_000, 86_400_000];
process.stdout.write('ready\n');
await Promise.all([sealForEver(0), sealForEver(1), rotateForEver()]);

async function sealForEver(worker: number): Promise<void> {
  for (let n = 0; ; n += 1) {
    const userId = `${name}-${worker}-${n}`;
    const sealed = await services.sealer.seal({ kind: 'person', userId }, 'email', userId);
    process.stdout.write(`sealed ${userId} ${sealed}\n`);
  }
}

async function rotateForEver(): Promise<void> {
  for (;;) {
    for (const ring of ringNames) {
      const { keys } = services.keyRotation.list().find((overview) => overview.ring === ring) ?? { keys: [] };
      // An earlier process may have left keys; they are retired once no value needs them.
      for (const { kid, active } of keys) {
        if (!active) await askOperators(services, 'keys retire', { ring, kid, force: ring !== 'master' });
      }
      const kid = textOf(await operateOn(services, 'keys add', { ring }), 'kid');
      process.stdout.write(`added ${ring} ${kid}\n`);
      clock.advance(minuteMs);
      await operateOn(services, 'keys promote', { ring, kid, now: false });
      process.stdout.write(`promoted ${ring} ${kid}\n`);
      if (ring === 'master') {
        await operateOn(services, 'keys rewrap', {});
      }
      clock.advance(dayMs);
    }
  }
}
