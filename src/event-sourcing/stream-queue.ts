import { Overloaded } from './errors.js';

/** Runs what concerns one key one after the other, in the order it was asked. */
export type KeyedQueue = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/** @param waitingMax how many may wait for one key before further ones are Overloaded */
export function makeKeyedQueue({ waitingMax }: { readonly waitingMax: number }): KeyedQueue {
  const tails = new Map<string, { readonly settled: Promise<void>; waiting: number }>();

  return async (key, work) => {
    const tail = tails.get(key);
    const waiting = (tail?.waiting ?? 0) + 1;
    if (waiting > waitingMax) throw new Overloaded(`more than ${waitingMax} commands wait for one stream`);
    const result = tail === undefined ? work() : tail.settled.then(work);
    // The queue goes on whatever became of the work; its caller hears of it.
    const settled = result.then(
      () => undefined,
      () => undefined,
    );
    const own = { settled, waiting };
    tails.set(key, own);
    try {
      return await result;
    } finally {
      const last = tails.get(key);
      if (last === own) tails.delete(key);
      else if (last !== undefined) last.waiting -= 1;
    }
  };
}
