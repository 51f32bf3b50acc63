import type { EventStore } from '../../../src/event-sourcing/event-store.js';
import { openEventStoreDb, type EventStoreDbOptions } from '../../../src/stores/eventstoredb/event-store.js';
import { makeSeededRandom, realClock } from '../clock.js';

/** An adapter as tests use it: the real clock, seeded waits, and whatever else the test is about. */
export function openTestStore(url: string, options: Partial<EventStoreDbOptions> = {}): EventStore {
  return openEventStoreDb({
    url,
    streamPrefix: 'test.',
    clock: realClock,
    random: makeSeededRandom(1),
    ...options,
  });
}
