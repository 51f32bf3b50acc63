import {
  type DomainEvent,
  type StoredEvent,
  streamName,
} from '../../../src/event-sourcing/ports/domain-event.js';
import type { EventCodec } from '../../../src/event-sourcing/ports/event-codec.js';
import { eventId } from '../../../src/event-sourcing/deciding/command-handler.js';
import { metadataOf } from '../examples/metadata.js';

const commandId = '018f0000-0000-7000-8000-00000000c0de';

/**
 * The time of the first given event. Each further event is a second later, and each is recorded 5 ms after its time.
 */
export const firstEventAt = '2026-01-02T03:04:05.000Z';

export function eventTime(index: number): string {
  return new Date(Date.parse(firstEventAt) + index * 1_000).toISOString();
}

/** Returns when the store recorded the nth given event, in its test time, or a time after that. */
export function recordedAt(index: number, laterMs = 0): Date {
  return new Date(Date.parse(eventTime(index)) + 5 + laterMs);
}

/**
 * Records events as a store would return them: through the codec and through JSON.
 * @param first the revision of the first one
 */
export function recordEvents<Event extends DomainEvent>(
  { category, codec }: { readonly category: string; readonly codec: EventCodec<Event> },
  id: string,
  events: readonly Event[],
  first = 0,
): readonly StoredEvent[] {
  const stream = streamName(category, id);
  return events.map((event, nth) => {
    const index = first + nth;
    const encoded = codec.encode(event);
    return {
      ...(JSON.parse(JSON.stringify(encoded)) as typeof encoded),
      id: eventId(commandId, stream, index, encoded),
      metadata: metadataOf(commandId, 'anonymous', eventTime(index)),
      stream,
      revision: BigInt(index),
      recordedAt: recordedAt(index),
    };
  });
}
