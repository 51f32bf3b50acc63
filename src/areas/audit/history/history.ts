import type { LogEvent, StoredEvent } from '../../../event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../event-sourcing/ports/event-store.js';
import { filterTerm, makeMayContain, type TermKind } from './filter.js';
import type { LogResources } from './log-resources.js';
import type { ProjectOf } from './project-of.js';
import { tileWidth } from '../tree/tiles.js';
import type { TileRange, TileStore } from '../tree/tile-store.js';
import type { TreeReader } from '../tree/tree-reader.js';

/** An event and the index of its leaf. */
export interface IndexedEvent<Event extends StoredEvent = LogEvent> {
  readonly index: number;
  readonly event: Event;
}

/** A position in the log: the index of an event, or a time, which stands for the last event recorded until then. */
export type Moment = { readonly index: number } | { readonly time: Date };

/** What all found events have in common; an absent kind is not asked for. */
export type EventTerms = { readonly [Kind in TermKind]?: string };

/** A search, newest event first. */
export interface EventSearch {
  readonly terms: EventTerms;
  /** The lowest index. */
  readonly from: number;
  /** One more than the highest index. */
  readonly before: number;
  /** The largest number of events to return. */
  readonly limit: number;
}

/** The found events, newest first. */
interface FoundEvents {
  readonly events: readonly IndexedEvent[];
  /** `before` of the search that goes on; null when all events of the range were considered. */
  readonly next: number | null;
}

/**
 * Reads the events behind the leaves: src/areas/audit/README.md#events-behind-the-leaves. `size` is that of a tree whose tiles are
 * stored; no later event is returned. Every function throws StoreUnavailable while a tile is missing.
 */
export type AuditHistory = ReturnType<typeof makeAuditHistory>;

/** The most filters that a page examines, and events after which it reads no further tile. */
const filtersMax = 200;
const eventsMax = 200;
/** Filters in one call to the store, 2 KiB each. */
const filtersPerRead = 100;
/** A page of found events ends beyond this size, because one event may have 256 KiB. In characters of JSON. */
const foundMax = 4 * 1024 * 1024;

export function makeAuditHistory(deps: {
  readonly eventStore: Pick<EventStore, 'read'>;
  readonly resources: Pick<LogResources, 'events'>;
  readonly tree: Pick<TreeReader, 'tiles'>;
  readonly tiles: Pick<TileStore, 'readFilters'>;
  readonly projectOf: ProjectOf;
}) {
  const { eventStore, resources, tree, tiles, projectOf } = deps;
  return { eventsOfTile, locate, countUntil, indexAt, revisionAt, search };

  /** Returns the events of a level-0 tile, in log order. @param tile the index of the tile */
  async function eventsOfTile(tile: number, size: number): Promise<readonly LogEvent[]> {
    const width = Math.min(tileWidth, size - tile * tileWidth);
    if (width <= 0) return [];
    return resources.events(tile, width);
  }

  /** Returns the event of a leaf. @param index below `size` */
  async function locate(index: number, size: number): Promise<LogEvent> {
    const events = await eventsOfTile(tileAt(index), size);
    const event = events[index % tileWidth];
    if (event === undefined) throw new RangeError('the index is beyond the tree');
    return event;
  }

  /**
   * Returns the number of events up to a time: the first event with a later `recorded_at` and all events after it do not
   * count, also where a clock was set back.
   */
  async function countUntil(time: Date, size: number): Promise<number> {
    const tile = await firstTileBeyond(time, size);
    const events = await eventsOfTile(tile, size);
    // The running maximum before the tile is not later than the time, so each event decides by its own time.
    const offset = events.findIndex(({ recordedAt }) => recordedAt > time);
    return tile * tileWidth + (offset < 0 ? events.length : offset);
  }

  /** Returns the index of the last event that `countUntil` counts; null when there is none. */
  async function indexAt(time: Date, size: number): Promise<number | null> {
    const count = await countUntil(time, size);
    return count === 0 ? null : count - 1;
  }

  /** Returns the revision that a stream had when the log ended with the event at the index; null: it did not exist. */
  async function revisionAt(stream: string, index: number, size: number): Promise<bigint | null> {
    const [first] = await eventStore.read(stream, { limit: 1 });
    if (first === undefined) return null;
    // The tile of the first event has a running maximum that is not below the event's time. Earlier tiles lack the stream.
    const lowest = await firstTileBeyond(new Date(first.recordedAt.getTime() - 1), size);
    for await (const { tile, isCandidate } of tilesDown({ stream }, tileAt(index), lowest)) {
      if (!isCandidate) continue;
      const events = await eventsOfTile(tile, Math.min(size, index + 1));
      const last = events.findLast((event) => event.stream === stream);
      if (last !== undefined) return last.revision;
    }
    return null;
  }

  /**
   * Finds events. A page examines at most 200 filters (51,200 events). It reads no further tile after 200 events, and about 4 MiB
   * of found events.
   */
  async function search({ terms, from, before, limit }: EventSearch, size: number): Promise<FoundEvents> {
    const highest = Math.min(before, size) - 1;
    const events: IndexedEvent[] = [];
    let [filters, read, characters] = [0, 0, 0];
    if (highest < from) return { events, next: null };
    for await (const { tile, isCandidate } of tilesDown(terms, tileAt(highest), tileAt(from))) {
      if (filters === filtersMax || (isCandidate && read >= eventsMax))
        return { events, next: Math.min(highest + 1, (tile + 1) * tileWidth) };
      filters += 1;
      if (!isCandidate) continue;
      const inTile = await eventsOfTile(tile, highest + 1);
      read += inTile.length;
      for (const [offset, event] of [...inTile.entries()].reverse()) {
        const index = tile * tileWidth + offset;
        if (index < from) break;
        if (!(await matches(terms, event))) continue;
        if (events.length === limit || characters > foundMax) return { events, next: index + 1 };
        events.push({ index, event });
        characters += JSON.stringify([event.data, event.metadata]).length;
      }
    }
    return { events, next: null };
  }

  /** Yields the tiles from the highest to the lowest, and whether their events may have the terms. */
  async function* tilesDown(terms: EventTerms, highest: number, lowest: number) {
    const inFilter = termsOf(terms);
    const mayContainAll = makeMayContain(inFilter);
    for (let top = highest; top >= lowest; top -= filtersPerRead) {
      const length = Math.min(filtersPerRead, top - lowest + 1);
      const range = Array.from({ length }, (_, offset) => top - offset);
      const filters = inFilter.length === 0 ? new Map<number, Buffer>() : await tiles.readFilters(range);
      for (const tile of range) {
        const filter = filters.get(tile);
        // The partial tile at the end has no filter.
        yield { tile, isCandidate: filter === undefined || mayContainAll(filter) };
      }
    }
  }

  /**
   * Returns the first tile whose running maximum is later than the time. The tile may be the partial one, whose range
   * covers events beyond the size and so decides nothing.
   */
  async function firstTileBeyond(time: Date, size: number): Promise<number> {
    let [low, high] = [0, Math.floor(size / tileWidth)];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((await rangeOf(middle)).time > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  async function rangeOf(tile: number): Promise<TileRange> {
    const [stored] = await tree.tiles([{ level: 0, index: tile }]);
    if (stored?.range == null) throw new Error('a tile of level 0 has no range');
    return stored.range;
  }

  async function matches({ stream, type, actor, project }: EventTerms, event: StoredEvent): Promise<boolean> {
    return (
      (stream === undefined || event.stream === stream) &&
      (type === undefined || event.type === type) &&
      (actor === undefined || event.metadata.actor === actor) &&
      (project === undefined || (await projectOf(event)) === project)
    );
  }
}

function tileAt(index: number): number {
  return Math.floor(index / tileWidth);
}

function termsOf({ stream, type, actor, project }: EventTerms): readonly string[] {
  const terms: readonly (readonly [TermKind, string | undefined])[] = [
    ['stream', stream],
    ['type', type],
    ['actor', actor],
    ['project', project],
  ];
  return terms.flatMap(([kind, value]) => (value === undefined ? [] : [filterTerm(kind, value)]));
}
