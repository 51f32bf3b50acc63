import { hash } from 'node:crypto';

/** A SHA-256 hash, 32 bytes. */
export type Hash = Buffer;

/** A node whose subtree is complete: it covers the leaves from `index * 2 ** level`, `2 ** level` of them. */
export type TreeNode = { readonly level: number; readonly index: number };

/** The leaves from `from` (included) to `until` (excluded). `from` is a multiple of the next power of two of the width. */
type LeafRange = { readonly from: number; readonly until: number };

/** Returns the hash of a leaf: RFC 9162, section 2.1.1. */
export function leafHash(entry: string): Hash {
  return hash('sha256', `\0${entry}`, 'buffer');
}

/** The input of a node's hash. One buffer serves all, because the digest is computed at once. */
const pair = Buffer.alloc(65, 1);

/** Returns the hash of an inner node: RFC 9162, section 2.1.1. */
export function nodeHash(left: Hash, right: Hash): Hash {
  left.copy(pair, 1);
  right.copy(pair, 33);
  return hash('sha256', pair, 'buffer');
}

/** Returns the root of a list of hashes: RFC 9162, section 2.1.1. */
export function rootOf(hashes: readonly Hash[]): Hash {
  const [first] = hashes;
  if (first === undefined) return hash('sha256', '', 'buffer');
  if (hashes.length === 1) return first;
  const half = largestPowerBelow(hashes.length);
  return nodeHash(rootOf(hashes.slice(0, half)), rootOf(hashes.slice(half)));
}

/** Returns the complete subtrees that a root of this size combines, the leftmost first. */
export function rootNodes(size: number): readonly TreeNode[] {
  return nodesOf({ from: 0, until: size });
}

/** Combines the hashes of the nodes that `rootNodes` or a proof names into one hash. */
export function foldNodes(hashes: readonly Hash[]): Hash {
  const last = hashes.at(-1);
  if (last === undefined) return hash('sha256', '', 'buffer');
  return hashes.slice(0, -1).reduceRight((right, left) => nodeHash(left, right), last);
}

/**
 * Returns the parts of the inclusion proof of a leaf: each part is a list of nodes whose fold is one hash of the proof.
 * RFC 9162, section 2.1.3.1.
 * @param index 0-based, below `size`
 */
export function inclusionParts(index: number, size: number): readonly (readonly TreeNode[])[] {
  return inclusionRanges(index, { from: 0, until: size }).map(nodesOf);
}

/**
 * Returns the parts of the consistency proof between two sizes of a tree, as `inclusionParts` does. RFC 9162, section
 * 2.1.4.1. The proof is empty when `from` is 0 or equals `to`.
 * @param from the smaller size
 */
export function consistencyParts(from: number, to: number): readonly (readonly TreeNode[])[] {
  if (from === 0 || from === to) return [];
  return consistencyRanges(from, { from: 0, until: to }, true).map(nodesOf);
}

function inclusionRanges(index: number, range: LeafRange): readonly LeafRange[] {
  const width = range.until - range.from;
  if (width <= 1) return [];
  const middle = range.from + largestPowerBelow(width);
  const [left, right] = [
    { from: range.from, until: middle },
    { from: middle, until: range.until },
  ];
  return index < middle ? [...inclusionRanges(index, left), right] : [...inclusionRanges(index, right), left];
}

/** @param isWhole whether the smaller tree is the whole left part, whose root the verifier knows */
function consistencyRanges(size: number, range: LeafRange, isWhole: boolean): readonly LeafRange[] {
  if (size === range.until) return isWhole ? [] : [range];
  const middle = range.from + largestPowerBelow(range.until - range.from);
  const [left, right] = [
    { from: range.from, until: middle },
    { from: middle, until: range.until },
  ];
  return size <= middle
    ? [...consistencyRanges(size, left, isWhole), right]
    : [...consistencyRanges(size, right, false), left];
}

/** Returns the complete subtrees of a range, the leftmost first. */
function nodesOf({ from, until }: LeafRange): readonly TreeNode[] {
  const nodes: TreeNode[] = [];
  for (let start = from; start < until;) {
    let level = Math.floor(Math.log2(until - start));
    // Both are powers of two, so the division is exact.
    while (start % 2 ** level !== 0) level -= 1;
    nodes.push({ level, index: start / 2 ** level });
    start += 2 ** level;
  }
  return nodes;
}

function largestPowerBelow(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}
