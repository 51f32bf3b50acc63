import test from 'ava';
import { fuzz } from '../support/simulation/fuzz/run.js';

/* DEEP_SEED=<printed> replays a run; DEEP_BUDGET multiplies its length. */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);

test('None of a hundred thousand requests, well-formed or not, gets a reply that its route does not declare', async (t) => {
  t.log(`DEEP_SEED=${seed}`);
  const counts = await fuzz(t, { requests: 100_000 * budget, seed });
  for (const [answered, times] of [...counts].sort()) t.log(`${answered}: ${times}`);
});
