import { areSameBytes, type Bytes } from './bytes.js';
import { combineSubtrees, completeSubtrees, type TreeHead } from './tree.js';

/** The hashes of a tile contradict the signed root. */
export class ContradictingTile extends Error {
  override readonly name = 'ContradictingTile';
}

/** A tile of hashes: C2SP tlog-tiles. */
type TileAddress = { readonly level: number; readonly number: number };

/** Reads leaf hashes that are proved to be under a root. Tiles that cannot be fetched are fetched again the next time. */
export type ProvenLeaves = ReturnType<typeof makeProvenLeaves>;

const hashesOfTile = 256;
const hashBytes = 32;
/** 8 KiB each. Beyond this number the reader forgets the tiles and reads them again. */
const tilesMax = 512;

/**
 * Reads the tiles of a signed tree and proves each of them: the last tiles of all levels combine to the signed root, and
 * the root of any other tile is a hash of the tile above it. An event needs one tile for each 256-fold of the log, and its
 * neighbours need no further one.
 * @param fetchTile returns the bytes of a path below the log, for example `tile/0/x001/067.p/17`
 */
export function makeProvenLeaves({ size, root }: TreeHead, fetchTile: (path: string) => Promise<Bytes>) {
  const proven = new Map<string, Promise<readonly Bytes[]>>();
  let edge: Promise<ReadonlyMap<number, readonly Bytes[]>> | null = null;
  return {
    /**
     * Returns the hash of a leaf.
     * @param index below the size of the tree
     * @throws ContradictingTile
     */
    leaf: async (index: number) => {
      if (index < 0 || index >= size) throw new RangeError('the index is not below the size of the tree');
      const tile = { level: 0, number: Math.floor(index / hashesOfTile) };
      return hashIn(await provenTile(tile), index % hashesOfTile);
    },
  };

  async function provenTile(tile: TileAddress): Promise<readonly Bytes[]> {
    if (widthAt(tile) < hashesOfTile) return edgeTile(tile.level);
    const key = pathOfTile(tile, hashesOfTile);
    const known = proven.get(key);
    if (known !== undefined) return known;
    if (proven.size >= tilesMax) proven.clear();
    const reading = fullTile(tile, key);
    proven.set(key, reading);
    reading.catch((error: unknown) => {
      if (!(error instanceof ContradictingTile)) proven.delete(key);
    });
    return reading;
  }

  async function fullTile({ level, number }: TileAddress, path: string): Promise<readonly Bytes[]> {
    const above = await provenTile({ level: level + 1, number: Math.floor(number / hashesOfTile) });
    const hashes = hashesOf(await fetchTile(path), hashesOfTile, path);
    const [top] = await completeSubtrees(hashes);
    if (top === undefined || !areSameBytes(top, hashIn(above, number % hashesOfTile)))
      throw new ContradictingTile(`the hashes of ${path} are not those under the signed root`);
    return hashes;
  }

  async function edgeTile(level: number): Promise<readonly Bytes[]> {
    edge ??= readEdge();
    edge.catch((error: unknown) => {
      if (!(error instanceof ContradictingTile)) edge = null;
    });
    return (await edge).get(level) ?? [];
  }

  /** Reads the partial tiles, one a level at most. @throws ContradictingTile when they do not combine to the root */
  async function readEdge(): Promise<ReadonlyMap<number, readonly Bytes[]>> {
    const tiles = new Map<number, readonly Bytes[]>();
    const subtrees: Bytes[] = [];
    for (let level = 0; nodesAt(level) > 0; level += 1) {
      const width = nodesAt(level) % hashesOfTile;
      if (width === 0) continue;
      const path = pathOfTile({ level, number: Math.floor(nodesAt(level) / hashesOfTile) }, width);
      const hashes = hashesOf(await fetchTile(path), width, path);
      tiles.set(level, hashes);
      // The subtrees of a higher level are larger and stand to the left.
      subtrees.unshift(...(await completeSubtrees(hashes)));
    }
    if (areSameBytes(await combineSubtrees(subtrees), root)) return tiles;
    throw new ContradictingTile('the last tiles of the log do not combine to the signed root');
  }

  /** Returns how many hashes the level has. Each is the root of 256 hashes of the level below. */
  function nodesAt(level: number): number {
    return Math.floor(size / hashesOfTile ** level);
  }

  function widthAt({ level, number }: TileAddress): number {
    return Math.min(hashesOfTile, nodesAt(level) - number * hashesOfTile);
  }
}

/** Returns the path of a tile below the log: C2SP tlog-tiles. */
export function pathOfTile({ level, number }: TileAddress, width: number): string {
  const digits = String(number);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? [];
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
  return `tile/${level}/${path}${width === hashesOfTile ? '' : `.p/${width}`}`;
}

function hashesOf(tile: Bytes, width: number, path: string): readonly Bytes[] {
  if (tile.length !== width * hashBytes)
    throw new ContradictingTile(`${path} has other than ${width} hashes`);
  return Array.from({ length: width }, (_, at) => tile.slice(at * hashBytes, (at + 1) * hashBytes));
}

function hashIn(hashes: readonly Bytes[], at: number): Bytes {
  const hash = hashes[at];
  if (hash === undefined) throw new ContradictingTile('a tile ends before the hash');
  return hash;
}
