import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventStore, LogPage } from './event-store.js';
import type { ReadModelStore, SelectedDocuments } from './read-model-store.js';

/** How many documents and events stores have returned to a piece of work. */
export interface Returned {
  count: number;
}

const current = new AsyncLocalStorage<Returned>();

/**
 * Runs a piece of work. All that stores return to it counts: the context of a call carries the count, so no reader and no
 * command can leave out what it reads.
 */
export function countReturned<Result>(returned: Returned, work: () => Result): Result {
  return current.run(returned, work);
}

const lengthOf = (found: readonly unknown[]): number => found.length;
const existing = (found: readonly unknown[]): number => found.filter((one) => one !== null).length;

/** The calls that return documents or events, and how many a result has. Marks, ids and records are neither. */
const sizes: Readonly<Record<string, (result: never) => number>> = {
  ...{ get: (found: unknown) => (found === null ? 0 : 1), getEach: existing, getMany: lengthOf },
  ...{ find: lengthOf, findInOrder: lengthOf, scan: lengthOf },
  getSelected: ({ documents }: SelectedDocuments) => documents.length,
  read: lengthOf,
  readAll: ({ events }: LogPage) => events.length,
} satisfies Partial<Record<keyof ReadModelStore | keyof EventStore, unknown>>;

/** Returns a store whose results count for the work that asks for them. */
export function countingStore<Store extends EventStore | ReadModelStore>(store: Store): Store {
  const counted = Object.entries(store).map(([name, member]: [string, unknown]) => {
    const size = sizes[name];
    return size === undefined ? [name, member] : [name, countingCall(member as Call, size as Size)];
  });
  return Object.fromEntries(counted) as Store;
}

type Call = (...args: readonly unknown[]) => Promise<unknown>;
type Size = (result: unknown) => number;

function countingCall(call: Call, size: Size): Call {
  return (...args) => {
    const returned = current.getStore();
    const result = call(...args);
    if (returned === undefined) return result;
    // Beside the call, so its caller waits for no further promise, and gets its error.
    result.then(
      (found) => {
        returned.count += size(found);
      },
      () => undefined,
    );
    return result;
  };
}
