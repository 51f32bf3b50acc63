import test from 'ava';
import { crashRebuildAt } from '../support/simulation/kernel/rebuild-crash.js';

for (const when of ['before', 'after'] as const) {
  for (const successor of ['at once', 'later'] as const) {
    test(`Another process continues a rebuild after a crash ${when} any effect, and it starts ${successor}`, async (t) => {
      const whole = await crashRebuildAt(Infinity, when, successor);
      t.true(whole.rebuilt && whole.right);
      // The operations after the drop of the old generation repeat each second.
      const points = Math.min(whole.operations, 90);
      t.true(points > 40);
      for (let n = 1; n <= points; n += 1) {
        const { rebuilt, right } = await crashRebuildAt(n, when, successor);
        t.true(rebuilt, `crashed at operation ${n}: the rebuild did not continue`);
        t.true(right, `crashed at operation ${n}: the documents are not the fold of the log`);
      }
    });
  }
}
