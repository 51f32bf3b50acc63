import { z } from 'zod';
import type { Position } from '../../../event-sourcing/ports/domain-event.js';
import { StoreDamaged } from '../../../event-sourcing/ports/errors.js';
import type {
  DocumentWrite,
  ReadModelStore,
  StoredDocument,
} from '../../../event-sourcing/ports/read-model-store.js';
import { ownBytes } from '../../../kit/lru.js';
import { filterBytes } from '../history/filter.js';
import type { Hash } from './merkle.js';
import { type Tile, type TileName, tileWidth } from './tiles.js';

/** No view version names the collection, so a prune of views leaves it. */
export const auditCollection = 'audit_log';

const hashBytes = 32;

/** The range of a level-0 tile in the log. */
export interface TileRange {
  /** The position after which the tile's events follow; null at the start of the log. */
  readonly after: Position | null;
  /** The position of its last event. */
  readonly until: Position;
  /** The highest `recorded_at` of the events up to the tile's last one. */
  readonly time: Date;
}

/** A tile as the store holds it. `range` is null above level 0. */
export interface StoredTile extends Tile {
  readonly range: TileRange | null;
}

/** The end of the sequenced log. The store writes it after the tiles that it covers. */
export interface LogHead {
  readonly logId: string;
  /** The number of leaves. */
  readonly size: number;
  /** The position of the last leaf's event. */
  readonly position: Position;
  /** The last leaf's event: see `fingerprintOf`. */
  readonly fingerprint: string;
  /** The highest `recorded_at` of all events. */
  readonly time: Date;
  /** The id of the last restart of the audit log; null before the first. */
  readonly restart: string | null;
}

/** A document of the audit log has another form, so that neither its content nor its absence can be believed. */
export class TilesDamaged extends StoreDamaged {
  override readonly name = 'TilesDamaged';
}

/** A stored tile holds other hashes than the log leads to. */
export class TileDiffers extends Error {
  override readonly name = 'TileDiffers';
  readonly tile: TileName;
  constructor(tile: TileName) {
    super(`the stored tile ${tile.level}/${tile.index} holds other hashes than the log`);
    this.tile = tile;
  }
}

const time = z.iso.datetime().transform((text) => new Date(text));
const bytesSchema = z.base64().transform((text) => ownBytes(Buffer.from(text, 'base64')));
const tileSchema = z.strictObject({
  hashes: bytesSchema,
  after: z.string().nullable().optional(),
  until: z.string().optional(),
  time: time.optional(),
});
const filterSchema = z.strictObject({ bits: bytesSchema });
const headSchema = z.strictObject({
  log_id: z.string(),
  size: z.int().positive(),
  position: z.string(),
  fingerprint: z.string(),
  time,
  restart: z.string().nullable(),
});

/** A level-0 tile with its range and, when full, the filter of its events; or a tile above. */
export type TileToStore = StoredTile & { readonly filter?: Buffer };

/**
 * The documents of the audit log: `tile/<level>/<index>`, `filter/<index>` and `head`. Any process writes them. A wider
 * tile and a larger head replace narrower ones, so all processes end in the same documents.
 */
export type TileStore = ReturnType<typeof makeTileStore>;

export function makeTileStore(readModelStore: ReadModelStore) {
  return {
    ensure: () => readModelStore.ensureCollection(auditCollection, []),
    readHead: async () => {
      const document = await readModelStore.get(auditCollection, 'head');
      if (document === null) return null;
      const { log_id: logId, ...head } = parse(headSchema, document);
      return { logId, ...head };
    },
    readTiles,
    /** Returns the filters of full level-0 tiles that exist, by the tile's index. */
    readFilters: async (indexes: readonly number[]) => {
      const documents = await readModelStore.getMany(auditCollection, indexes.map(filterId));
      return new Map(
        documents.map((document) => {
          const { bits } = parse(filterSchema, document);
          if (bits.length !== filterBytes) throw damaged(document.id);
          return [Number(document.id.split('/')[1]), bits];
        }),
      );
    },
    /**
     * Writes tiles and their filters.
     * @throws TileDiffers when a stored tile has another hash at an offset that both hold; StoreUnavailable
     */
    writeTiles: async (tiles: readonly TileToStore[]) => {
      const writes = tiles.flatMap(tileWrites);
      const outcomes = await readModelStore.write(auditCollection, writes);
      const refused = new Set(
        writes.filter((_, at) => outcomes[at] === 'refused').map(({ document }) => document.id),
      );
      await compare(tiles.filter((tile) => refused.has(tileId(tile))));
    },
    writeHead: async (head: LogHead) => {
      await readModelStore.write(auditCollection, [headWrite(head)]);
    },
  };

  /** Returns the tiles that exist, in any order. @throws TilesDamaged */
  async function readTiles(names: readonly TileName[]): Promise<readonly StoredTile[]> {
    if (names.length === 0) return [];
    return (await readModelStore.getMany(auditCollection, names.map(tileId))).map(storedTile);
  }

  /** A refused write met a tile that is as wide or wider: its hashes must begin with these. */
  async function compare(tiles: readonly Tile[]): Promise<void> {
    const stored = new Map((await readTiles(tiles)).map((tile) => [tileId(tile), tile.hashes]));
    for (const tile of tiles) {
      const hashes = stored.get(tileId(tile)) ?? [];
      const isHeld = tile.hashes.every((hash, at) => hashes[at]?.equals(hash) === true);
      if (!isHeld) throw new TileDiffers(tile);
    }
  }
}

/** Returns the document's id of a tile; the key of caches of tiles. */
export function tileId({ level, index }: TileName): string {
  return `tile/${level}/${index}`;
}

function filterId(index: number): string {
  return `filter/${index}`;
}

function tileWrites({ level, index, hashes, range, filter }: TileToStore): readonly DocumentWrite[] {
  const placed =
    range === null ? {} : { after: range.after, until: range.until, time: range.time.toISOString() };
  const revision = BigInt(hashes.length - 1);
  const body = { hashes: Buffer.concat(hashes).toString('base64'), ...placed };
  const tile = { id: tileId({ level, index }), revision, body };
  if (filter === undefined) return [whole(tile)];
  return [whole(tile), whole({ id: filterId(index), revision, body: { bits: filter.toString('base64') } })];
}

function headWrite({ logId, time: highest, size, ...head }: LogHead): DocumentWrite {
  const body = { log_id: logId, size, time: highest.toISOString(), ...head };
  return whole({ id: 'head', revision: BigInt(size - 1), body });
}

/** Applies where nothing or a narrower document is stored. */
function whole(document: StoredDocument): DocumentWrite {
  return { document, foldedFrom: 'whole-stream' };
}

function storedTile(document: StoredDocument): StoredTile {
  const { hashes: bytes, after = null, until, time: highest } = parse(tileSchema, document);
  const [, level, index] = document.id.split('/').map(Number);
  if (bytes.length === 0 || bytes.length % hashBytes !== 0 || bytes.length > tileWidth * hashBytes)
    throw damaged(document.id);
  const hashes: Hash[] = [];
  for (let at = 0; at < bytes.length; at += hashBytes) hashes.push(bytes.subarray(at, at + hashBytes));
  const range = until === undefined || highest === undefined ? null : { after, until, time: highest };
  return { level: level ?? 0, index: index ?? 0, hashes, range };
}

function parse<Schema extends z.ZodType>(schema: Schema, { id, body }: StoredDocument): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw damaged(id);
  return parsed.data;
}

function damaged(id: string): TilesDamaged {
  return new TilesDamaged(
    `the document ${id} of ${auditCollection} has another form; stop the service, delete the read models and start again`,
  );
}
