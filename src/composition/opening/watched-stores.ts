import type { Availability } from '../../observing/stores/availability.js';
import { StoreUnavailable, WrongExpectedRevision } from '../../event-sourcing/ports/errors.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';

/** The calls that do not show whether the store answers. `subscribe` reads through its own path, which reports by `onRead` and `onRetry`. */
const silent: ReadonlySet<string> = new Set(['subscribe', 'close']);

/** It mostly answers from memory, so only its failures show something. */
const cached: keyof EventStore = 'logId';

/** All other calls read. */
const writes: ReadonlySet<string> = new Set<keyof EventStore | keyof ReadModelStore | keyof StateStore>([
  ...(['append', 'compareAndSet', 'write'] as const),
  ...(['ensureCollection', 'dropCollection'] as const),
]);

/**
 * Returns a store that reports to `availability` what its calls show. A write without an answer is only a suspicion: a
 * store that has no space or no majority refuses writes and answers reads, and each of these answers would count as a
 * return of the store.
 */
export function watchStore<Store extends EventStore | ReadModelStore | StateStore>(
  store: Store,
  availability: Availability,
): Store {
  const watched = Object.entries(store).map(([name, member]: [string, unknown]) =>
    typeof member === 'function' && !silent.has(name)
      ? [name, watchCall(name, member as Call, availability)]
      : [name, member],
  );
  return Object.fromEntries(watched) as Store;
}

type Call = (...args: readonly unknown[]) => unknown;

function watchCall(name: string, call: Call, availability: Availability): Call {
  const { answered, answers, suspect, unanswered } = availability;
  return (...args) => {
    const before = answers();
    const result = call(...args);
    // An adapter answers a call for no event or no document by itself.
    if (!(result instanceof Promise) || args.some((list) => Array.isArray(list) && list.length === 0))
      return result;
    // These handlers run beside the call, so its caller waits for no further promise.
    result.then(name === cached ? undefined : answered, (error: unknown) => {
      if (error instanceof WrongExpectedRevision) answered();
      if (!(error instanceof StoreUnavailable) || isCancelled(args)) return;
      if (writes.has(name)) suspect();
      else unanswered(error, before);
    });
    return result;
  };
}

/** Tells whether the caller has cancelled the call. The options of a call are its last argument. */
function isCancelled(args: readonly unknown[]): boolean {
  const options = args.at(-1);
  if (typeof options !== 'object' || options === null || !('signal' in options)) return false;
  return options.signal instanceof AbortSignal && options.signal.aborted;
}
