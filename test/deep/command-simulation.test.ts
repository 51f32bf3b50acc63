import test from 'ava';
import { simulateCommands } from '../support/kernel/simulate-commands.js';
import { testHistories } from '../support/simulation/campaigns.js';

testHistories(test, 'The events of every successful command are in the log exactly once and complete', {
  ...{ seed: 20_260_102, histories: 15_000, run: simulateCommands },
  hasMet: ({ done }, histories) => done > histories * 3,
});
