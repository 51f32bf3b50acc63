import { startTimer } from '../../kit/time/time-limit.js';
import { type Clock, steadyMsOf } from '../../kit/time/clock.js';
import type { Position } from '../ports/domain-event.js';
import type { LogPage } from '../ports/event-store.js';

/** A page in memory. */
export interface Read {
  readonly page: LogPage;
  /** The count of wake-ups when the read began. A higher count since means that the log may have grown. */
  readonly wakes: number;
}

/** A follower of the log, as the window sees it. */
export interface Place {
  /** The position after which the follower takes its next page. */
  after: Position | null;
  /** Whether no other follower waits for this one. It then reads pages by itself until it meets the others again. */
  leftBehind: boolean;
  /** How long others may still wait for this follower, in milliseconds, as of `sinceMs`. */
  allowanceMs: number;
  sinceMs: number;
  /** Whether another follower waits for this one. */
  held: boolean;
}

/** The pages that followers have yet to take. It is bounded, so followers that are far apart read pages by themselves. */
export interface PageWindow {
  join(after: Position | null): Place;
  leave(place: Place): void;
  /** Notes that the follower has taken a page, and continues after its cursor. */
  moved(place: Place, page: LogPage): void;
  get(after: Position | null): Read | undefined;
  /** Adds a page, and removes pages that no follower needs, or the oldest ones if `must` holds. */
  add(after: Position | null, read: Read, options?: { readonly must: boolean }): void;
  /**
   * Resolves when a page can be added without the loss of a page that another follower needs. Waits at most
   * `allowanceMaxMs` for a follower that takes no page.
   */
  room(place: Place, signal: AbortSignal): Promise<void>;
}

const windowMax = { events: 2_000, bytes: 4 * 1024 * 1024 };
/** How long all others together wait for a follower that takes no page. A second read costs less than a longer wait. */
const allowanceMaxMs = 5_000;
/** The part of the time without a wait that counts as a new allowance: a slow follower slows the others to two thirds. */
const refill = 0.5;

export function makePageWindow({ clock }: { readonly clock: Clock }): PageWindow {
  const pages = new Map<string, { readonly read: Read; readonly bytes: number }>();
  const places = new Set<Place>();
  const waiting = new Set<() => void>();
  let [events, bytes] = [0, 0];
  const nowMs = (): number => steadyMsOf(clock);

  return {
    join: (after) => {
      const place = { after, leftBehind: false, allowanceMs: allowanceMaxMs, sinceMs: nowMs(), held: false };
      places.add(place);
      return place;
    },
    leave: (place) => {
      places.delete(place);
      resumeAll();
    },
    moved: (place, page) => {
      place.after = page.cursor;
      hold(place, false);
      if (page.atHead || pages.has(keyOf(page.cursor))) place.leftBehind = false;
      if (waiting.size > 0) resumeAll();
    },
    get: (after) => pages.get(keyOf(after))?.read,
    add: (after, read, { must } = { must: false }) => {
      const key = keyOf(after);
      remove(key);
      while (isFull()) {
        const unneeded = firstUnneeded() ?? (must ? pages.keys().next().value : undefined);
        if (unneeded === undefined) return;
        remove(unneeded);
      }
      const added = sizeOf(read.page);
      pages.set(key, { read, bytes: added });
      bytes += added;
      events += weightOf(read.page);
    },
    room: async (place, signal) => {
      while (!signal.aborted && !place.leftBehind && isFull() && firstUnneeded() === undefined) {
        const [oldest] = pages.keys();
        const slow = [...places].filter((other) => needs(other).includes(oldest ?? ''));
        for (const other of slow) hold(other, true);
        await changeOrTimeout(Math.min(allowanceMaxMs, ...slow.map((other) => other.allowanceMs)), signal);
        for (const other of slow) {
          if (other.held) settle(other);
          if (other.allowanceMs <= 0) other.leftBehind = true;
        }
      }
    },
  };

  function isFull(): boolean {
    return pages.size > 0 && (events >= windowMax.events || bytes >= windowMax.bytes);
  }

  /** Returns the key of the oldest page that no follower needs. */
  function firstUnneeded(): string | undefined {
    const needed = new Set([...places].flatMap(needs));
    for (const key of pages.keys()) if (!needed.has(key)) return key;
    return undefined;
  }

  /** Returns the keys of the pages that the follower takes next, one after the other. */
  function needs({ after, leftBehind }: Place): readonly string[] {
    const keys: string[] = [];
    if (leftBehind) return keys;
    for (let key = keyOf(after); ;) {
      const found = pages.get(key);
      if (found === undefined) return keys;
      keys.push(key);
      key = keyOf(found.read.page.cursor);
    }
  }

  function remove(key: string): void {
    const removed = pages.get(key);
    if (removed === undefined) return;
    bytes -= removed.bytes;
    events -= weightOf(removed.read.page);
    pages.delete(key);
  }

  function hold(place: Place, held: boolean): void {
    settle(place);
    place.held = held;
  }

  /** Brings the allowance up to date: it shrinks while another follower waits, and grows otherwise. */
  function settle(place: Place): void {
    const elapsedMs = nowMs() - place.sinceMs;
    const left = place.allowanceMs + (place.held ? -elapsedMs : elapsedMs * refill);
    place.allowanceMs = Math.max(0, Math.min(allowanceMaxMs, left));
    place.sinceMs += elapsedMs;
  }

  /** Waits until a follower has moved, the subscription ends or the time is over. */
  function changeOrTimeout(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener('abort', end);
        waiting.delete(end);
        resolve();
      };
      const cancel = startTimer(clock, Math.max(1, ms), end);
      waiting.add(end);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  function resumeAll(): void {
    for (const resume of [...waiting]) resume();
  }
}

/** Pages have ascending cursors, so chains of them end. */
function keyOf(after: Position | null): string {
  return after ?? '';
}

function sizeOf({ bytes, events }: LogPage): number {
  return bytes ?? events.reduce((sum, { data }) => sum + JSON.stringify(data).length, 0);
}

/** An empty page takes memory too. */
function weightOf({ events }: LogPage): number {
  return Math.max(1, events.length);
}
