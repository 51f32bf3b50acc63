import { LRUCache } from 'lru-cache';

/**
 * A cache that forgets what was not used for longest. Its memory grows with what it holds: given `max`, lru-cache would
 * allocate room for every entry at once, in every service that starts.
 * @param entriesMax at least 1
 */
export function makeLru<Value extends object | number>(entriesMax: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
