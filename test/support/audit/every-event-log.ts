import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { everyEvent } from '../examples/every-event.js';
import { projectId, userId } from '../examples/ids.js';
import { metadataOf } from '../examples/metadata.js';

/** Streams of each category with each of its events. */
interface EveryEvent {
  readonly streams: readonly string[];
  /** The number of their events. */
  readonly size: number;
  /** Appends the events, which lie between one another at random. */
  readonly append: (eventStore: EventStore, random: () => number) => Promise<void>;
}

/**
 * Makes streams of each category with each of its events.
 * @param copies the streams of each category
 */
export function makeEveryEvent(copies: number): EveryEvent {
  const waiting = Object.entries(everyEvent).flatMap(([category, types]) =>
    Array.from({ length: copies }, (_, copy) => ({
      stream: `${category}-${copy === 0 && category === 'project' ? projectId : copy}`,
      events: Object.entries(types as Readonly<Record<string, JsonObject>>),
      next: 0,
    })),
  );
  return {
    streams: waiting.map(({ stream }) => stream),
    size: waiting.reduce((sum, { events }) => sum + events.length, 0),
    append: async (eventStore, random) => {
      for (
        let open = [...waiting];
        open.length > 0;
        open = open.filter((one) => one.next < one.events.length)
      ) {
        const one = open[Math.floor(random() * open.length)];
        const [type, data] = one?.events[one.next] ?? [];
        if (one === undefined || type === undefined || data === undefined) throw new Error('nothing waits');
        const id = randomUUID();
        const expected = one.next === 0 ? 'no-stream' : BigInt(one.next - 1);
        await eventStore.append(one.stream, expected, [
          { id, type, data, metadata: metadataOf(id, `user:${userId}`) },
        ]);
        one.next += 1;
      }
    },
  };
}
