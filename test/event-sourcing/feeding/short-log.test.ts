import test from 'ava';
import { makeShortLog } from '../../../src/event-sourcing/feeding/read-log.js';
import { makeVirtualClock } from '../../support/kernel/virtual-clock.js';

test('A log is short for good after the time of its store, however the wall clock is set', async (t) => {
  for (const hours of [0, 1, -1]) {
    // Given a log that lacks an event
    const clock = makeVirtualClock();
    const shortLog = makeShortLog({ clock, waitMs: 10_000 });
    t.false(shortLog.isLasting());
    // When the wall clock is set
    clock.set(hours * 3_600_000);
    // Then only the time that passes counts
    await clock.advance(9_999);
    t.false(shortLog.isLasting());
    await clock.advance(1);
    t.true(shortLog.isLasting());
  }
});
