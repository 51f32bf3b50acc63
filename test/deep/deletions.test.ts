import test from 'ava';
import { simulateDeletions } from '../support/simulation/reactions/simulate-deletions.js';

/*
 * Two processes create and delete projects, storages, assets and shares, with crashes: see `simulateDeletions`.
 * DEEP_SEED=<printed> and DEEP_HISTORY=<named in the failure> replay one history. DEEP_BUDGET multiplies the number of
 * histories.
 */
const seed = Number(process.env['DEEP_SEED'] ?? '20260103');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const only = process.env['DEEP_HISTORY'];

test('No storage or share outlives its project or its asset, and its sealed values no longer open', async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  const histories = only === undefined ? Math.ceil(1_000 * budget) : 1;
  let sum = 0;
  for (let n = 0; n < histories; n += 1) {
    const history = only === undefined ? (seed + n * 7_919) % 2 ** 31 : Number(only);
    const { problem, late } = await simulateDeletions(history);
    sum += late;
    if (problem !== null) {
      t.fail(`${problem}: repeat with DEEP_SEED=${seed} DEEP_HISTORY=${history}`);
      return;
    }
  }
  t.log(`${histories} histories, ${sum} storages and shares created after their project was deleted`);
  t.true(only !== undefined || sum > histories / 4);
});
