import test from 'ava';
import { simulateProjections } from '../support/simulation/kernel/simulate-projections.js';

/*
 * Two projectors run at once over one collection, with long pauses, crashes, write-through by commands and rebuilds in
 * between. The documents end as the fold of the log for every seed. DEEP_SEED=<printed> and DEEP_HISTORY=<named in the
 * failure> replay one history. DEEP_BUDGET multiplies the number of histories.
 */
const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const only = process.env['DEEP_HISTORY'];

test('Views end as the fold of the log under all faults', async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  const histories = only === undefined ? Math.ceil(300 * budget) : 1;
  const sum = { events: 0, rebuilt: 0 };
  for (let n = 0; n < histories; n += 1) {
    const history = only === undefined ? (seed + n * 7_919) % 2 ** 31 : Number(only);
    const { problem, events, rebuilt } = await simulateProjections(history);
    sum.events += events;
    sum.rebuilt += rebuilt;
    if (problem !== null) {
      t.fail(`${problem}: repeat with DEEP_SEED=${seed} DEEP_HISTORY=${history}`);
      return;
    }
  }
  t.log(`${histories} histories, ${sum.events} events, ${sum.rebuilt} rebuilds`);
  t.true(only !== undefined || (sum.events > histories * 5 && sum.rebuilt > histories / 10));
});
