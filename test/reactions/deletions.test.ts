import test from 'ava';
import { simulateDeletions } from './support/simulate-deletions.js';

// A few histories of those that `test/deep` tries by the thousand.

test('whatever is created while its project is deleted or its asset removed, nothing of it stays', async (t) => {
  const sum = { late: 0, deleted: 0, crashes: 0 };
  for (let seed = 1; seed <= 25; seed += 1) {
    const { problem, ...told } = await simulateDeletions(seed);
    t.is(problem, null, `seed ${seed}`);
    sum.late += told.late;
    sum.deleted += told.deleted;
    sum.crashes += told.crashes;
  }
  t.log(JSON.stringify(sum));
  t.true(sum.late > 2 && sum.deleted > 12 && sum.crashes > 8);
});
