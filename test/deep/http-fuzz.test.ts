import test from 'ava';
import { fuzz } from '../http/support/fuzz/run.js';

/* DEEP_SEED=<printed> replays a run, DEEP_BUDGET multiplies its length. */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);

test('no request of a hundred thousand, well made or not, gets a reply that its route does not declare', async (t) => {
  t.log(`DEEP_SEED=${seed}`);
  const counts = await fuzz(t, { requests: 100_000 * budget, seed });
  for (const [answered, times] of [...counts].sort()) t.log(`${answered}: ${times}`);
});
