import test from 'ava';
import { simulateSharing } from '../support/kernel/simulate-sharing.js';
import { testHistories } from '../support/simulation/campaigns.js';

testHistories(
  test,
  'Views are at most 15 s behind, and effects happen once, when processes that feed die, freeze, return, or lose their store or their time',
  {
    ...{ seed: 20_260_102, histories: 100, run: (seed) => simulateSharing(seed, 20) },
    hasMet: ({ rounds, struckFeeders, repeated, behindMsMax }) =>
      // Disturbances hit effects that were under way. A takeover takes time: a history without one would show nothing.
      struckFeeders > rounds / 2 && repeated > 0 && behindMsMax > 5_000,
  },
);
