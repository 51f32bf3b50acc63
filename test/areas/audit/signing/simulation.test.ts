import test from 'ava';

import { simulateAudit } from '../../../support/audit/simulate-audit.js';

test('Processes that are killed at any point sign one chain of checkpoints over the log', async (t) => {
  // `test/deep` runs thirty of these histories.
  const { problems, kills, checkpoints } = await simulateAudit(1);
  t.deepEqual(problems, []);
  t.true(kills > 2 && checkpoints > 2, `${kills} kills, ${checkpoints} checkpoints`);
});
