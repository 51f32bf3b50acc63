import type { Clock } from '../../kit/time/clock.js';
/** Whether a store answers, as the calls of this process report it. */
export type Availability = ReturnType<typeof makeAvailability>;

/** @param nowMs the steady clock, so that a step of the wall clock hides no outage and makes none */
export function makeAvailability(nowMs: () => number) {
  const listeners = new Set<() => void>();
  let answers = 0;
  let awaySinceMs: number | null = null;
  let failure: Error | null = null;
  let isSuspect = false;
  let lastAnswerMs: number | null = null;
  return {
    /** Reports that a call was answered, also by a refusal. */
    answered: () => {
      answers += 1;
      lastAnswerMs = nowMs();
      isSuspect = false;
      if (awaySinceMs === null) return;
      awaySinceMs = null;
      failure = null;
      for (const listener of [...listeners]) listener();
    },
    /**
     * Reports that a call had no answer: it timed out, or found no connection.
     * @param error the reason, for the operator
     * @param answersBefore `answers()` at the start of the call; an answer to a later call shows that the store is there
     */
    unanswered: (error?: Error, answersBefore: number = answers) => {
      if (answersBefore !== answers) return;
      awaySinceMs ??= nowMs();
      failure = error ?? failure;
    },
    /** Reports a failure that may mean that the store is away: the next look at the store pings it. */
    suspect: () => {
      isSuspect = true;
    },
    /** Returns whether a call has failed in such a way since the last answer. */
    isSuspect: () => isSuspect,
    /** Returns the count of answered calls. */
    answers: () => answers,
    /** Returns the time on the steady clock since which calls have had no answer; null while the store answers. */
    awaySinceMs: (): number | null => awaySinceMs,
    /** Returns the reason of the last call without an answer; null while the store answers. */
    failure: (): Error | null => failure,
    /** Returns the time on the steady clock of the last answered call; null before the first answer. */
    lastAnswerMs: (): number | null => lastAnswerMs,
    /** Calls the listener each time the store answers again after it was away. @returns a function that removes it */
    onReturn: (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * Makes the sleep of a loop that retries: it also ends when one of the stores answers again, so that no retry waits for
 * its back-off after an outage. It must not measure a time limit.
 */
export function makeWakefulSleep(
  clock: Pick<Clock, 'sleep'>,
  stores: readonly Pick<Availability, 'onReturn'>[],
): Clock['sleep'] {
  return async (ms, signal) => {
    const returned = new AbortController();
    const forget = stores.map(({ onReturn }) =>
      onReturn(() => {
        // Without a reason, `abort` makes an error with a stack, which costs more than the timer.
        returned.abort('returned');
      }),
    );
    const end = (): void => returned.abort(signal?.reason);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted === true) end();
    try {
      await clock.sleep(ms, returned.signal);
    } catch (error) {
      if (signal?.aborted === true || !returned.signal.aborted) throw error;
    } finally {
      for (const remove of forget) remove();
      signal?.removeEventListener('abort', end);
    }
  };
}
