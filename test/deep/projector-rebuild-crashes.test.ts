import test from 'ava';
import { crashRebuildFrom } from '../support/kernel/projectors.js';

for (const when of ['before', 'after'] as const) {
  for (const successor of ['at once', 'later'] as const) {
    test(`Another process continues a rebuild after a crash ${when} any effect, and it starts ${successor}`, async (t) => {
      await crashRebuildFrom(t, { when, successor, first: 1, step: 1 });
    });
  }
}
