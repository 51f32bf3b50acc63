import test from 'ava';
import { runAccessMatrix } from '../http/support/access-matrix-run.js';

test('every route, called in every situation there is, lets through and refuses as the design says', async (t) => {
  const calls = await runAccessMatrix(t, { share: 1, seed: 1 });
  t.log(`${calls} calls`);
});
