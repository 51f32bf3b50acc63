/** Runs work when one of a bounded number of places is free, in the order it was asked. */
export type Slots = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function makeSlots(max: number): Slots {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= max) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      // The place goes straight to the next, so that nobody who came later takes it.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
