import { LRUCache } from 'lru-cache';

/**
 * Makes a cache that evicts the least recently used entry. It sets `maxSize`, because with `max` lru-cache allocates
 * memory for all entries at once.
 * @param entriesMax at least 1
 */
export function makeLru<Value extends object | number>(entriesMax: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
