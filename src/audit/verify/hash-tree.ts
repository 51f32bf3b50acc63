import { sha256 } from './basics.js';

const pair = Buffer.alloc(65, 1);

/** The Merkle tree hash (RFC 9162 section 2.1.1) over hashes of 32 bytes, of which only the last may be incomplete. */
export function treeRoot(hashes: Buffer): Buffer {
  const nodes = Buffer.from(hashes);
  let count = hashes.length / 32;
  if (count === 0) return sha256('');
  for (; count > 1; count = Math.ceil(count / 2)) {
    for (let i = 0; i + 1 < count; i += 2) {
      nodes.copy(pair, 1, i * 32, i * 32 + 64);
      sha256(pair).copy(nodes, i * 16);
    }
    if (count % 2 === 1) nodes.copy(nodes, (count - 1) * 16, (count - 1) * 32, count * 32);
  }
  return nodes.subarray(0, 32);
}

/** The root of a tree whose partial tiles, level by level, are these. */
export const edgeRoot = (levels: readonly Buffer[]): Buffer =>
  treeRoot(
    levels.reduce(
      (below, tile) => Buffer.concat([tile, ...(below.length ? [treeRoot(below)] : [])]),
      Buffer.alloc(0),
    ),
  );

export const hashAt = (hashes: Buffer, i: number): Buffer => hashes.subarray(i * 32, i * 32 + 32);

export const widthOf = (size: number, level: number, n: number): number =>
  Math.min(256, Math.floor(size / 256 ** level) - n * 256);

/** The path of a tile, of entries or of events (C2SP tlog-tiles): `x001/x234/067.p/17` is number 1,234,067 of width 17. */
export function pathOf(kind: string, n: number, width: number): string {
  const digits = String(n);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? [];
  const folders = groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group));
  return `${kind}/${folders.join('/')}${width < 256 ? `.p/${width}` : ''}`;
}
