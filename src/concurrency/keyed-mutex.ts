import { Overloaded } from './overloaded.js';

/** Runs the work of one key one after the other, in call order. */
export type KeyedMutex = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/** @param waitingMax calls of one key that may run or wait; a further call throws Overloaded */
export function makeKeyedMutex({ waitingMax }: { readonly waitingMax: number }): KeyedMutex {
  const tails = new Map<string, { readonly settled: Promise<void>; waiting: number }>();

  return async (key, work) => {
    const tail = tails.get(key);
    const waiting = (tail?.waiting ?? 0) + 1;
    if (waiting > waitingMax) throw new Overloaded(`more than ${waitingMax} calls of one key run or wait`);
    const result = tail === undefined ? work() : tail.settled.then(work);
    // Failed work does not stop the next call; its caller receives the error.
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
