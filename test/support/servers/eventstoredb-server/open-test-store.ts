import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import {
  openEventStoreDb,
  type EventStoreDbOptions,
} from '../../../../src/stores/eventstoredb/event-store.js';
import { makeSeededRandom, realClock } from '../../fakes/clock.js';

/** Opens an adapter for a test, with the real clock, seeded waits and the options that the test overrides. */
export function openTestStore(url: string, options: Partial<EventStoreDbOptions> = {}): EventStore {
  return openEventStoreDb({
    url,
    streamPrefix: 'test.',
    clock: realClock,
    random: makeSeededRandom(1),
    ...options,
  });
}
