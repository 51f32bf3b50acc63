import test from 'ava';
import { crashRebuildAt } from './support/rebuild-crash.js';

// Every eighth operation here; `test/deep/projector-rebuild-crashes.test.ts` tries them all.
for (const when of ['before', 'after'] as const) {
  for (const successor of ['at once', 'later'] as const) {
    test(`a rebuild whose process crashes ${when} any effect is carried on by another, there ${successor}`, async (t) => {
      const whole = await crashRebuildAt(Infinity, when, successor);
      t.true(whole.rebuilt && whole.right);
      // The operations after the old generation is dropped repeat themselves each second.
      const points = Math.min(whole.operations, 90);
      t.true(points > 40);
      for (let n = 1; n <= points; n += 8) {
        const { rebuilt, right } = await crashRebuildAt(n, when, successor);
        t.true(rebuilt, `crashed at operation ${n}: the rebuild was not carried on`);
        t.true(right, `crashed at operation ${n}: the documents are not the fold of the log`);
      }
    });
  }
}
