import test from 'ava';
import { testHistories } from '../support/simulation/campaigns.js';
import { simulateDeletions } from '../support/simulation/reactions/simulate-deletions.js';

testHistories(
  test,
  'No storage or share outlives its project or its asset, and its sealed values no longer open',
  {
    ...{ seed: 20_260_103, histories: 1_000, run: simulateDeletions },
    hasMet: ({ late }, histories) => late > histories / 4,
  },
);
