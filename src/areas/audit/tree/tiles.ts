import { type Hash, type TreeNode, foldNodes, rootNodes, rootOf } from './merkle.js';

/** The hashes of a full tile: C2SP tlog-tiles, "Merkle Tree". A tile covers eight levels of the tree. */
export const tileWidth = 256;
const tileLevels = 8;

/** A resource of C2SP tlog-tiles, or our event lines of the same range. */
export interface TilePath {
  readonly kind: 'tile' | 'entries' | 'events';
  /** The level of the tile; 0 for entries and events. */
  readonly level: number;
  readonly index: number;
  /** The hashes, entries or lines, 1 to 256. */
  readonly width: number;
}

const pattern =
  /^(?:tile\/(?<level>\d|[1-5]\d|6[0-3])|(?<bundle>tile\/entries|events))\/(?<index>(?:x\d{3}\/)*\d{3})(?:\.p\/(?<width>[1-9]\d{0,2}))?$/;

/** Returns the path of a resource below the log's root, for example `tile/0/x001/x234/067.p/17`. */
export function tilePath({ kind, level, index, width }: TilePath): string {
  const folder = kind === 'tile' ? `tile/${level}` : kind === 'entries' ? 'tile/entries' : 'events';
  return `${folder}/${tileNumber(index)}${width === tileWidth ? '' : `.p/${width}`}`;
}

/** Parses a path. Returns null unless `tilePath` returns the same text, so that one resource has one address. */
export function parseTilePath(path: string): TilePath | null {
  const { level, bundle, index, width } = pattern.exec(path)?.groups ?? {};
  if (index === undefined) return null;
  const parsed: TilePath = {
    kind: bundle === undefined ? 'tile' : bundle === 'events' ? 'events' : 'entries',
    level: Number(level ?? 0),
    index: Number(index.replaceAll(/[x/]/g, '')),
    width: width === undefined ? tileWidth : Number(width),
  };
  if (!Number.isSafeInteger(parsed.index) || parsed.width > tileWidth) return null;
  return tilePath(parsed) === path ? parsed : null;
}

/** Writes a number in groups of three digits, all but the last with a prefix `x`: C2SP tlog-tiles, "Merkle Tree". */
function tileNumber(index: number): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? [];
  return groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
}

/** A tile by its coordinates in the tree. Its hashes are the nodes of the tree's level `8 * level`. */
export type TileName = { readonly level: number; readonly index: number };

/** A tile with its hashes, 1 to 256. */
export interface Tile extends TileName {
  readonly hashes: readonly Hash[];
}

/** Returns the tile whose hashes lead to a node of the tree. */
export function tileOfNode({ level, index }: TreeNode): TileName {
  const within = level % tileLevels;
  return { level: (level - within) / tileLevels, index: Math.floor((index * 2 ** within) / tileWidth) };
}

/** Returns the hash of a node from its tile; null when the tile is too narrow. */
export function hashInTile(hashes: readonly Hash[], { level, index }: TreeNode): Hash | null {
  const width = 2 ** (level % tileLevels);
  const start = (index * width) % tileWidth;
  return start + width > hashes.length ? null : rootOf(hashes.slice(start, start + width));
}

/** Returns the partial tiles at the right edge of a tree: names and widths. Full tiles are not at the edge. */
export function edgeOf(size: number): readonly (TileName & { readonly width: number })[] {
  const edge: (TileName & { readonly width: number })[] = [];
  for (let level = 0, nodes = size; nodes > 0; level += 1, nodes = Math.floor(nodes / tileWidth)) {
    const width = nodes % tileWidth;
    if (width > 0) edge.push({ level, index: Math.floor(nodes / tileWidth), width });
  }
  return edge;
}

/**
 * Makes a tree that grows by leaves. It keeps the right edge only, at most 255 hashes a level.
 * @param from the size and the right edge of a tree, as `edgeOf` names it
 */
export function makeGrowingTree(from: { readonly size: number; readonly edge: readonly Tile[] }) {
  let { size } = from;
  const levels: Hash[][] = [];
  for (const { level, hashes } of from.edge) levels[level] = [...hashes];
  return {
    size: () => size,
    root: () => {
      const nodes = rootNodes(size).map((node) => {
        const hash = hashInTile(hashesAt(tileOfNode(node).level), node);
        if (hash === null) throw new Error('the right edge of a tree lacks a node');
        return hash;
      });
      return foldNodes(nodes);
    },
    /** Adds a leaf. Returns the tiles that it filled, the lowest first. */
    add: (leaf: Hash) => {
      size += 1;
      const full: Tile[] = [];
      let hash: Hash = leaf;
      for (let level = 0; ; level += 1) {
        const hashes = hashesAt(level);
        hashes.push(hash);
        if (hashes.length < tileWidth) return full;
        full.push({ level, index: size / tileWidth ** (level + 1) - 1, hashes });
        levels[level] = [];
        hash = rootOf(hashes);
      }
    },
    /** Returns the partial tiles at the right edge, the lowest first. */
    edge: () => edgeOf(size).map(({ level, index }) => ({ level, index, hashes: [...hashesAt(level)] })),
  };

  function hashesAt(level: number): Hash[] {
    return (levels[level] ??= []);
  }
}
