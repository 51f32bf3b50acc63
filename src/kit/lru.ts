import { LRUCache } from 'lru-cache';

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

/** The largest part of a cache that counts for one entry, so that a large entry does not empty the cache. */
const shareMax = 1 / 16;

/**
 * Makes a cache that is bounded by entries and by bytes, and evicts the least recently used entry. An entry above a sixteenth
 * of the bytes counts as that much.
 * @param options.bytesOf the size of an entry in memory, about
 */
export function makeSizedLru<Value extends object>(options: {
  readonly entriesMax: number;
  readonly bytesMax: number;
  readonly bytesOf: (value: Value) => number;
}): LRUCache<string, Value> {
  const { entriesMax, bytesMax, bytesOf } = options;
  const least = Math.ceil(bytesMax / entriesMax);
  const most = Math.max(least, Math.floor(bytesMax * shareMax));
  return new LRUCache({
    maxSize: Math.max(bytesMax, least),
    sizeCalculation: (value) => Math.min(most, Math.max(least, Math.ceil(bytesOf(value)))),
  });
}

/**
 * Makes a cache that evicts the least recently used entry. It sets `maxSize`, because with `max` lru-cache allocates
 * memory for all entries at once.
 * @param entriesMax at least 1
 */
export function makeLru<Value extends object | number>(entriesMax: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
