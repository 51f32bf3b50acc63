import test from 'ava';
import { simulateGuessing } from '../support/simulation/simulate-guessing.js';

test('Ninety addresses that guess for a day never stop the right password from another address', async (t) => {
  t.timeout(5 * 60_000);
  await simulateGuessing(t, 90);
  t.pass();
});
