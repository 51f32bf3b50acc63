import { AsyncLocalStorage } from 'node:async_hooks';

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

/** Returns the count of the work that makes the present call; undefined for work of the process. */
export function currentCount(): Returned | undefined {
  return current.getStore();
}
