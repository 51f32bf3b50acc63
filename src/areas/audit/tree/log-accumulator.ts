import { fingerprintOf } from '../../../event-sourcing/feeding/checkpoints.js';
import type { LogEvent, Position, StoredEvent } from '../../../event-sourcing/ports/domain-event.js';
import { filterTerm, makeFilter } from '../history/filter.js';
import { entryOf } from './canonical-json.js';
import { type Hash, leafHash } from './merkle.js';
import type { LogHead, StoredTile, TileRange, TileToStore } from './tile-store.js';
import { makeGrowingTree } from './tiles.js';

/** The stream category and the event type by which an operator begins another origin: src/areas/audit/signing/README.md#contradictions-of-the-audit-log. */
const restartStreamPrefix = 'audit-';
export const restartType = 'AuditRestarted';

/** The sequenced log up to an event. */
export interface SequencedLog {
  readonly size: number;
  readonly root: Hash;
  /** The id of the last restart; null before the first. */
  readonly restart: string | null;
  /** The highest `recorded_at`; null before the first event. */
  readonly time: Date | null;
}

/** Folds events into leaves, tiles and filters, in log order. It does no I/O. */
export type LogAccumulator = ReturnType<typeof makeLogAccumulator>;

/** The stored end of a log from which an accumulator goes on. */
export interface StoredEnd {
  readonly head: LogHead;
  /** The partial tiles at its right edge, cut to the head's size. */
  readonly edge: readonly StoredTile[];
  /** The events of the partial level-0 tile and their projects, for its filter. */
  readonly events: readonly { readonly event: StoredEvent; readonly project: string | null }[];
}

interface End {
  readonly position: Position | null;
  readonly time: Date | null;
  readonly restart: string | null;
}
const nothingYet: End = { position: null, time: null, restart: null };

/** @param stored null for the start of the log */
export function makeLogAccumulator(logId: string, stored: StoredEnd | null) {
  const tree = makeGrowingTree({ size: stored?.head.size ?? 0, edge: stored?.edge ?? [] });
  /** The last event; null while that of the stored head is the last. */
  let last: LogEvent | null = null;
  let { position, time, restart }: End = stored?.head ?? nothingYet;
  /** The terms of the partial level-0 tile. */
  let terms = new Set((stored?.events ?? []).flatMap(({ event, project }) => termsOf(event, project)));
  /** The position before the partial level-0 tile. */
  let after = afterOf(stored);
  let full: TileToStore[] = [];
  /** The widths of the partial tiles that were taken last, by level. */
  const taken = new Map<number, string>();
  return {
    /** @param project of the event's stream; null for none @throws NotCanonical: nothing was added */
    add: (event: LogEvent, project: string | null) => {
      const hash = leafHash(entryOf(event));
      const highest = time === null || event.recordedAt > time ? event.recordedAt : time;
      const filled = tree.add(hash);
      for (const term of termsOf(event, project)) terms.add(term);
      [last, position, time] = [event, event.position, highest];
      restart = restartOf(event) ?? restart;
      if (filled.length === 0) return;
      const range: TileRange = { after, until: event.position, time: highest };
      full.push(
        ...filled.map((tile) =>
          tile.level === 0 ? { ...tile, range, filter: makeFilter(terms) } : { ...tile, range: null },
        ),
      );
      terms = new Set();
      after = event.position;
    },
    log: () => ({ size: tree.size(), root: tree.root(), restart, time }),
    /** The position of the last event; null before the first. */
    position: () => position,
    /** Returns the number of full tiles that `takeTiles` returns. */
    waiting: () => full.length,
    /** Takes the tiles that changed since the last call: full ones, and the partial ones at the right edge. */
    takeTiles: () => {
      const tiles: TileToStore[] = full;
      full = [];
      for (const { level, index, hashes } of tree.edge()) {
        const width = `${index}/${hashes.length}`;
        if (taken.get(level) === width || position === null || time === null) continue;
        taken.set(level, width);
        const range = level === 0 ? { after, until: position, time } : null;
        tiles.push({ level, index, hashes, range });
      }
      return tiles;
    },
    /** Returns the head to store after these tiles; null before the first event. */
    head: () => {
      if (last === null || time === null) return stored?.head ?? null;
      const fingerprint = fingerprintOf(last);
      return { logId, size: tree.size(), position: last.position, fingerprint, time, restart };
    },
  };
}

function afterOf(stored: StoredEnd | null): Position | null {
  if (stored === null) return null;
  const range = stored.edge.find(({ level }) => level === 0)?.range;
  return range === undefined || range === null ? stored.head.position : range.after;
}

function termsOf(
  { stream, type, metadata }: Pick<StoredEvent, 'stream' | 'type' | 'metadata'>,
  project: string | null,
): readonly string[] {
  return [
    filterTerm('stream', stream),
    filterTerm('type', type),
    // Another program's event may have no actor. It is sequenced all the same.
    ...(typeof metadata.actor === 'string' ? [filterTerm('actor', metadata.actor)] : []),
    ...(project === null ? [] : [filterTerm('project', project)]),
  ];
}

function restartOf({ stream, type }: LogEvent): string | null {
  if (type !== restartType || !stream.startsWith(restartStreamPrefix)) return null;
  return stream.slice(restartStreamPrefix.length);
}
