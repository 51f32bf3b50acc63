import { makeSizedLru } from '../../../kit/lru.js';
import { StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import {
  consistencyParts,
  foldNodes,
  type Hash,
  inclusionParts,
  rootNodes,
  type TreeNode,
} from './merkle.js';
import { type TileName, hashInTile, tileOfNode, tileWidth } from './tiles.js';
import { type StoredTile, tileId, type TileStore } from './tile-store.js';

/** Reads the tree from its stored tiles. A size must not exceed that of the stored tree. */
export type TreeReader = ReturnType<typeof makeTreeReader>;

/** Full tiles never change. Each takes about 40 KiB: 8 KiB of hashes, and a buffer object for each of 256. */
const kept = { entriesMax: 400, bytesMax: 16 * 1024 * 1024, bytesOf: () => 40 * 1024 };

/** @param onMissing runs when a tile of the tree is missing: the sequencer then writes all tiles again */
export function makeTreeReader(store: Pick<TileStore, 'readTiles'>, onMissing: () => void) {
  const cached = makeSizedLru<StoredTile>(kept);
  return {
    rootAt: async (size: number) => foldNodes(await hashesOf(rootNodes(size))),
    /** Returns the hashes of an inclusion proof: RFC 9162, section 2.1.3. */
    inclusion: (index: number, size: number) => proof(inclusionParts(index, size)),
    /** Returns the hashes of a consistency proof: RFC 9162, section 2.1.4. */
    consistency: (from: number, to: number) => proof(consistencyParts(from, to)),
    tiles,
  };

  async function proof(parts: readonly (readonly TreeNode[])[]): Promise<readonly Hash[]> {
    const hashes = await hashesOf(parts.flat());
    let start = 0;
    return parts.map(({ length }) => foldNodes(hashes.slice(start, (start += length))));
  }

  async function hashesOf(nodes: readonly TreeNode[]): Promise<readonly Hash[]> {
    const found = await tiles(nodes.map(tileOfNode));
    return nodes.map((node, offset) => {
      const hash = hashInTile(found[offset]?.hashes ?? [], node);
      if (hash === null) throw missingTile(onMissing);
      return hash;
    });
  }

  /** Returns the tiles in the order of the names. @throws StoreUnavailable when a tile is missing: it is rebuilt soon */
  async function tiles(names: readonly TileName[]): Promise<readonly StoredTile[]> {
    const wanted = new Map(names.map((name) => [tileId(name), name]));
    const found = new Map<string, StoredTile>();
    for (const id of wanted.keys()) {
      const tile = cached.get(id);
      if (tile !== undefined) found.set(id, tile);
    }
    const others = [...wanted].filter(([id]) => !found.has(id)).map(([, name]) => name);
    for (const tile of await store.readTiles(others)) {
      found.set(tileId(tile), tile);
      if (tile.hashes.length === tileWidth) cached.set(tileId(tile), tile);
    }
    return names.map((name) => found.get(tileId(name)) ?? fail());
  }

  function fail(): never {
    throw missingTile(onMissing);
  }
}

/** Returns the error of a read that misses a tile. @throws those of `onMissing` */
export function missingTile(onMissing: () => void): StoreUnavailable {
  onMissing();
  return new StoreUnavailable('a tile of the audit log is missing and is written again from the log');
}
