import { type Hash, nodeHash } from '../../../src/areas/audit/tree/merkle.js';

/** Returns the root that an inclusion proof leads to; null when the proof has the wrong length. RFC 9162, section 2.1.3.2. */
export function rootFromInclusion(
  leaf: Hash,
  { index, size, proof }: { readonly index: number; readonly size: number; readonly proof: readonly Hash[] },
): Hash | null {
  let [fn, sn, node] = [index, size - 1, leaf];
  if (index < 0 || index >= size) return null;
  for (const other of proof) {
    if (sn === 0) return null;
    if (fn % 2 === 1 || fn === sn) {
      node = nodeHash(other, node);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [half(fn), half(sn)];
    } else {
      node = nodeHash(node, other);
    }
    [fn, sn] = [half(fn), half(sn)];
  }
  return sn === 0 ? node : null;
}

/** Bit operators would cut a size to 32 bits. */
function half(value: number): number {
  return Math.floor(value / 2);
}
