import { areSameBytes, type Bytes, digestOfBytes, joinBytes, utf8Of } from './bytes.js';

/** A size and a root of the log. */
export type TreeHead = { readonly size: number; readonly root: Bytes };

/** Returns the hash of a leaf: RFC 9162, section 2.1.1. */
export function hashLeaf(entry: string): Promise<Bytes> {
  return digestOfBytes(joinBytes(Uint8Array.of(0), utf8Of(entry)));
}

/** Returns the hash of an inner node: RFC 9162, section 2.1.1. */
function hashPair(left: Bytes, right: Bytes): Promise<Bytes> {
  return digestOfBytes(joinBytes(Uint8Array.of(1), left, right));
}

/** Returns the hashes of the complete subtrees of a list of hashes, the largest first. */
export async function completeSubtrees(hashes: readonly Bytes[]): Promise<readonly Bytes[]> {
  const subtrees: Bytes[] = [];
  let at = 0;
  for (let width = 2 ** 30; width >= 1; width /= 2) {
    if (hashes.length - at < width) continue;
    subtrees.push(await rootOfComplete(hashes.slice(at, at + width)));
    at += width;
  }
  return subtrees;
}

/** Combines the hashes of complete subtrees, the largest first, into a root: RFC 9162, section 2.1.1. */
export async function combineSubtrees(subtrees: readonly Bytes[]): Promise<Bytes> {
  const last = subtrees.at(-1);
  if (last === undefined) return digestOfBytes(new Uint8Array(0));
  let root = last;
  for (const left of subtrees.slice(0, -1).reverse()) root = await hashPair(left, root);
  return root;
}

/**
 * Returns whether the larger tree begins with the smaller one: RFC 9162, section 2.1.4.2.
 * @param older its size is at least 1 and at most that of `newer`
 */
export async function isContinuation(
  older: TreeHead,
  newer: TreeHead,
  proof: readonly Bytes[],
): Promise<boolean> {
  if (older.size < 1 || older.size > newer.size) return false;
  if (older.size === newer.size) return proof.length === 0 && areSameBytes(older.root, newer.root);
  // A whole left part is no part of the proof: its root is the older one.
  const [first, ...rest] = Number.isInteger(Math.log2(older.size)) ? [older.root, ...proof] : proof;
  if (first === undefined) return false;
  const roots = await rootsFromProof(first, rest, [older.size - 1, newer.size - 1]);
  if (roots === null) return false;
  return areSameBytes(roots.older, older.root) && areSameBytes(roots.newer, newer.root);
}

/**
 * Returns the roots that a consistency proof leads to; null when it has the wrong length.
 * @param lasts the last index of both trees
 */
async function rootsFromProof(first: Bytes, rest: readonly Bytes[], lasts: readonly [number, number]) {
  let [fn, sn] = lasts;
  while (fn % 2 === 1) [fn, sn] = [halfOf(fn), halfOf(sn)];
  let [older, newer] = [first, first];
  for (const hash of rest) {
    if (sn === 0) return null;
    if (fn % 2 === 1 || fn === sn) {
      [older, newer] = [await hashPair(hash, older), await hashPair(hash, newer)];
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [halfOf(fn), halfOf(sn)];
    } else {
      newer = await hashPair(newer, hash);
    }
    [fn, sn] = [halfOf(fn), halfOf(sn)];
  }
  return sn === 0 ? { older, newer } : null;
}

/** @param hashes as many as a power of two */
async function rootOfComplete(hashes: readonly Bytes[]): Promise<Bytes> {
  let level = hashes;
  while (level.length > 1) {
    const above: Promise<Bytes>[] = [];
    for (let at = 0; at + 1 < level.length; at += 2) {
      const [left, right] = level.slice(at, at + 2);
      if (left !== undefined && right !== undefined) above.push(hashPair(left, right));
    }
    level = await Promise.all(above);
  }
  return level[0] ?? digestOfBytes(new Uint8Array(0));
}

/** Bit operators would cut a size to 32 bits. */
function halfOf(value: number): number {
  return Math.floor(value / 2);
}
