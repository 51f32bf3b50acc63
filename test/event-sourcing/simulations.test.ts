import test from 'ava';
import { crashRebuildAt } from './support/rebuild-crash.js';
import { simulateCommands } from './support/simulate-commands.js';
import { simulateReactions } from './support/simulate-reactions.js';
import { simulateProjections } from './support/simulate-projections.js';

// A few histories of those that `test/deep` tries by the thousand.

test('commands that race under faults are in the log exactly once, in whole', async (t) => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const { problem } = await simulateCommands(seed);
    t.is(problem, null, `seed ${seed}`);
  }
});

test('views end as the fold of the log, whatever happens on the way', async (t) => {
  for (let seed = 1; seed <= 3; seed += 1) {
    const { problem } = await simulateProjections(seed);
    t.is(problem, null, `seed ${seed}`);
  }
});

test('what reactions are asked for ends with one outcome each, whatever happens on the way', async (t) => {
  for (let seed = 1; seed <= 5; seed += 1) {
    const { problem } = await simulateReactions(seed);
    t.is(problem, null, `seed ${seed}`);
  }
});

// Every sixteenth operation; `test/deep/projector-rebuild-crashes.test.ts` tries them all.
for (const when of ['before', 'after'] as const) {
  for (const successor of ['at once', 'later'] as const) {
    test(`a rebuild whose process crashes ${when} any effect is carried on by another, there ${successor}`, async (t) => {
      const whole = await crashRebuildAt(Infinity, when, successor);
      t.true(whole.rebuilt && whole.right);
      // The operations after the old generation is dropped repeat themselves each second.
      const points = Math.min(whole.operations, 90);
      t.true(points > 40);
      for (let n = 1; n <= points; n += 16) {
        const { rebuilt, right } = await crashRebuildAt(n, when, successor);
        t.true(rebuilt, `crashed at operation ${n}: the rebuild was not carried on`);
        t.true(right, `crashed at operation ${n}: the documents are not the fold of the log`);
      }
    });
  }
}
