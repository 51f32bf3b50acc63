import test from 'ava';
import { simulateProjections } from '../support/kernel/simulate-projections.js';
import { testHistories } from '../support/simulation/campaigns.js';

testHistories(test, 'Views end as the fold of the log under all faults', {
  ...{ seed: 20_260_102, histories: 300, run: simulateProjections },
  hasMet: ({ events, rebuilt }, histories) => events > histories * 5 && rebuilt > histories / 10,
});
