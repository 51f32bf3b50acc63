import test from 'ava';
import { runAccessMatrix } from '../support/simulation/access/access-matrix-run.js';

test('Every route accepts and refuses callers in every situation as the design says', async (t) => {
  const calls = await runAccessMatrix(t, { share: 1, seed: 1 });
  t.log(`${calls} calls`);
});
