import { backoff, type Clock, type Random } from '../../kit/time/clock.js';
import type { LogEvent, Position } from '../ports/domain-event.js';
import { StoreUnavailable } from '../ports/errors.js';
import type { EventStore, LogPage } from '../ports/event-store.js';
import { makeLiveTail } from './live-tail.js';
import { makePageWindow, type Place, type Read } from './page-window.js';

export interface LogFollower {
  readonly subscribe: EventStore['subscribe'];
  /** Signals that the log may have grown: followers that wait at its end read again. */
  readonly wake: () => void;
  /** Returns the greatest position that the reader has passed. */
  readonly front: () => Position | null;
  /**
   * Begins to take events from a live subscription in place of reads.
   * @param from the position after which the subscription sends every event, in order. The reader has passed it
   */
  readonly live: (from: Position | null) => void;
  /**
   * Takes the next record of the live subscription; `event` is null for a record that is no event of this service.
   * Returns false if the subscription does not count any more: end it.
   */
  readonly receive: (record: { readonly position: Position; readonly event: LogEvent | null }) => boolean;
  /** The live subscription has ended: followers read the log again. */
  readonly lost: () => void;
}

/** The failed reads in a row after which a subscription ends. Its reader then loads its checkpoint and checks the log. */
const attemptsMax = 4;

/**
 * Makes the one log reader of a process. It reads each page once for all followers that are close to each other: a fast
 * one waits for slow ones, within limits. At the end of the log followers take the events of a live subscription, or
 * wait for `wake` or the next poll, so a lost notification costs only a delay.
 * @param deps.gatherMs for how long after a wake-up the reader combines further ones, so that close appends share a
 * page
 */
export function makeLogFollower(deps: {
  readonly readAll: EventStore['readAll'];
  readonly clock: Clock;
  readonly random: Random;
  /** Called when a read has reached the end of the log. */
  readonly onHead?: () => void;
  /** Called when the last follower has left: no live subscription is needed. */
  readonly onRest?: () => void;
  /** Receives every failed read before its retry. */
  readonly onRetry?: (error: Error, attempt: number) => void;
  /** Called after every read that succeeded. */
  readonly onRead?: () => void;
  readonly pollMs?: number;
  readonly gatherMs?: number;
  readonly pageSize?: number;
}): LogFollower {
  const { readAll, clock, random, onHead, onRest, onRead, onRetry } = deps;
  const { pollMs = 1_000, gatherMs = 0, pageSize = 500 } = deps;
  const window = makePageWindow({ clock });
  const tail = makeLiveTail();
  const reads = new Map<string, Promise<Read>>();
  let wakes = 0;
  /** Resume the followers that wait at the end of the log. */
  const sleepers = new Set<() => void>();
  /** Ends the running poll. */
  let polling: AbortController | null = null;
  let gathering: Promise<void> | null = null;
  let followers = 0;
  let front: Position | null = null;

  return {
    subscribe,
    wake: () => {
      // The subscription sends the event, and the poll finds it otherwise. A read would only repeat it.
      if (!tail.isLive()) wake();
    },
    front: () => front,
    live: tail.begin,
    receive: (record) => {
      if (!tail.receive(record)) return false;
      if (record.event !== null) changed(publish);
      return true;
    },
    lost: () => {
      tail.end();
      wake();
    },
  };

  function wake(): void {
    wakes += 1;
    changed(resumeAll);
  }

  /** Runs the work at once, or at the end of the running pause together with that of other changes. */
  function changed(work: () => void): void {
    if (gathering !== null) return;
    work();
    if (gatherMs > 0) gathering = gather(wakes);
  }

  /** A busy log gets one page a pause: only a change after a quiet pause is passed on at once. */
  async function gather(wakesBefore: number): Promise<void> {
    await pause(gatherMs);
    gathering = null;
    const isPublished = publish();
    const isWoken = wakes > wakesBefore;
    if (isWoken) resumeAll();
    if (isPublished || isWoken) gathering = gather(wakes);
  }

  /** Makes the events of the live subscription the next page for followers at the front. Returns whether there are any. */
  function publish(): boolean {
    const page = tail.take(front);
    if (page === null) return false;
    window.add(front, { page, wakes }, { must: true });
    pass(page);
    resumeAll();
    return true;
  }

  function resumeAll(): void {
    for (const resume of sleepers) resume();
  }

  async function* subscribe(options: {
    readonly after: Position | null;
    readonly signal: AbortSignal;
  }): AsyncGenerator<LogPage> {
    const place = window.join(options.after);
    followers += 1;
    try {
      yield* follow(place, options.signal);
    } finally {
      window.leave(place);
      followers -= 1;
      if (followers === 0) {
        polling?.abort();
        onRest?.();
      }
    }
  }

  async function* follow(place: Place, signal: AbortSignal): AsyncGenerator<LogPage> {
    let yielded: LogPage | null = null;
    for (;;) {
      const read = await readWithRetries(place, signal);
      if (read === null) return;
      const { page } = read;
      const isNew = page.cursor !== place.after;
      // After a full last page, a store may learn only from the empty page that this is the end: yield that page too.
      if (isNew || yielded?.atHead !== true) {
        yielded = page;
        window.moved(place, page);
        yield page;
        if (page.atHead && gathering !== null) await gathering;
      }
      if ((page.atHead || !isNew) && isEnd(read, place) && !signal.aborted) await nextChange(signal);
    }
  }

  /** Returns whether no page is known to follow the one that was read last. */
  function isEnd(read: Read, { after }: Place): boolean {
    return read.wakes === wakes && window.get(after) === undefined;
  }

  /** Retries while the store is unavailable. @returns null after the signal aborts @throws the last error */
  async function readWithRetries(place: Place, signal: AbortSignal): Promise<Read | null> {
    const aborted = (): boolean => signal.aborted;
    for (let attempt = 0; !aborted(); attempt += 1) {
      try {
        const read = await readShared(place, signal);
        return aborted() ? null : read;
      } catch (error) {
        if (aborted()) return null;
        if (!(error instanceof StoreUnavailable) || attempt + 1 >= attemptsMax) throw error;
        onRetry?.(error, attempt);
        await pause(backoff(attempt, random, { first: 250, cap: 10_000 }), signal);
      }
    }
    return null;
  }

  async function readShared(place: Place, signal: AbortSignal): Promise<Read> {
    const { after } = place;
    const cached = (): Read | Promise<Read> | undefined => window.get(after) ?? reads.get(after ?? '');
    const known = cached();
    if (known !== undefined) return known;
    await window.room(place, signal);
    return cached() ?? read(after);
  }

  function read(after: Position | null): Promise<Read> {
    const key = after ?? '';
    const wakesBefore = wakes;
    const running = readAll({ after, limit: pageSize })
      .then((page) => {
        onRead?.();
        const finished = { page, wakes: wakesBefore };
        if (page.cursor !== after) window.add(after, finished);
        // A follower that sleeps behind the new front would wait for the poll: the live events up to it are left out.
        if (pass(page)) resumeAll();
        if (page.atHead) onHead?.();
        return finished;
      })
      .finally(() => reads.delete(key));
    reads.set(key, running);
    return running;
  }

  /** Moves the front. @returns whether it moved */
  function pass({ cursor }: LogPage): boolean {
    if (cursor === null || (front !== null && cursor <= front)) return false;
    front = cursor;
    return true;
  }

  /** Waits for a wake-up, the poll or the end of the subscription. */
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

  /** Starts one poll for all waiting followers. A follower that joins a running poll resumes early, without harm. */
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
    // An abort ends a subscription, and is no failure.
    await clock.sleep(ms, signal).catch(() => undefined);
  }
}
