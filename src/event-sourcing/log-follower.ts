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
 * @param deps.gatherMs how long after a wake-up further ones are gathered, so that appends that come close together share
 * a page (0 when left out)
 */
export function makeLogFollower(deps: {
  readonly readAll: EventStore['readAll'];
  readonly clock: Clock;
  readonly random: Random;
  /** Told of every failed read before it is tried again. */
  readonly onRetry?: (error: Error, attempt: number) => void;
  readonly pollMs?: number;
  readonly gatherMs?: number;
  readonly pageSize?: number;
}): LogFollower {
  const { readAll, clock, random, onRetry, pollMs = 1_000, gatherMs = 0, pageSize = 500 } = deps;
  const pages = new Map<string, Read>();
  const reads = new Map<string, Promise<Read>>();
  let wakes = 0;
  /** What resumes those that wait at the end of the log. */
  const sleepers = new Set<() => void>();
  /** Ends the poll that is under way; there is none while nobody has had to wait. */
  let polling: AbortController | null = null;
  let gathering: Promise<void> | null = null;
  let followers = 0;

  return { subscribe, wake };

  function wake(): void {
    wakes += 1;
    if (gathering !== null) return;
    resumeAll();
    if (gatherMs > 0) gathering = gather(wakes);
  }

  async function gather(wakesBefore: number): Promise<void> {
    await pause(gatherMs);
    gathering = null;
    if (wakes > wakesBefore) resumeAll();
  }

  function resumeAll(): void {
    for (const resume of sleepers) resume();
  }

  async function* subscribe(options: {
    readonly after: Position | null;
    readonly signal: AbortSignal;
  }): AsyncGenerator<LogPage> {
    followers += 1;
    try {
      yield* follow(options);
    } finally {
      followers -= 1;
      if (followers === 0) polling?.abort();
    }
  }

  async function* follow(options: {
    readonly after: Position | null;
    readonly signal: AbortSignal;
  }): AsyncGenerator<LogPage> {
    const { signal } = options;
    let after = options.after;
    let first = true;
    let toldAtHead = false;
    for (;;) {
      const read = await readWithRetries(after, signal);
      if (read === null) return;
      const { page } = read;
      // A store may learn only from an empty page that the full one before it was the last: that is news too.
      if (page.cursor !== after || first || (page.atHead && !toldAtHead)) {
        after = page.cursor;
        first = false;
        toldAtHead = page.atHead;
        yield page;
        if (toldAtHead && gathering !== null) await gathering;
      } else if (read.wakes === wakes) {
        await nextChange(signal);
      }
    }
  }

  /** Waits while the store is away; null once the signal aborts. */
  async function readWithRetries(after: Position | null, signal: AbortSignal): Promise<Read | null> {
    const aborted = (): boolean => signal.aborted;
    for (let attempt = 0; !aborted(); attempt += 1) {
      try {
        const read = await readShared(after);
        return aborted() ? null : read;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        if (aborted()) return null;
        onRetry?.(error, attempt);
        await pause(backoff(attempt, random, { first: 250, cap: 10_000 }), signal);
      }
    }
    return null;
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
  function nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const resume = (): void => {
        sleepers.delete(resume);
        signal.removeEventListener('abort', resume);
        resolve();
      };
      sleepers.add(resume);
      signal.addEventListener('abort', resume, { once: true });
      poll();
    });
  }

  /** One poll for all that wait; whoever begins to wait while it runs is resumed early, which does no harm. */
  function poll(): void {
    if (polling !== null) return;
    const stop = new AbortController();
    polling = stop;
    void pause(pollMs, stop.signal).then(() => {
      if (polling === stop) polling = null;
      resumeAll();
    });
  }

  async function pause(ms: number, signal?: AbortSignal): Promise<void> {
    // An aborted wait is how a subscription ends, not a failure.
    await clock.sleep(ms, signal).catch(() => undefined);
  }
}
