import { backoff, type Clock, type Random } from '../../kit/time/clock.js';
import type { Position } from '../ports/domain-event.js';
import { StoreUnavailable } from '../ports/errors.js';
import type { EventStore, LogPage } from '../ports/event-store.js';
import { saveWhileChanged } from './checkpoints.js';

/** What a consumer does from its checkpoint until its subscription ends. */
export interface ConsumerRun {
  readonly after: Position | null;
  take(page: LogPage): Promise<void>;
  /** Saves what is due, each second until it returns that all is saved, and again after a page. Its failure ends the subscription. */
  readonly save?: () => Promise<boolean>;
  /** Saves the rest when the subscription has ended, also by a failure. */
  readonly end?: () => Promise<void>;
}

const retry = { first: 250, cap: 10_000 };

/**
 * Follows the log until the signal aborts: begins at the checkpoint, takes pages, saves each second, and begins again after a
 * failure or the end of the subscription.
 * @param options.begin loads the checkpoint and checks the log. `ending` ends the subscription; `progressed` starts the
 * back-off again
 * @param options.onRetry receives each StoreUnavailable before the retry
 * @param options.waitMsAfter takes any other error. @returns the wait before the retry; without it the error ends the consumer
 * @throws every error but StoreUnavailable
 */
export async function followLog(
  deps: {
    readonly eventStore: Pick<EventStore, 'subscribe'>;
    readonly clock: Clock;
    readonly random: Random;
    /** The sleep before a retry, which may end early; by default that of the clock. */
    readonly sleepUntilRetry?: Clock['sleep'] | undefined;
  },
  options: {
    readonly signal: AbortSignal;
    readonly begin: (ending: AbortController, progressed: () => void) => Promise<ConsumerRun>;
    readonly onRetry: (error: Error, attempt: number) => void;
    readonly waitMsAfter?: (error: unknown) => number | null | Promise<number | null>;
  },
): Promise<void> {
  const { eventStore, clock, random } = deps;
  const sleep = deps.sleepUntilRetry ?? ((ms: number, signal?: AbortSignal) => clock.sleep(ms, signal));
  const { signal } = options;
  const isOver = (): boolean => signal.aborted;
  let attempt = 0;
  while (!isOver()) {
    const ending = new AbortController();
    const end = (): void => ending.abort();
    signal.addEventListener('abort', end, { once: true });
    let waitMs: number | null = null;
    try {
      await follow(ending);
    } catch (error) {
      waitMs = await waitMsAfter(error);
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
    // Also after a subscription that ended without an error. An abort ends the loop.
    await sleep(waitMs ?? backoff(attempt, random, retry), signal).catch(() => undefined);
    attempt += 1;
  }

  async function waitMsAfter(error: unknown): Promise<number | null> {
    try {
      if (error instanceof StoreUnavailable || options.waitMsAfter === undefined) throw error;
      return await options.waitMsAfter(error);
    } catch (failure) {
      if (!(failure instanceof StoreUnavailable)) throw failure;
      if (!isOver()) options.onRetry(failure, attempt);
      return null;
    }
  }

  async function follow(ending: AbortController): Promise<void> {
    const run = await options.begin(ending, () => {
      attempt = 0;
    });
    const saving = saveEachSecond(run, ending);
    try {
      for await (const page of eventStore.subscribe({ after: run.after, signal: ending.signal })) {
        await run.take(page);
        saving.changed();
        // A page that was taken in part only must be the last one.
        if (ending.signal.aborted) break;
      }
    } finally {
      ending.abort();
      // No work of this subscription may run beside the next one. What it has taken is valid, so short subscriptions progress too.
      await saving.done.finally(run.end);
    }
  }

  function saveEachSecond({ save }: ConsumerRun, ending: AbortController) {
    return saveWhileChanged(clock, save ?? (() => Promise.resolve(true)), {
      signal: ending.signal,
      onFailed: () => ending.abort(),
    });
  }
}
