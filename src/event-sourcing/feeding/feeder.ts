import { backoff, type Clock, type Random } from '../../kit/time/clock.js';
import { unlessAborted } from '../../kit/time/time-limit.js';
import type { LogEvent, Position } from '../ports/domain-event.js';
import { StoreUnavailable } from '../ports/errors.js';
import type { EventStore, LogPage } from '../ports/event-store.js';
import { type Group, makeGroup, makeMember, type Member, taken, untilTaken } from './group.js';
import { makeLiveTail } from './live-tail.js';

export type Feeder = ReturnType<typeof makeFeeder>;

/** The failed reads in a row after which a subscription ends. Its consumer then loads its checkpoint and checks the log. */
const attemptsMax = 4;
/**
 * Makes the one reader of the log of a process. It hands one page at a time to all consumers at one position. A consumer that
 * takes too long falls behind and reads alone until it meets a page of the others. At the end of the log consumers take the
 * events of a live subscription, or wait for `wake` or the next poll, so a lost notification costs only a delay.
 * @param deps.gatherMs pages at the end of the log are at least this far apart, so that close appends share a page
 */
export function makeFeeder(deps: {
  readonly readAll: EventStore['readAll'];
  readonly clock: Clock;
  readonly random: Random;
  /** Called when a read has reached the end of the log. */
  readonly onHead?: () => void;
  /** Called when the last consumer has left: no live subscription is needed. */
  readonly onRest?: () => void;
  /** Receives every failed read before its retry. */
  readonly onRetry?: (error: Error, attempt: number) => void;
  /** Called after every read that succeeded. */
  readonly onRead?: () => void;
  readonly pollMs?: number;
  readonly gatherMs?: number;
  readonly pageSize?: number;
}) {
  const { readAll, clock, random, onHead, onRest, onRead, onRetry } = deps;
  const { pollMs = 1_000, gatherMs = 0, pageSize = 500 } = deps;
  const nowMs = (): number => clock.steadyMs();
  const tail = makeLiveTail();
  const groups = new Set<Group>();
  /** End the pauses of groups at the end of the log. */
  const sleepers = new Set<AbortController>();
  let wakes = 0;
  let members = 0;
  let front: Position | null = null;

  return {
    subscribe,
    /** Signals that the log may have grown. */
    wake: () => {
      // The subscription sends the event, and the poll finds it otherwise. A read would only repeat it.
      if (!tail.isLive()) wake();
    },
    /** Returns the greatest position that a page has passed. */
    front: (): Position | null => front,
    /**
     * Begins to take events from a live subscription in place of reads.
     * @param from the position after which the subscription sends every event, in order
     */
    live: tail.begin,
    /**
     * Takes the next record of the live subscription; `event` is null for a record that is no event of this service.
     * Returns false if the subscription does not count any more: end it.
     */
    receive: (record: { readonly position: Position; readonly event: LogEvent | null }) => {
      if (!tail.receive(record)) return false;
      if (record.event !== null) resumeAll();
      return true;
    },
    /** The live subscription has ended: the log is read again. */
    lost: () => {
      tail.end();
      wake();
    },
  };

  function wake(): void {
    wakes += 1;
    resumeAll();
  }

  function resumeAll(): void {
    // Without a reason, `abort` makes an error with a stack, which costs more than the timer.
    for (const sleeper of sleepers) sleeper.abort('changed');
  }

  async function* subscribe(options: {
    readonly after: Position | null;
    readonly signal: AbortSignal;
  }): AsyncGenerator<LogPage> {
    const { after, signal } = options;
    const member = makeMember(after, clock);
    members += 1;
    try {
      for (let page = await next(member, signal); page !== null; page = await next(member, signal)) {
        [member.at, member.atHead] = [page.cursor, page.atHead];
        yield page;
      }
    } finally {
      leave(member);
      members -= 1;
      if (members === 0) onRest?.();
    }
  }

  /** @returns null after the signal aborts @throws the last error of the reads */
  async function next(member: Member, signal: AbortSignal): Promise<LogPage | null> {
    const isOver = (): boolean => signal.aborted;
    taken(member, clock);
    if (member.group === null) await readOfOthers(member, signal);
    while (!isOver()) {
      const met = meet(member);
      if (met !== null) return met;
      const group = join(member, groupAt(member) ?? makeGroup(member.at));
      await unlessAborted((group.advancing ??= advance(group)), signal);
      if (!isOver() && tellsHead(group, member)) return group.page;
    }
    return null;
  }

  /** Waits for a read that runs before the member's position: its page mostly has what follows. Its failure reaches its group. */
  async function readOfOthers(member: Member, signal: AbortSignal): Promise<void> {
    const lower = [...groups].find(({ reading, end }) => reading !== null && !isBefore(member.at, end));
    if (lower?.reading != null) await unlessAborted(lower.reading, signal).catch(() => undefined);
  }

  /** Returns what a page in memory has after the member's position. */
  function meet(member: Member): LogPage | null {
    const group = groupWith(member.at);
    if (group?.page == null) return null;
    join(member, group).pending.add(member);
    return group.after === member.at ? group.page : restOf(group.page, member.at);
  }

  /** After a full last page, a store may learn only from the empty page that this is the end: it is a page too. */
  function tellsHead(group: Group, member: Member): boolean {
    const { page, after, end } = group;
    return (
      page?.atHead === true && after === end && end === member.at && member.group === group && !member.atHead
    );
  }

  /** Returns the group whose page has what follows the position. */
  function groupWith(at: Position | null): Group | undefined {
    return [...groups].find(({ after, end }) => !isBefore(at, after) && isBefore(at, end));
  }

  /**
   * Returns the oldest group that reads from the member's position, and tells it when that is the end of the log. So all
   * groups that rest at one position become one, which polls for all.
   */
  function groupAt(member: Member): Group | undefined {
    const own = member.group?.end === member.at ? member.group : undefined;
    return (
      [...groups].find(({ end, page }) => end === member.at && (page?.atHead !== true || member.atHead)) ??
      own
    );
  }

  function join(member: Member, group: Group): Group {
    if (member.group !== group) leave(member);
    member.group = group;
    group.members.add(member);
    groups.add(group);
    return group;
  }

  function leave(member: Member): void {
    const { group } = member;
    if (group === null) return;
    taken(member, clock);
    group.members.delete(member);
    member.group = null;
    if (group.members.size > 0) return;
    groups.delete(group);
    group.stop.abort('over');
  }

  /** Brings the group to its next page. Its members sleep through the polls that find nothing. */
  async function advance(group: Group): Promise<void> {
    try {
      await untilTaken(group, clock, leave);
      for (let isIdle = true; isIdle;) isIdle = await poll(group);
    } finally {
      group.advancing = null;
    }
  }

  /** @returns whether the group rests at the end of the log */
  async function poll(group: Group): Promise<boolean> {
    if (group.page?.atHead === true) await untilChanged(group);
    // Meanwhile another group may have met this one.
    if (group.members.size === 0 || groupWith(group.end) !== undefined) return false;
    const page = tail.take(group.end) ?? (await readWithRetries(group));
    if (page === null || group.members.size === 0) return false;
    [group.page, group.after, group.end, group.readMs] = [page, group.end, page.cursor, nowMs()];
    if (isBefore(group.after, group.end)) group.pending = new Set(group.members);
    if (isBefore(front, page.cursor)) {
      front = page.cursor;
      // The live events up to it are left out, so those that sleep behind it would wait for the poll.
      resumeAll();
    }
    return rests(group);
  }

  /** Returns whether nothing followed, its members know that, and no older group at the same position polls for them. */
  function rests({ page, after, end, members: own }: Group): boolean {
    const isIdle = page?.atHead === true && after === end && [...own].every(({ atHead }) => atHead);
    const [oldest] = [...groups].filter((group) => group.end === end);
    return isIdle && oldest?.members === own;
  }

  /** Waits at the end of the log for a wake-up, a live event, or the poll. */
  async function untilChanged(group: Group): Promise<void> {
    if (group.wakes === wakes && !tail.isAfter(group.end)) await pause(group, pollMs, sleepers);
    // A change after a quiet time is passed on at once, and further ones together.
    const gatherLeftMs = group.readMs + gatherMs - nowMs();
    if (gatherLeftMs > 0) await pause(group, gatherLeftMs);
  }

  /** Retries while the store is unavailable. @returns null when no member is left @throws the last error */
  async function readWithRetries(group: Group): Promise<LogPage | null> {
    for (let attempt = 0; group.members.size > 0; attempt += 1) {
      group.wakes = wakes;
      try {
        group.stop = new AbortController();
        const reading = readAll({ after: group.end, limit: pageSize, signal: group.stop.signal });
        group.reading = reading;
        const page = await reading;
        onRead?.();
        if (page.atHead) onHead?.();
        return page;
      } catch (error) {
        if (group.members.size === 0) return null;
        if (!(error instanceof StoreUnavailable) || attempt + 1 >= attemptsMax) throw error;
        onRetry?.(error, attempt);
        await pause(group, backoff(attempt, random, { first: 250, cap: 10_000 }));
      } finally {
        group.reading = null;
      }
    }
    return null;
  }

  /** Waits until the time is over, the last member leaves, or one of `sleepers` is resumed. */
  async function pause(group: Group, ms: number, among?: Set<AbortController>): Promise<void> {
    if (group.members.size === 0) return;
    const stop = new AbortController();
    group.stop = stop;
    among?.add(stop);
    // An abort ends the pause, and is no failure.
    await clock.sleep(ms, stop.signal).catch(() => undefined);
    among?.delete(stop);
  }
}

/** Positions of one log sort as bytes. Null is its start. */
function isBefore(one: Position | null, other: Position | null): boolean {
  return (one ?? '') < (other ?? '');
}

/** Returns what a page has after a position. */
function restOf({ events, cursor, atHead }: LogPage, at: Position | null): LogPage {
  return { events: events.filter(({ position }) => at === null || position > at), cursor, atHead };
}
