import { Overloaded } from './overloaded.js';

/** Runs the work of one key one after the other, in call order. */
export type KeyedMutex = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/** @param waitingMax calls of one key that may run or wait; a further call throws Overloaded */
export function makeKeyedMutex({ waitingMax }: { readonly waitingMax: number }): KeyedMutex {
  const tails = new Map<string, { settled: Promise<void>; waiting: number }>();

  return (key, work) => {
    const tail = tails.get(key);
    const waiting = (tail?.waiting ?? 0) + 1;
    if (waiting > waitingMax) {
      return Promise.reject(new Overloaded(`more than ${waitingMax} calls of one key run or wait`));
    }
    const result = tail === undefined ? work() : tail.settled.then(work);
    // Failed work does not stop the next call; its caller receives the error.
    const settled = result.then(settle, settle);
    const own = { settled, waiting };
    tails.set(key, own);
    return result;

    function settle(): void {
      const last = tails.get(key);
      if (last === own) tails.delete(key);
      else if (last !== undefined) last.waiting -= 1;
    }
  };
}
