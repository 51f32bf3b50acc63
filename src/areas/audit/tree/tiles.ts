import { foldNodes, type Hash, rootNodes, rootOf, type TreeNode } from './merkle.js';
import { tileLevels, tileWidth } from './tile-paths.js';

/** A tile by its place in the tree. Its hashes are the nodes of the tree's level `8 * level`. */
export interface TileName {
  readonly level: number;
  readonly index: number;
}

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

/** A tree that grows by leaves. It keeps the right edge only, at most 255 hashes a level. */
interface GrowingTree {
  readonly size: () => number;
  readonly root: () => Hash;
  /** Adds a leaf. Returns the tiles that it filled, the lowest first. */
  readonly add: (leaf: Hash) => readonly Tile[];
  /** Returns the partial tiles at the right edge, the lowest first. */
  readonly edge: () => readonly Tile[];
}

/** @param from the size and the right edge of a tree, as `edgeOf` names it */
export function makeGrowingTree(from: {
  readonly size: number;
  readonly edge: readonly Tile[];
}): GrowingTree {
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
    add: (leaf) => {
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
    edge: () => edgeOf(size).map(({ level, index }) => ({ level, index, hashes: [...hashesAt(level)] })),
  };

  function hashesAt(level: number): Hash[] {
    return (levels[level] ??= []);
  }
}
