import test from 'ava';
import { simulateReactions } from '../support/kernel/simulate-reactions.js';
import { testHistories } from '../support/simulation/campaigns.js';

testHistories(test, 'Each request to a reaction ends with one outcome under all faults', {
  ...{ seed: 20_260_102, histories: 1_000, run: simulateReactions },
  hasMet: ({ sent, repeated }, histories) => sent > histories * 5 && repeated > histories / 10,
});
