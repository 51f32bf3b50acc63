import type { Position } from '../ports/domain-event.js';
import type { EventStore } from '../ports/event-store.js';

/** How many events follow a position. */
export interface Following {
  /** At most the limit. */
  readonly count: number;
  /** Whether no more than these follow. */
  readonly isAll: boolean;
}

/**
 * Counts the events after a position, up to a limit. A page of the log also ends at its bytes, so a few large events need
 * several reads. @throws StoreUnavailable
 */
export async function countAfter(
  eventStore: Pick<EventStore, 'readAll'>,
  position: Position | null,
  limit: number,
): Promise<Following> {
  let [after, count] = [position, 0];
  for (;;) {
    const { events, cursor, atHead } = await eventStore.readAll({ after, limit: limit - count });
    count += events.length;
    if (atHead || count >= limit || cursor === after) return { count, isAll: atHead };
    after = cursor;
  }
}
