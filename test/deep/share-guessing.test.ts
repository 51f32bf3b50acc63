import test from 'ava';
import { simulateGuessing } from '../support/simulate-guessing.js';

test('for a day, a thousand addresses that guess never stop the right password from elsewhere', async (t) => {
  t.timeout(5 * 60_000);
  await simulateGuessing(t, 1_000);
  t.pass();
});
