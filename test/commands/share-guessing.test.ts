import test from 'ava';
import { simulateGuessing } from '../support/simulate-guessing.js';

test('for a day, a hundred addresses that guess never stop the right password from elsewhere', async (t) => {
  await simulateGuessing(t, 100);
  t.pass();
});
