import type { StoredEvent } from '../ports/domain-event.js';
import type { EventStore } from '../ports/event-store.js';

const pageSize = 500;

/** Reads a stream from a revision to its head, page by page. */
export async function readStream(
  eventStore: Pick<EventStore, 'read'>,
  stream: string,
  from = 0n,
): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (;;) {
    const page = await eventStore.read(stream, { from: from + BigInt(events.length), limit: pageSize });
    events.push(...page);
    if (page.length < pageSize) return events;
  }
}
