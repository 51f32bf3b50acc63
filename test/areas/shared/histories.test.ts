import test from 'ava';
import { simulateDeletions } from '../../support/simulation/reactions/simulate-deletions.js';
import { simulateHistory } from '../../support/simulation/reactions/simulate-payments.js';

// These are a few of the histories that `test/deep` runs by the thousand.

test('No storage or share stays that is created during the deletion of its project or asset', async (t) => {
  const sum = { late: 0, deleted: 0, crashes: 0 };
  for (let seed = 1; seed <= 3; seed += 1) {
    const { problem, ...told } = await simulateDeletions(seed);
    t.is(problem, null, `seed ${seed}`);
    sum.late += told.late;
    sum.deleted += told.deleted;
    sum.crashes += told.crashes;
  }
  t.log(JSON.stringify(sum));
  t.true(sum.late > 0 && sum.deleted > 1 && sum.crashes > 0);
});

test('The same messages end in the same state under all orders, repetitions and crashes', async (t) => {
  const sum = { crashes: 0, granted: 0, held: 0, review: 0 };
  for (let seed = 1; seed <= 5; seed += 1) {
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
  t.true(sum.crashes > 4 && sum.granted > 1 && sum.held > 2 && sum.review > 0);
});

test('A callback that two processes hold at once for different reasons is held by two events', async (t) => {
  // In this history both processes once made the same event.
  t.is((await simulateHistory(374054865, { ways: 4 })).problem, null);
});
