import test from 'ava';
import { simulateHistory } from './support/simulate-payments.js';

// A few histories of those that `test/deep` tries by the hundred thousand.

test('whatever the order, however often and whatever crashes, the same messages end alike', async (t) => {
  const sum = { crashes: 0, granted: 0, held: 0, review: 0 };
  for (let seed = 1; seed <= 40; seed += 1) {
    const { problem, told } = await simulateHistory(seed, { ways: 2 });
    t.is(problem, null, `seed ${seed}`);
    for (const { orders, held, crashes } of told) {
      sum.crashes += crashes;
      sum.granted += orders.filter(({ isGranted }) => isGranted).length;
      sum.review += orders.filter(({ status }) => status === 'review').length;
      sum.held += held.length;
    }
  }
  t.log(JSON.stringify(sum));
  t.true(sum.crashes > 60 && sum.granted > 20 && sum.held > 20 && sum.review > 20);
});

test('a callback that two processes hold at once, each for a reason of its own, is held by two events', async (t) => {
  // The history in which both made one and the same event of it.
  t.is((await simulateHistory(374054865, { ways: 4 })).problem, null);
});
