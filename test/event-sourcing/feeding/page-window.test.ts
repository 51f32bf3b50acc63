import test from 'ava';
import { makePageWindow, type Place } from '../../../src/event-sourcing/feeding/page-window.js';
import { steadyMsOf } from '../../../src/kit/time/clock.js';
import type { LogPage } from '../../../src/event-sourcing/ports/event-store.js';
import { makeVirtualClock } from '../../support/simulation/kernel/virtual-clock.js';

/** A page that ends at the cursor; one that is large fills the window by itself. */
function page(cursor: string, { atHead = false, large = false } = {}): LogPage {
  return { events: [], cursor, atHead, bytes: large ? 4 * 1024 * 1024 : 1 };
}

/** A window in which no follower waits for one that took no page for 5 s. */
async function givenLeftBehind() {
  const clock = makeVirtualClock();
  const window = makePageWindow({ clock });
  const [slow, fast] = [window.join(null), window.join(null)] as readonly [Place, Place];
  const first = page('1', { large: true });
  window.add(null, { page: first, wakes: 0 });
  window.moved(fast, first);
  await clock.run(window.room(fast, new AbortController().signal));
  return { window, slow };
}

test('A follower that the others have left behind joins them again at the head or at one of their pages', async (t) => {
  for (const [next, isLeftBehind] of [
    [page('2'), true],
    [page('2', { atHead: true }), false],
    [page('3'), false],
  ] as const) {
    // Given a follower that is left behind, while the others keep the page after 3
    const { window, slow } = await givenLeftBehind();
    t.true(slow.leftBehind);
    window.add('3', { page: page('4'), wakes: 0 });
    // When it takes a page that it has read by itself
    window.moved(slow, next);
    // Then the others wait for it where it has met them
    t.is(slow.leftBehind, isLeftBehind);
  }
});

test('The others wait for a slow follower for 5 s, however the wall clock is set', async (t) => {
  for (const hours of [1, -1]) {
    // Given a follower that takes no page, and one that waits for it
    const clock = makeVirtualClock();
    const window = makePageWindow({ clock });
    const [slow, fast] = [window.join(null), window.join(null)] as readonly [Place, Place];
    const first = page('1', { large: true });
    window.add(null, { page: first, wakes: 0 });
    window.moved(fast, first);
    const startedMs = steadyMsOf(clock);
    const room = window.room(fast, new AbortController().signal);
    // When the wall clock is set meanwhile
    await clock.advance(2_000);
    clock.set(hours * 3_600_000);
    await clock.run(room);
    // Then
    t.is(steadyMsOf(clock) - startedMs, 5_000);
    t.true(slow.leftBehind);
  }
});
