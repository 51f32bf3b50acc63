export interface TimeLimit {
  readonly ms: number;
  readonly clock: {
    /** Resolves after `ms` milliseconds. Rejects when the signal aborts. */
    sleep(ms: number, signal: AbortSignal): Promise<void>;
  };
  /** Makes the error for work that takes longer. */
  readonly exceeded: () => Error;
}

/** Waits for work up to the limit. Work that takes longer continues without its caller. @throws `exceeded()` */
export async function withTimeLimit<Result>(
  work: Promise<Result>,
  { ms, clock, exceeded }: TimeLimit,
): Promise<Result> {
  const end = new AbortController();
  const limit = clock.sleep(ms, end.signal).then(
    () => {
      throw exceeded();
    },
    // The work ended first.
    () => new Promise<never>(() => undefined),
  );
  try {
    return await Promise.race([work, limit]);
  } finally {
    // Without a reason, `abort` makes an error with a stack, which costs more than the timer.
    end.abort('over');
  }
}
