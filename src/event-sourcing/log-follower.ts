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

interface Read {
  readonly page: LogPage;
  /** How many wake-ups there had been when the read began: one since then means that the log may have grown. */
  readonly wakes: number;
}

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
  const pages = new Map<string, Read>();
  const reads = new Map<string, Promise<Read>>();
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
    let toldAtHead = false;
    let attempt = 0;
    while (!aborted()) {
      let read: Read;
      try {
        read = await readShared(after);
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
      const { page } = read;
      // A store may learn only from an empty page that the full one before it was the last: that is news too.
      if (page.cursor !== after || first || (page.atHead && !toldAtHead)) {
        after = page.cursor;
        first = false;
        toldAtHead = page.atHead;
        yield page;
      } else if (read.wakes === wakes) {
        await nextChange(signal);
      }
    }
  }

  function readShared(after: Position | null): Promise<Read> {
    const key = after ?? '';
    const known = pages.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const running = reads.get(key);
    if (running !== undefined) return running;
    const wakesBefore = wakes;
    const read = readAll({ after, limit: pageSize })
      .then((page) => {
        const finished = { page, wakes: wakesBefore };
        if (page.cursor !== after) remember(key, finished);
        return finished;
      })
      .finally(() => reads.delete(key));
    reads.set(key, read);
    return read;
  }

  function remember(key: string, read: Read): void {
    pages.set(key, read);
    for (const oldest of pages.keys()) {
      if (pages.size <= sharedPages) break;
      pages.delete(oldest);
    }
  }

  /** Waits for a wake-up, the poll or the end of the subscription, whichever comes first. */
  async function nextChange(signal: AbortSignal): Promise<void> {
    // Not AbortSignal.any: in Node 20 each call leaves some 50 bytes behind for as long as the long-lived signal lives.
    const done = new AbortController();
    const end = (): void => {
      done.abort();
    };
    sleepers.add(end);
    signal.addEventListener('abort', end, { once: true });
    await pause(pollMs, done.signal);
    sleepers.delete(end);
    signal.removeEventListener('abort', end);
  }

  async function pause(ms: number, signal: AbortSignal): Promise<void> {
    // An aborted wait is how a subscription ends, not a failure.
    await clock.sleep(ms, signal).catch(() => undefined);
  }
}
