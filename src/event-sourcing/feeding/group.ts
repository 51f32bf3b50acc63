import type { Clock } from '../../kit/time/clock.js';
import { startTimer } from '../../kit/time/time-limit.js';
import type { Position } from '../ports/domain-event.js';
import type { LogPage } from '../ports/event-store.js';

/** Consumers at one position. They take one page at a time, and the next one is read when all have taken it. */
export interface Group {
  /** The page in memory, and the position after which it begins. Null before the first read. */
  page: LogPage | null;
  after: Position | null;
  /** The position of the next page. */
  end: Position | null;
  readonly members: Set<Member>;
  /** Those that have not taken the whole page. */
  pending: Set<Member>;
  /** The count of wake-ups when the read began. A higher count since means that the log may have grown. */
  wakes: number;
  /** When the page was read. */
  readMs: number;
  reading: Promise<unknown> | null;
  /** Reads the next page, once for all. */
  advancing: Promise<void> | null;
  /** Ends the wait of the others for those that are pending; null while none waits. */
  allTaken: (() => void) | null;
  /** Ends the pause or the read that runs. */
  stop: AbortController;
}

/** A subscription. */
export interface Member {
  at: Position | null;
  /** Whether its last page reached the end of the log. */
  atHead: boolean;
  group: Group | null;
  /** How long others may still wait for this one, in milliseconds, as of `sinceMs`. */
  allowanceMs: number;
  sinceMs: number;
}

/** How long all others together wait for a consumer that takes no page. A second read costs less than a longer wait. */
const allowanceMaxMs = 5_000;
/** At the end of the log pages are small, and events would wait for nothing else. */
const headAllowanceMs = 100;
/** The part of the time without a wait that counts as a new allowance: a slow consumer slows the others to two thirds. */
const refill = 0.5;

export function makeMember(at: Position | null, clock: Clock): Member {
  return { at, atHead: false, group: null, allowanceMs: allowanceMaxMs, sinceMs: clock.steadyMs() };
}

export function makeGroup(at: Position | null): Group {
  return {
    ...{ page: null, after: at, end: at, members: new Set<Member>(), pending: new Set<Member>() },
    ...{ wakes: 0, readMs: -Infinity, reading: null, advancing: null, allTaken: null },
    stop: new AbortController(),
  };
}

/** Notes that a member has taken its page, or needs it no more. */
export function taken(member: Member, clock: Clock): void {
  const { group } = member;
  const isAwaited = group?.pending.delete(member) === true && group.allTaken !== null;
  settle(member, isAwaited, clock);
  if (isAwaited && group.pending.size === 0) group.allTaken?.();
}

/**
 * Waits until all members have taken the page, and at most for the time that each may make the others wait.
 * @param leave is given those that were waited for too long. They read alone
 */
export async function untilTaken(group: Group, clock: Clock, leave: (slow: Member) => void): Promise<void> {
  while (group.pending.size > 0) {
    for (const slow of group.pending) settle(slow, false, clock);
    const limitMs = group.page?.atHead === true ? headAllowanceMs : allowanceMaxMs;
    const leastMs = Math.min(limitMs, ...[...group.pending].map(({ allowanceMs }) => allowanceMs));
    await new Promise<void>((resolve) => {
      const cancel = startTimer(clock, Math.max(1, leastMs), resolve);
      group.allTaken = () => {
        cancel();
        resolve();
      };
    });
    group.allTaken = null;
    for (const slow of [...group.pending]) {
      settle(slow, true, clock);
      if (slow.allowanceMs <= 0 || leastMs === limitMs) leave(slow);
    }
  }
}

/** Brings the allowance up to date: it shrinks while others wait, and grows otherwise. */
function settle(member: Member, isAwaited: boolean, clock: Clock): void {
  const elapsedMs = clock.steadyMs() - member.sinceMs;
  const left = member.allowanceMs + elapsedMs * (isAwaited ? -1 : refill);
  member.allowanceMs = Math.max(0, Math.min(allowanceMaxMs, left));
  member.sinceMs += elapsedMs;
}
