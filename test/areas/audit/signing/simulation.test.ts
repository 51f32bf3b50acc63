import test from 'ava';

import { simulateAudit } from '../../../support/audit/simulate-audit.js';

test('Processes that are killed at any point sign one chain of checkpoints over the log', async (t) => {
  const totals = { kills: 0, checkpoints: 0 };
  for (let seed = 1; seed <= 2; seed += 1) {
    const { problems, kills, checkpoints } = await simulateAudit(seed);
    t.deepEqual(problems, [], `seed ${seed}`);
    totals.kills += kills;
    totals.checkpoints += checkpoints;
  }
  t.true(totals.kills > 5 && totals.checkpoints > 10, JSON.stringify(totals));
});
