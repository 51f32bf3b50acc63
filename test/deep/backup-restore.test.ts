import { cpSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { verifyBackup } from '../../src/operating/backup/backup-folder.js';
import { StoreDamaged } from '../../src/event-sourcing/ports/errors.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { backUpUnderLoad } from '../support/given/backups.js';
import { givenDirectory } from '../support/servers/embedded-directory.js';

/** DEEP_SEED draws the moments and the cuts. DEEP_BUDGET multiplies the number of backups; 10 makes a hundred. */
const seed = Number(process.env['DEEP_SEED'] ?? 1);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);
const backups = Math.ceil(10 * budget);
const cutsOfEach = Math.ceil(200 * budget);

test(`${backups} backups under load lose nothing, have equal views, and let people sign in`, async (t) => {
  t.timeout(1_800_000);
  t.log(`DEEP_SEED=${seed}`);
  const random = makeSeededRandom(seed);
  const parent = givenDirectory(t);
  const data = join(parent, 'data');
  let compared = 0;
  for (let round = 0; round < backups; round += 1) {
    const [folder, restored] = [join(parent, `backup-${round}`), join(parent, `restored-${round}`)];
    const { again, equal } = await backUpUnderLoad(
      t,
      { data, folder, restored },
      {
        name: `round-${round}`,
        writes: 5 + Math.floor(random() * 10),
        pauseMs: Math.floor(random() * 20),
      },
    );
    await again.close();
    compared += equal;
    await refusesEachCut(folder);
    rmSync(restored, { recursive: true });
    rmSync(folder, { recursive: true });
  }
  t.true(compared > backups * 5, String(compared));

  /** Cuts each file off: the manifest at every byte, the others at random ones. */
  async function refusesEachCut(folder: string): Promise<void> {
    const cut = `${folder}-cut`;
    for (const name of readdirSync(folder)) {
      cpSync(folder, cut, { recursive: true });
      const { length } = readFileSync(join(folder, name));
      const lengths =
        name === 'manifest.json'
          ? Array.from({ length }, (_, index) => index)
          : Array.from({ length: cutsOfEach }, () => Math.floor(random() * length));
      for (const at of lengths.toSorted((one, other) => other - one)) {
        truncateSync(join(cut, name), at);
        const refusal = await verifyBackup(cut, () => undefined).then(
          () => null,
          (error: unknown) => error,
        );
        if (!(refusal instanceof StoreDamaged)) t.fail(`${name} cut off at ${at}: ${String(refusal)}`);
      }
      rmSync(cut, { recursive: true });
    }
  }
});
