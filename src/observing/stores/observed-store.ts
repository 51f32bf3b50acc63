import { StoreUnavailable, WrongExpectedRevision } from '../../event-sourcing/ports/errors.js';
import type { EventStore, LogPage } from '../../event-sourcing/ports/event-store.js';
import { carried } from '../../kit/trace.js';
import type { ReadModelStore, SelectedDocuments } from '../../event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import type { Availability } from './availability.js';

type AnyStore = EventStore | ReadModelStore | StateStore;
type CallName = keyof EventStore | keyof ReadModelStore | keyof StateStore;

/** How a call ended. */
export type CallEnd = { readonly result: unknown } | { readonly error: unknown };

/** Is called when a call begins. @returns what receives its end; undefined where the observer is not interested */
export type StoreObserver = (name: string, args: readonly unknown[]) => ((end: CallEnd) => void) | undefined;

/** `subscribe` reads through its own path, which reports by `onRead` and `onRetry`. */
const unobserved: ReadonlySet<string> = new Set<CallName>(['subscribe', 'close']);

/** All other calls read. */
export const storeWrites: ReadonlySet<string> = new Set<CallName>([
  ...(['append', 'compareAndSet', 'write'] as const),
  ...(['ensureCollection', 'dropCollection'] as const),
]);

/** Returns a store whose calls are observed. Its caller waits for no further promise. */
export function observeStore<Store extends AnyStore>(
  store: Store,
  observers: readonly StoreObserver[],
): Store {
  const observed = Object.entries(store).map(([name, member]: [string, unknown]) =>
    typeof member === 'function' && !unobserved.has(name)
      ? [name, observeCall(name, member as Call, observers)]
      : [name, member],
  );
  return Object.fromEntries(observed) as Store;
}

type Call = (...args: readonly unknown[]) => unknown;

function observeCall(name: string, call: Call, observers: readonly StoreObserver[]): Call {
  return (...args) => {
    // An adapter answers a call for no event or no document by itself.
    if (args.some((list) => Array.isArray(list) && list.length === 0)) return call(...args);
    const noteEnds = observers.map((observer) => observer(name, args));
    const result = call(...args);
    if (!(result instanceof Promise)) return result;
    const note = (end: CallEnd): void => {
      for (const noteEnd of noteEnds) noteEnd?.(end);
    };
    result.then(
      (found: unknown) => note({ result: found }),
      (error: unknown) => note({ error }),
    );
    return result;
  };
}

/** It mostly answers from memory, so only its failures show something. */
const cached: keyof EventStore = 'logId';

/**
 * Reports to `availability` what the calls show. A write without an answer is only a suspicion: a store that has no space or
 * no majority refuses writes and answers reads, and each of these answers would count as a return of the store.
 */
export function noteAvailability(availability: Availability): StoreObserver {
  const { answered, answers, suspect, unanswered } = availability;
  return (name, args) => {
    const before = answers();
    return (end) => {
      if (!('error' in end)) {
        if (name !== cached) answered();
        return;
      }
      const { error } = end;
      if (error instanceof WrongExpectedRevision) answered();
      if (!(error instanceof StoreUnavailable) || isCancelled(args)) return;
      if (storeWrites.has(name)) suspect();
      else unanswered(error, before);
    };
  };
}

/** Tells whether the caller has cancelled the call. The options of a call are its last argument. */
function isCancelled(args: readonly unknown[]): boolean {
  const options = args.at(-1);
  if (typeof options !== 'object' || options === null || !('signal' in options)) return false;
  return options.signal instanceof AbortSignal && options.signal.aborted;
}

const lengthOf = (found: readonly unknown[]): number => found.length;
const existing = (found: readonly unknown[]): number => found.filter((one) => one !== null).length;

/** The calls that return documents or events, and how many a result has. Checkpoints, ids and records are neither. */
const sizes: Readonly<Record<string, (result: never) => number>> = {
  ...{ get: (found: unknown) => (found === null ? 0 : 1), getEach: existing, getMany: lengthOf },
  ...{ find: lengthOf, findInOrder: lengthOf, scan: lengthOf },
  getSelected: ({ documents }: SelectedDocuments) => documents.length,
  read: lengthOf,
  readAll: ({ events }: LogPage) => events.length,
} satisfies Partial<Record<CallName, unknown>>;

/** Counts what a store of events or documents returns to the work that asks for it. */
export const noteReturned: StoreObserver = (name) => {
  const { returned } = carried();
  const size = sizes[name] as ((result: unknown) => number) | undefined;
  if (returned === undefined || size === undefined) return undefined;
  return (end) => {
    if ('result' in end) returned.count += size(end.result);
  };
};
