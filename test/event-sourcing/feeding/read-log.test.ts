import test from 'ava';
import { countAfter } from '../../../src/event-sourcing/feeding/read-log.js';
import type { NewEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { givenWorld } from '../../support/kernel/world.js';

const count = 100;

/** A log of events of 200 KB each, of which a page holds eleven. */
async function givenLargeEvents() {
  const { eventStore } = givenWorld();
  const metadata = { command_id: 'a', causation_id: 'b', correlation_id: 'c', actor: 'system', time: '' };
  for (let n = 0; n < count; n += 1) {
    const id = `00000000-0000-5000-8000-${String(n).padStart(12, '0')}`;
    const event: NewEvent = { id, type: 'CounterOpened', data: { label: 'x'.repeat(200_000) }, metadata };
    await eventStore.append(`counter-c${n}`, 'no-stream', [event]);
  }
  return eventStore;
}

test('Large events after a position are counted over several pages', async (t) => {
  const eventStore = await givenLargeEvents();
  const first = await eventStore.readAll({ after: null, limit: 1_000 });
  t.true(first.events.length < 20, 'a page ends at its bytes');
  t.deepEqual(await countAfter(eventStore, null, 1_000), { count, isAll: true });
  t.deepEqual(await countAfter(eventStore, first.cursor, 1_000), {
    count: count - first.events.length,
    isAll: true,
  });
  t.deepEqual(await countAfter(eventStore, null, 50), { count: 50, isAll: false });
});

test('Events of other services are not counted, and the count ends at the head', async (t) => {
  const { eventStore } = givenWorld();
  eventStore.appendForeign();
  t.deepEqual(await countAfter(eventStore, null, 10), { count: 0, isAll: true });
});
