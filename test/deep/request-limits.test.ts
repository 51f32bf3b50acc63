import test from 'ava';
import { refusalOfEndlessWork } from '../support/given/given-request-limits.js';

test('A request takes at most 15 s while its stores answer', async (t) => {
  const { refusal, tookMs, isOver } = await refusalOfEndlessWork(null);
  t.is(refusal, 'the request took longer than 15000 ms');
  t.true(tookMs >= 15_000, `${tookMs} ms`);
  t.true(tookMs < 20_000, `${tookMs} ms`);
  t.true(isOver);
});
