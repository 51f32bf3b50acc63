import { type Hash, nodeHash } from '../../../src/areas/audit/tree/merkle.js';

/** A tree of so many leaves. */
export interface TreeHead {
  readonly size: number;
  readonly root: Hash;
}

/** Tells whether the proof shows that the next tree continues the old one: RFC 9162, section 2.1.4.2, in its words. */
export function isConsistent(old: TreeHead, next: TreeHead, proof: readonly Hash[]): boolean {
  const path = Number.isInteger(Math.log2(old.size)) ? [old.root, ...proof] : proof;
  let [fn, sn] = [old.size - 1, next.size - 1];
  while (fn % 2 === 1) [fn, sn] = [(fn - 1) / 2, Math.floor(sn / 2)];
  const [start, ...rest] = path;
  if (start === undefined) return false;
  let [fr, sr] = [start, start];
  for (const hash of rest) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      [fr, sr] = [nodeHash(hash, fr), nodeHash(hash, sr)];
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)];
    } else {
      sr = nodeHash(sr, hash);
    }
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return sn === 0 && fr.equals(old.root) && sr.equals(next.root);
}
