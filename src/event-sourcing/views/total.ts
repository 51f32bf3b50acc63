import type { LogEvent, Position } from '../ports/domain-event.js';
import type { StoredDocument } from '../ports/read-model-store.js';
import type { TotalChange } from './projection.js';

/** The document of a tally. */
export type Total = {
  /** A whole number: a sum may exceed 2^53. */
  readonly bytes: string;
  /** The position of the last event in the total; null before the first. */
  readonly position: Position | null;
  readonly pending: readonly PendingEntry[];
};

/**
 * A change that a command has announced, and whose event the follower has not counted yet. The follower removes the entry
 * in the write that counts the event, so the change is in the total at every moment, and only once.
 */
export type PendingEntry = {
  /** Of the event. Several attempts may announce it, and it counts once. */
  readonly id: string;
  /** The attempt that announced the entry, and that alone changes it. */
  readonly by: string;
  readonly bytes: number;
  /** Whether the change is part of the total. A removal counts only when its event is in the log. */
  readonly counts: boolean;
  /** RFC 3339: the command has ended by then, so an event that is missing in the log never comes. */
  readonly until: string;
};

/** A change and the place of its event. */
export interface PlacedChange extends TotalChange {
  readonly position: Position;
  readonly recordedAt: Date;
}

export const emptyTotal: Total = { bytes: '0', position: null, pending: [] };

/** Returns the total of a stored document. The cast is safe: only `pending-totals.ts` and `totals.ts` write bodies. */
export function totalOf(stored: Pick<StoredDocument, 'body'> | null): Total {
  return (stored?.body ?? emptyTotal) as Total;
}

export function placedAt({ position, recordedAt }: LogEvent, change: TotalChange): PlacedChange {
  return { ...change, position, recordedAt };
}

/** Adds the changes that the total lacks. Returns null when it has them all. The order of the changes is free. */
export function totalWith(total: Total, changes: readonly PlacedChange[]): Total | null {
  const missing = changes.filter(({ position }) => total.position === null || position > total.position);
  if (missing.length === 0) return null;
  let [bytes, position, passed] = [BigInt(total.bytes), total.position, 0];
  const counted = new Set<string>();
  for (const change of missing) {
    bytes += BigInt(change.bytes);
    counted.add(change.entry);
    if (position === null || change.position > position) position = change.position;
    passed = Math.max(passed, change.recordedAt.getTime());
  }
  // The total holds the log up to the last event. So an entry that ended before it has no event.
  const pending = total.pending.filter(({ id, until }) => !counted.has(id) && Date.parse(until) > passed);
  return { bytes: String(bytes), position, pending };
}

/**
 * Returns the bytes in the log and those announced, in whole bytes.
 * @param isAlive returns whether an entry may still get its event; an entry without one counts no more
 */
export function bytesOf(total: Total, isAlive: (entry: PendingEntry) => boolean): bigint {
  const counting = new Map(
    total.pending.filter((entry) => entry.counts && isAlive(entry)).map(({ id, bytes }) => [id, bytes]),
  );
  return [...counting.values()].reduce((sum, bytes) => sum + BigInt(bytes), BigInt(total.bytes));
}
