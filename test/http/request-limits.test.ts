import test from 'ava';
import { refusalOfEndlessWork } from '../support/given/given-request-limits.js';

test('A request takes at most 2 s while a store that it needs is away', async (t) => {
  const { refusal, tookMs, isOver } = await refusalOfEndlessWork(1_000);
  t.is(refusal, 'the request took longer than 2000 ms, and the store eventStore does not answer');
  t.true(tookMs >= 2_000, `${tookMs} ms`);
  t.true(tookMs < 5_000, `${tookMs} ms`);
  t.true(isOver);
});
