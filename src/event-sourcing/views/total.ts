import type { EventMetadata, LogEvent, Position } from '../ports/domain-event.js';
import type { StoredDocument } from '../ports/read-model-store.js';
import type { TotalChange } from './projection.js';

/** The document of a tally. */
export type Total = {
  /** A whole number: a sum may exceed 2^53. */
  readonly bytes: string;
  /** The position of the last event in the total; null before the first. */
  readonly position: Position | null;
  /** The `changeName` of that event; null before the first. */
  readonly last: string | null;
};

/** A change and the place of its event. */
export interface PlacedChange extends TotalChange {
  readonly name: string;
  readonly position: Position;
}

const emptyTotal: Total = { bytes: '0', position: null, last: null };

/** Returns the total of a stored document. The cast is safe: only `pending-totals.ts` writes bodies. */
export function totalOf(stored: Pick<StoredDocument, 'body'> | null): Total {
  return (stored?.body ?? emptyTotal) as Total;
}

/** Names the change of a command in a stream. A command makes at most one. */
export function changeName(stream: string, { command_id }: Pick<EventMetadata, 'command_id'>): string {
  return `${stream}/${command_id}`;
}

export function placedAt({ position, stream, metadata }: LogEvent, change: TotalChange): PlacedChange {
  return { ...change, position, name: changeName(stream, metadata) };
}

/** Adds the changes that the total lacks. Returns null when it has them all. The order of the changes is free. */
export function totalWith(total: Total, changes: readonly PlacedChange[]): Total | null {
  const missing = changes.filter(({ position }) => total.position === null || position > total.position);
  const [first] = missing;
  if (first === undefined) return null;
  const bytes = missing.reduce((sum, change) => sum + BigInt(change.bytes), BigInt(total.bytes));
  const { position, name } = missing.reduce(
    (one, other) => (other.position > one.position ? other : one),
    first,
  );
  return { bytes: String(bytes), position, last: name };
}
