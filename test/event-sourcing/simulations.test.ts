import test from 'ava';
import { crashRebuildFrom } from '../support/kernel/projectors.js';
import { simulateCommands } from '../support/kernel/simulate-commands.js';
import { simulateReactions } from '../support/kernel/simulate-reactions.js';
import { simulateSharing } from '../support/kernel/simulate-sharing.js';
import { simulateProjections } from '../support/kernel/simulate-projections.js';

// These are a few of the histories that `test/deep` runs by the thousand.

test('Commands that race under faults are in the log exactly once and complete', async (t) => {
  for (let seed = 1; seed <= 2; seed += 1) {
    const { problem } = await simulateCommands(seed);
    t.is(problem, null, `seed ${seed}`);
  }
});

test('Views end as the fold of the log under all faults', async (t) => {
  const { problem } = await simulateProjections(1);
  t.is(problem, null);
});

test('Reactions end with one outcome for each request under all faults', async (t) => {
  const { problem } = await simulateReactions(1);
  t.is(problem, null);
});

test('Views are at most 15 s behind, and effects happen once, when processes that feed die, freeze, return, or lose their store or their time', async (t) => {
  const { problem, struckFeeders } = await simulateSharing(5, 10);
  t.is(problem, null);
  t.true(struckFeeders > 4);
});

// This test tries two operations, other ones in each case. `test/deep/projector-rebuild-crashes.test.ts` tries all of them.
for (const [offset, when] of [
  [1, 'before'],
  [12, 'after'],
] as const) {
  for (const [more, successor] of [
    [0, 'at once'],
    [23, 'later'],
  ] as const) {
    test(`Another process continues a rebuild after a crash ${when} any effect, and it starts ${successor}`, async (t) => {
      await crashRebuildFrom(t, { when, successor, first: offset + more, step: 45 });
    });
  }
}
