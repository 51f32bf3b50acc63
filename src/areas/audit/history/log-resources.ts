import type { LogEvent, StoredEvent } from '../../../event-sourcing/ports/domain-event.js';
import { StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import type { EventStore } from '../../../event-sourcing/ports/event-store.js';
import { entryOf } from '../tree/canonical-json.js';
import { type TilePath, tileWidth } from '../tree/tiles.js';
import { elementsOfRecord, type Pace, processPace } from '../../../kit/read-in-turns.js';
import type { TreeReader } from '../tree/tree-reader.js';

/** Serves the files of C2SP tlog-tiles, and our lines of events, from the tiles and the log. */
export type LogResources = ReturnType<typeof makeLogResources>;

/** The log ends before the events of a tile. A deposed leader of the log may answer so for a moment. */
export class LogEndsEarly extends StoreUnavailable {
  override readonly name = 'LogEndsEarly';
}

/** Events that one read of the log asks for. */
const pageSize = 500;

export function makeLogResources(deps: {
  readonly eventStore: Pick<EventStore, 'readAll'>;
  readonly tree: Pick<TreeReader, 'tiles'>;
  readonly pace?: Pace;
}) {
  const { eventStore, tree, pace = processPace } = deps;
  /** The events of the tile that was read last: its lines and its entries are mostly asked for together. */
  let last: { readonly index: number; readonly events: readonly LogEvent[] } | null = null;
  return {
    /**
     * Returns the bytes of a resource; null when it is not within the signed size. The bytes of a path never change.
     * @throws StoreUnavailable
     */
    read: async ({ kind, level, index, width }: TilePath, signedSize: number) => {
      const nodes = Math.floor(signedSize / tileWidth ** level);
      if (index * tileWidth + width > nodes) return null;
      if (kind === 'tile') {
        const [tile] = await tree.tiles([{ level, index }]);
        return Buffer.concat((tile?.hashes ?? []).slice(0, width));
      }
      const found = await eventsOnce(index, width);
      return kind === 'entries'
        ? Buffer.concat(found.map((event) => bundled(entryOf(event))))
        : Buffer.from(found.map((event, offset) => lineOf(index * tileWidth + offset, event)).join(''));
    },
    events,
  };

  async function eventsOnce(index: number, width: number): Promise<readonly LogEvent[]> {
    if (last?.index !== index || last.events.length < width)
      last = { index, events: await events(index, width) };
    return last.events.slice(0, width);
  }

  /**
   * Returns events by their index: at most 256 of one tile. The range must be within the stored size.
   * @throws LogEndsEarly, StoreUnavailable
   */
  async function events(index: number, width: number): Promise<readonly LogEvent[]> {
    const [tile] = await tree.tiles([{ level: 0, index }]);
    const found: LogEvent[] = [];
    let cursor = tile?.range?.after ?? null;
    while (found.length < width) {
      // Many searches at once read one page of the log in a turn of the process.
      await pace.spend({ bytes: 0, elements: (width - found.length) * elementsOfRecord });
      const page = await eventStore.readAll({
        after: cursor,
        limit: Math.min(pageSize, width - found.length),
      });
      found.push(...page.events);
      if (page.cursor === cursor || page.atHead) break;
      cursor = page.cursor;
    }
    if (found.length < width) throw new LogEndsEarly('the log ends before the events of a tile');
    return found.slice(0, width);
  }
}

/** Returns the line of an event in `events/<N>`, with its line end. */
export function lineOf(
  index: number,
  { id, stream, revision, type, recordedAt, data, metadata }: StoredEvent,
): string {
  const event = { index, id, stream, revision: Number(revision), type, recorded_at: recordedAt };
  return `${JSON.stringify({ ...event, data, metadata })}\n`;
}

/** An entry of a bundle: its length in two bytes, then its bytes (C2SP tlog-tiles, "Log entries"). */
function bundled(entry: string): Buffer {
  const bytes = Buffer.from(entry);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
