import test from 'ava';
import { simulateCommands } from './support/simulate-commands.js';
import { simulateReactions } from './support/simulate-reactions.js';
import { simulateProjections } from './support/simulate-projections.js';

// A few histories of those that `test/deep` tries by the thousand.

test('commands that race under faults are in the log exactly once, in whole', async (t) => {
  for (let seed = 1; seed <= 100; seed += 1) {
    const { problem } = await simulateCommands(seed);
    t.is(problem, null, `seed ${seed}`);
  }
});

test('views end as the fold of the log, whatever happens on the way', async (t) => {
  for (let seed = 1; seed <= 6; seed += 1) {
    const { problem } = await simulateProjections(seed);
    t.is(problem, null, `seed ${seed}`);
  }
});

test('what reactions are asked for ends with one outcome each, whatever happens on the way', async (t) => {
  for (let seed = 1; seed <= 12; seed += 1) {
    const { problem } = await simulateReactions(seed);
    t.is(problem, null, `seed ${seed}`);
  }
});
