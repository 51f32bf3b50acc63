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

/** What an object takes in memory for each byte of its JSON, about: 4.6 to 5.3 were measured for orders. */
export const objectBytesPerJsonByte = 5;

/** The bytes of a fold as JSON, about, and as many as were last measured. */
export interface FoldSize {
  readonly bytes: number;
  readonly measuredBytes: number;
}

/** Below, a measurement costs more than a wrong size. */
const measuredFrom = 2_048;

/**
 * Adds the bytes of events to the size of the fold that has them. Events also replace and remove, so a fold is measured when its
 * size has doubled: a session that was refreshed a thousand times is no larger than a new one.
 */
export function grownSize(
  { bytes, measuredBytes }: FoldSize,
  added: number,
  fold: () => readonly unknown[],
): FoldSize {
  const grown = bytes + added;
  if (grown < measuredFrom || grown <= 2 * measuredBytes) return { bytes: grown, measuredBytes };
  const measured = sizeOf(fold());
  return { bytes: measured, measuredBytes: measured };
}

/** Returns the length of a value as JSON, about. What it calls takes nothing. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null || value instanceof Date) return 8;
  const parts: readonly unknown[] =
    Array.isArray(value) || value instanceof Set
      ? [...(value as Iterable<unknown>)]
      : value instanceof Map
        ? [...value].flat()
        : Object.entries(value).flat();
  return parts.reduce<number>((sum, part) => sum + sizeOf(part), 2);
}

/** The largest part of a cache that counts for one entry, so that a large entry does not empty the cache. */
const shareMax = 1 / 16;

/**
 * Makes a cache that is bounded by entries and by bytes, and evicts the least recently used entry. An entry above a sixteenth
 * of the bytes counts as that much.
 * @param options.bytesOf the size of a value in memory, about, to which that of its key is added
 */
export function makeSizedLru<Value extends object | number>(options: {
  readonly entriesMax: number;
  readonly bytesMax: number;
  readonly bytesOf: (value: Value) => number;
}): LRUCache<string, Value> {
  const { entriesMax, bytesMax, bytesOf } = options;
  const least = Math.ceil(bytesMax / entriesMax);
  const most = Math.max(least, Math.floor(bytesMax * shareMax));
  return new LRUCache({
    maxSize: Math.max(bytesMax, least),
    // lru-cache allocates memory for all entries at once where `max` bounds them.
    sizeCalculation: (value, key) => Math.min(most, Math.max(least, Math.ceil(key.length + bytesOf(value)))),
  });
}

/** What an entry with a value of a fixed size takes, about. One with a longer key counts for several. */
const smallBytes = 1_024;

/**
 * Makes a cache of values of a fixed size, which is so bounded by entries and by bytes.
 * @param entriesMax at least 1
 */
export function makeLru<Value extends object | number>(entriesMax: number): LRUCache<string, Value> {
  return makeSizedLru({ entriesMax, bytesMax: entriesMax * smallBytes, bytesOf: () => smallBytes / 2 });
}
