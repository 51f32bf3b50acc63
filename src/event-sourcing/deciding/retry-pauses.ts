import { type Clock, type Random, steadyMsOf } from '../../kit/time/clock.js';
import { StoreUnavailable } from '../ports/errors.js';

/** Attempts at a call while the store is unavailable. Their pauses add up to 1.1 to 1.9 s. */
export const attemptsMax = 5;

/**
 * Returns the pause in milliseconds before the next attempt: 100, 200, 400, 800, each with a quarter of jitter. Full
 * jitter could spend all attempts within a blip of 0.3 s, and then the command would fail.
 */
export function pauseBefore(attempt: number, random: Random): number {
  return 100 * 2 ** (attempt - 1) * (0.75 + random() / 2);
}

/** A read that takes long is not repeated after this time: the caller of the command does not wait so long. */
const readsMs = 2_000;

/** Reads, and reads again while the store is unavailable (src/event-sourcing/deciding/README.md#command-queue-and-retries). @throws as the read */
export async function retryRead<Result>(
  read: () => Promise<Result>,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<Result> {
  const startedMs = steadyMsOf(clock);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const isOver = attempt >= attemptsMax || steadyMsOf(clock) - startedMs >= readsMs;
      if (isOver || !(error instanceof StoreUnavailable)) throw error;
    }
    await clock.sleep(pauseBefore(attempt, random));
  }
}
