import { backoff, type Clock, type Random } from './clock.js';
import type { Position } from './domain-event.js';
import { StoreUnavailable } from './errors.js';
import type { EventStore, LogPage } from './event-store.js';

export interface LogFollower {
  readonly subscribe: EventStore['subscribe'];
  /** Says that the log may have grown: whoever waits at its end reads again. */
  wake(): void;
}

/** Followers this close together share the pages they read. */
const sharedPages = 8;

/**
 * Makes the one reader of a process that pages the log and feeds everything that follows it. Followers at the same
 * position share one read; one that lags pages by itself. At the end it waits for `wake` or polls, so that a lost
 * notification costs a second and nothing else.
 */
export function makeLogFollower(deps: {
  readonly readAll: EventStore['readAll'];
  readonly clock: Clock;
  readonly random: Random;
  /** Told of every failed read before it is tried again. */
  readonly onRetry?: (error: Error, attempt: number) => void;
  readonly pollMs?: number;
  readonly pageSize?: number;
}): LogFollower {
  const { readAll, clock, random, onRetry, pollMs = 1_000, pageSize = 500 } = deps;
  const pages = new Map<string, LogPage>();
  const reads = new Map<string, Promise<LogPage>>();
  let wakes = 0;
  let sleepers = new Set<() => void>();

  return { subscribe, wake };

  function wake(): void {
    wakes += 1;
    const woken = sleepers;
    sleepers = new Set();
    for (const resume of woken) resume();
  }

  async function* subscribe(options: {
    readonly after: Position | null;
    readonly signal: AbortSignal;
  }): AsyncGenerator<LogPage> {
    const { signal } = options;
    const aborted = (): boolean => signal.aborted;
    let after = options.after;
    let first = true;
    let attempt = 0;
    while (!aborted()) {
      const seenWakes = wakes;
      let page: LogPage;
      try {
        page = await readShared(after);
        attempt = 0;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        if (aborted()) return;
        onRetry?.(error, attempt);
        await pause(backoff(attempt, random, { first: 250, cap: 10_000 }), signal);
        attempt += 1;
        continue;
      }
      if (aborted()) return;
      if (page.cursor !== after || first) {
        after = page.cursor;
        first = false;
        yield page;
      } else if (seenWakes === wakes) {
        await nextChange(signal);
      }
    }
  }

  function readShared(after: Position | null): Promise<LogPage> {
    const key = after ?? '';
    const known = pages.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const running = reads.get(key);
    if (running !== undefined) return running;
    const read = readAll({ after, limit: pageSize })
      .then((page) => {
        if (page.cursor !== after) remember(key, page);
        return page;
      })
      .finally(() => reads.delete(key));
    reads.set(key, read);
    return read;
  }

  function remember(key: string, page: LogPage): void {
    pages.set(key, page);
    for (const oldest of pages.keys()) {
      if (pages.size <= sharedPages) break;
      pages.delete(oldest);
    }
  }

  /** Waits for a wake-up, the poll or the end of the subscription, whichever comes first. */
  async function nextChange(signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    await Promise.race([
      new Promise<void>((resolve) => {
        sleepers.add(resolve);
        done.signal.addEventListener('abort', () => sleepers.delete(resolve), { once: true });
      }),
      pause(pollMs, AbortSignal.any([signal, done.signal])),
    ]);
    done.abort();
  }

  async function pause(ms: number, signal: AbortSignal): Promise<void> {
    // An aborted wait is how a subscription ends, not a failure.
    await clock.sleep(ms, signal).catch(() => undefined);
  }
}
