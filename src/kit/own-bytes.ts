/**
 * Returns the same bytes outside Node's pool of buffers. `Buffer.from` and `Buffer.concat` cut small buffers from slabs of 8 to
 * 64 KiB, and each cut that is kept keeps its whole slab. Bytes that a cache, a tree or a state keeps go through this.
 */
export function ownBytes(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes;
  const own = Buffer.alloc(bytes.length);
  bytes.copy(own);
  return own;
}
