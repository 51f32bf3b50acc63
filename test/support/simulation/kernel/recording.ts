import type { EventStore, ExpectedRevision } from '../../../../src/event-sourcing/ports/event-store.js';

export interface Recording {
  readonly store: EventStore;
  /** The first revision that each read of a stream asked for. */
  readonly reads: { readonly stream: string; readonly from: bigint }[];
  readonly appends: { readonly stream: string; readonly expected: ExpectedRevision; readonly atMs: number }[];
}

/** Returns an event store that records its calls. @param nowMs the time to record with each append */
export function recording(store: EventStore, nowMs: () => number): Recording {
  const reads: Recording['reads'] = [];
  const appends: Recording['appends'] = [];
  return {
    reads,
    appends,
    store: {
      ...store,
      read: (stream, options) => {
        reads.push({ stream, from: options?.from ?? 0n });
        return store.read(stream, options);
      },
      append: (stream, expected, events, options) => {
        appends.push({ stream, expected, atMs: nowMs() });
        return store.append(stream, expected, events, options);
      },
    },
  };
}
