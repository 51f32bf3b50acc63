import { StoreDamaged } from '../../../event-sourcing/ports/errors.js';
import type { LogResources } from '../history/log-resources.js';
import { NotCanonical, entryOf } from '../tree/canonical-json.js';
import { type Hash, leafHash } from '../tree/merkle.js';
import { type TileName, tileWidth } from '../tree/tiles.js';
import type { TileStore } from '../tree/tile-store.js';
import { missingTile } from '../tree/tree-reader.js';

/** Compares events of the log with the stored tiles. A page is the events of a tile of level 0. */
export type Pages = ReturnType<typeof makePages>;

type CheckedPage = { readonly hashes: readonly Hash[]; readonly problem: string | null };

/** After so many leaves, other work of the process gets its turn. */
const leavesPerTurn = 64;

/** @param deps.onMissing runs when a tile is missing: the sequencer then writes all tiles again */
export function makePages(deps: {
  readonly tiles: Pick<TileStore, 'readTiles'>;
  readonly resources: Pick<LogResources, 'events'>;
  readonly onMissing: () => void;
}) {
  return {
    /**
     * Reads a page again from the log and compares it with its tile.
     * @returns the hashes of its events, and what differs as a sentence; null for nothing
     * @throws StoreUnavailable; LogEndsEarly, which is one too
     */
    check: async (index: number, width: number): Promise<CheckedPage> => {
      try {
        const hashes = await hashesOf(index, width);
        return { hashes, problem: await compareTile(hashes, { level: 0, index }) };
      } catch (error) {
        return { hashes: [], problem: `the tile 0/${index} cannot be compared: ${sentenceOfDamage(error)}` };
      }
    },
    /** Compares hashes with the first ones of a stored tile. @throws StoreUnavailable when the tile lacks some */
    compareTile: (hashes: readonly Hash[], name: TileName) =>
      compareTile(hashes, name).catch(sentenceOfDamage),
  };

  async function hashesOf(index: number, width: number): Promise<readonly Hash[]> {
    const hashes: Hash[] = [];
    for (const event of await deps.resources.events(index, width)) {
      hashes.push(leafHash(entryOf(event)));
      if (hashes.length % leavesPerTurn === 0) await new Promise(setImmediate);
    }
    return hashes;
  }

  async function compareTile(hashes: readonly Hash[], { level, index }: TileName): Promise<string | null> {
    if (hashes.length === 0) return null;
    // The cached tiles of a process prove nothing about the stored ones.
    const [tile] = await deps.tiles.readTiles([{ level, index }]);
    // A rebuild writes narrower tiles first.
    if (tile === undefined || tile.hashes.length < hashes.length) throw missingTile(deps.onMissing);
    const offset = hashes.findIndex((hash, at) => tile.hashes[at]?.equals(hash) !== true);
    if (offset < 0) return null;
    return level === 0
      ? `the event at index ${index * tileWidth + offset} is not the one in the tile 0/${index}`
      : `the tile ${level}/${index} holds another hash at ${offset} than the tiles below`;
  }
}

/** Returns a sentence for damage. @throws the error when it is no damage */
export function sentenceOfDamage(error: unknown): string {
  if (error instanceof StoreDamaged) return error.message;
  if (error instanceof NotCanonical) return `an event has no canonical form: ${error.message}`;
  throw error;
}
