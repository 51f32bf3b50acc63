import test from 'ava';
import { crashRebuildAt } from '../support/simulation/kernel/rebuild-crash.js';
import { simulateCommands } from '../support/simulation/kernel/simulate-commands.js';
import { simulateLease } from '../support/simulation/kernel/simulate-lease.js';
import { simulateReactions } from '../support/simulation/kernel/simulate-reactions.js';
import { simulateSharing } from '../support/simulation/kernel/simulate-sharing.js';
import { simulateProjections } from '../support/simulation/kernel/simulate-projections.js';

// These are a few of the histories that `test/deep` runs by the thousand.

test('Commands that race under faults are in the log exactly once and complete', async (t) => {
  for (let seed = 1; seed <= 8; seed += 1) {
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

test('Views are at most 15 s behind, and reactions take effect once, when processes that feed it die, freeze and return', async (t) => {
  const { problem, disturbed } = await simulateSharing(1, 12);
  t.is(problem, null);
  t.true(disturbed > 2);
});

test('Views are at most 15 s behind, and effects happen once, when owners of the lease die, freeze, lose their store or their time', async (t) => {
  const { problem, struck } = await simulateLease(1, 10);
  t.is(problem, null);
  t.true(struck.owners > 2);
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
      const whole = await crashRebuildAt(Infinity, when, successor);
      t.true(whole.rebuilt && whole.right);
      // The operations after the drop of the old generation repeat each second.
      const points = Math.min(whole.operations, 90);
      t.true(points > 40);
      for (let n = offset + more; n <= points; n += 45) {
        const { rebuilt, right } = await crashRebuildAt(n, when, successor);
        t.true(rebuilt, `crashed at operation ${n}: the rebuild did not continue`);
        t.true(right, `crashed at operation ${n}: the documents are not the fold of the log`);
      }
    });
  }
}
