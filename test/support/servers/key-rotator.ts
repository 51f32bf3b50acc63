import { openServices } from '../../../src/composition/services.js';
import { makeOperations } from '../../../src/operating/commands/index.js';
import { readConfig } from '../../../src/config/config.js';
import { makeOperationRunner } from '../../../src/operating/socket/operation.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { ringNames } from '../../../src/keys/rings/key-file-format.js';
import { settableClock } from '../fakes/settable-clock.js';
import { asObject, textOf } from '../clients/service-client.js';

/**
 * A process that seals secrets and rotates every ring of a data directory with the operators' commands, until it is
 * killed. It prints a line for each acknowledged operation: `sealed <user id> <sealed value>` or `added|promoted <ring>
 * <kid>`.
 */
const [directory = '', name = '', startAt = ''] = process.argv.slice(2);
const clock = settableClock(new Date(startAt));
const services = await openServices(readConfig({ DATA_DIR: directory, LOG_LEVEL: 'silent' }), { clock });
const run = makeOperationRunner(makeOperations(services), (_operation, error) => {
  throw error;
});
const [minuteMs, dayMs] = [60_000, 86_400_000];
process.stdout.write('ready\n');
await Promise.all([sealForEver(0), sealForEver(1), rotateForEver()]);

async function operate(operation: string, input: JsonObject): Promise<JsonObject> {
  const reply = await run({ operation, input });
  // Most of an operation is synchronous, so the wait lets the other loops run.
  await new Promise(setImmediate);
  if (!reply.ok) throw new Error(`${operation}: ${reply.message}`);
  return asObject(reply.result);
}

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
        if (!active) await run({ operation: 'keys retire', input: { ring, kid, force: ring !== 'master' } });
      }
      const kid = textOf(await operate('keys add', { ring }), 'kid');
      process.stdout.write(`added ${ring} ${kid}\n`);
      clock.advance(minuteMs);
      await operate('keys promote', { ring, kid, now: false });
      process.stdout.write(`promoted ${ring} ${kid}\n`);
      if (ring === 'master') {
        let after: string | null = null;
        do {
          const part = await operate('keys rewrap', { after });
          after = part['next'] === null ? null : textOf(part, 'next');
        } while (after !== null);
      }
      clock.advance(dayMs);
    }
  }
}
