import type { Position } from '../ports/domain-event.js';
import type { EventStore } from '../ports/event-store.js';

/** The positions of one read. Most of a shared log may be those of other programs. */
const pageSize = 1_000;

/** Tells whether a log has an event of this service. It reads up to the first one. @throws StoreUnavailable, StoreDamaged */
export async function hasEvents({ readAll }: Pick<EventStore, 'readAll'>): Promise<boolean> {
  for (let after: Position | null = null; ;) {
    const { events, cursor, atHead } = await readAll({ after, limit: pageSize });
    if (events.length > 0) return true;
    if (atHead) return false;
    after = cursor;
  }
}
