import test from 'ava';
import { simulateAudit } from '../support/audit/simulate-audit.js';
import { testHistories } from '../support/simulation/campaigns.js';

/* The machine's timing is no part of the seed. */
testHistories(test, 'No two checkpoints contradict each other while processes are killed', {
  ...{ seed: 20_260_102, histories: 30 },
  run: async (seed) => {
    const { problems, ...found } = await simulateAudit(seed);
    return { problem: problems.length === 0 ? null : problems.join('; '), ...found };
  },
  hasMet: ({ kills, checkpoints }, histories) => kills > histories && checkpoints > histories * 3,
});
