import type { Clock } from './clock.js';

/**
 * Returns a signal that aborts with the outer one, or after a time with a `TimeoutError`.
 * @param ms the time in milliseconds
 */
export function limitedSignal(outer: AbortSignal, ms: number): AbortSignal {
  // The timer holds the controller. The timer of `AbortSignal.timeout` holds its signal weakly: in Node 20, a signal that
  // only `AbortSignal.any` refers to can be collected before its time, and then nothing aborts.
  const limit = new AbortController();
  setTimeout(() => limit.abort(new DOMException('the time limit has passed', 'TimeoutError')), ms).unref();
  return AbortSignal.any([outer, limit.signal]);
}

/** Waits for work, or until the signal aborts. */
export function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
    work.then(end, (error: unknown) => {
      signal.removeEventListener('abort', end);
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the reason of the work, unchanged
      reject(error);
    });
  });
}

interface TimeLimit {
  readonly ms: number;
  readonly clock: LimitClock;
  /** Makes the error for work that takes longer. */
  readonly exceeded: () => Error;
}

type LimitClock = Pick<Clock, 'sleep' | 'timer'>;

/** Waits for work up to the limit. Work that takes longer continues without its caller. @throws `exceeded()` */
export function withTimeLimit<Result>(
  work: Promise<Result>,
  { ms, clock, exceeded }: TimeLimit,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const cancel = startTimer(clock, ms, () => reject(exceeded()));
    work.then(
      (result) => {
        cancel();
        resolve(result);
      },
      (error: unknown) => {
        cancel();
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the reason of the work, unchanged
        reject(error);
      },
    );
  });
}

/**
 * Runs the work after `ms` milliseconds, unless the returned function is called before. A pause that a signal ends takes
 * several times as long as a timer.
 */
export function startTimer({ sleep, timer }: LimitClock, ms: number, work: () => void): () => void {
  if (timer !== undefined) return timer(ms, work);
  const end = new AbortController();
  sleep(ms, end.signal).then(work, () => undefined);
  return () => {
    // Without a reason, `abort` makes an error with a stack, which costs more than the timer.
    end.abort('over');
  };
}

/** Makes a promise that rejects with the signal's reason when the signal aborts. It never resolves. */
export function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = (): void => {
      const reason: unknown = signal.reason;
      reject(reason instanceof Error ? reason : new Error(String(reason)));
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
