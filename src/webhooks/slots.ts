/** Lets a bounded number of deliveries run at once. Too long a queue is sent away at once, and does not wait. */
export interface Slots {
  /** @returns the release; null: the caller must not run, because too many wait */
  acquire(): Promise<(() => void) | null>;
  /** Sends all waiting callers away. */
  shed(): void;
}

/**
 * A plain semaphore would let events of healthy resources wait behind those that hang for 15 s each.
 * @param waitingMax callers that may wait; one more sends all of them away
 */
export function makeSlots(permits: number, waitingMax: number): Slots {
  let taken = 0;
  let waiting: ((release: (() => void) | null) => void)[] = [];

  return {
    acquire: () => {
      if (taken < permits) {
        taken += 1;
        return Promise.resolve(release);
      }
      if (waiting.length >= waitingMax) {
        shed();
        return Promise.resolve(null);
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    shed,
  };

  function release(): void {
    const next = waiting.shift();
    if (next === undefined) taken -= 1;
    else next(release);
  }

  function shed(): void {
    const sentAway = waiting;
    waiting = [];
    for (const resolve of sentAway) resolve(null);
  }
}
