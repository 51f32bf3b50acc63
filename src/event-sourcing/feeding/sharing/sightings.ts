import type { StateRecord } from '../../ports/state-store.js';

/** A process that has renewed its record counts as gone when the record was seen unchanged for this long. */
export const goneAfterMs = 6_000;
/** A record that never changed may be left over from a crash, so a process that starts does not wait long for it. */
export const unprovenGoneAfterMs = 2_500;
/** After a pause of this process, its first list shows records that the others had no time to renew. */
const unchangedListsMin = 3;

/** A record as this process has seen it in its lists. Times are those of this process alone. */
export interface Sighting {
  readonly record: StateRecord;
  /** The start of the first list with this version. */
  readonly sinceMs: number;
  /** The count of lists with this version. */
  readonly lists: number;
  /** Whether the record has changed since the first list, so a process has renewed it. */
  readonly proven: boolean;
}

export type Sightings = ReadonlyMap<string, Sighting>;

/**
 * Returns the sightings after a list of the records.
 * @param startedMs the start of the list: the records are at least as recent
 */
export function afterList(before: Sightings, records: readonly StateRecord[], startedMs: number): Sightings {
  return new Map(
    records.map((record) => {
      const seen = before.get(record.key);
      const unchanged = seen?.record.version === record.version;
      const sighting = unchanged
        ? { ...seen, lists: seen.lists + 1 }
        : { record, sinceMs: startedMs, lists: 1, proven: seen !== undefined };
      return [record.key, sighting];
    }),
  );
}

/** Returns whether the process of the record counts as live after a list that started at `startedMs`. */
export function isLive({ sinceMs, lists, proven }: Sighting, startedMs: number): boolean {
  const limitMs = proven ? goneAfterMs : unprovenGoneAfterMs;
  return lists < unchangedListsMin || startedMs - sinceMs < limitMs;
}
