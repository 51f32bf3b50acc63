import { LRUCache } from 'lru-cache';

/**
 * The streams that this process has seen whole since it last lost a connection. Only while it has none, an operator can
 * change a stream without any trace in the process, whose caches may hold removed events.
 */
export interface SeenWhole {
  /** Reports that a connection may have been lost. */
  lost(): void;
  /** Begins a read of a stream from its start. Returns the function that notes its success. */
  reading(name: string): () => void;
  /** Returns whether the stream needs a read before its next append is sent. */
  isSuspect(name: string): boolean;
}

/** A stream that was forgotten costs one read more. */
const streamsMax = 10_000;

export function makeSeenWhole(): SeenWhole {
  const seen = new LRUCache<string, true>({ maxSize: streamsMax, sizeCalculation: () => 1 });
  let losses = 0;
  return {
    lost: () => {
      losses += 1;
      seen.clear();
    },
    reading: (name) => {
      const before = losses;
      return () => {
        if (losses === before) seen.set(name, true);
      };
    },
    // Before the first loss, a process has seen all that it caches.
    isSuspect: (name) => losses > 0 && !seen.has(name),
  };
}
