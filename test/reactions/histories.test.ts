import test from 'ava';
import { simulateDeletions } from './support/simulate-deletions.js';
import { simulateHistory } from './support/simulate-payments.js';

// A few histories of those that `test/deep` tries by the thousand.

test('whatever is created while its project is deleted or its asset removed, nothing of it stays', async (t) => {
  const sum = { late: 0, deleted: 0, crashes: 0 };
  for (let seed = 1; seed <= 8; seed += 1) {
    const { problem, ...told } = await simulateDeletions(seed);
    t.is(problem, null, `seed ${seed}`);
    sum.late += told.late;
    sum.deleted += told.deleted;
    sum.crashes += told.crashes;
  }
  t.log(JSON.stringify(sum));
  t.true(sum.late > 0 && sum.deleted > 4 && sum.crashes > 2);
});

test('whatever the order, however often and whatever crashes, the same messages end alike', async (t) => {
  const sum = { crashes: 0, granted: 0, held: 0, review: 0 };
  for (let seed = 1; seed <= 10; seed += 1) {
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
  t.true(sum.crashes > 15 && sum.granted > 5 && sum.held > 5 && sum.review > 2);
});

test('a callback that two processes hold at once, each for a reason of its own, is held by two events', async (t) => {
  // The history in which both made one and the same event of it.
  t.is((await simulateHistory(374054865, { ways: 4 })).problem, null);
});
