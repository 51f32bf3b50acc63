import type { Availability } from './availability.js';
import type { Clock, Random } from '../../kit/time/clock.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';

/** A store under the name that operators know it by, for example "EventStoreDB at 10.0.0.7:2113". */
export interface StoreLink {
  readonly name: string;
  readonly availability: Availability;
  /** What the server says that it is; null until it does, and for stores that do not say it. */
  server?: { readonly product: string; readonly version: string } | null;
}

/** A change for operators: a store went away, is still away (once a minute), or answers again. */
export interface StoreReport {
  readonly store: string;
  readonly kind: 'away' | 'still-away' | 'back';
  readonly awayMs: number;
  /** The reason of the last call without an answer; null when the store is back. */
  readonly failure: Error | null;
}

/** What the calls of this process show of a store. */
export interface StoreState {
  readonly name: string;
  /** For how long it has not answered; null while it answers, or for less than a second. */
  readonly awayMs: number | null;
  readonly hasAnswered: boolean;
  /** The reason of the last call without an answer; null while the store answers. */
  readonly failure: string | null;
  readonly server: NonNullable<StoreLink['server']> | null;
}

/** Calls the store once. The call itself reports to the availability of the link. */
type Ping = () => Promise<unknown>;

export type StoreWatch = ReturnType<typeof makeStoreWatch>;

/** A store counts as away when it has not answered for this long, so that a lost connection alone is no outage. */
const awayAfterMs = 1_000;
/** Heartbeats and polls use a store at least every 2 s, so an idle process that has them sends no ping. */
const quietMsMax = 3_000;
const remindMs = 60_000;
/** The pause between two looks, with jitter, so that processes do not ping in step. */
const look = { minMs: 250, maxMs: 500 };

/** Watches stores by the calls that the process makes anyway, and pings those that are away or quiet. */
export function makeStoreWatch(deps: {
  readonly links: readonly StoreLink[];
  readonly clock: Clock;
  readonly random: Random;
  readonly onReport: (report: StoreReport) => void;
}) {
  const { clock, random, onReport } = deps;
  const links = deps.links.map((link) => ({ link, pinging: false, reported: null as Reported | null }));
  let pings: ReadonlyMap<StoreLink, Ping> = new Map();

  return {
    /** Sets the pings of the stores when they are open. A link without one is judged by its calls alone. */
    opened: (opened: ReadonlyMap<StoreLink, Ping>) => {
      pings = opened;
    },
    /** Returns the names of the stores that have not answered for a second. */
    away: (): readonly string[] => links.filter(({ link }) => isAway(link)).map(({ link }) => link.name),
    states: (): readonly StoreState[] =>
      links.map(({ link }) => {
        const { name, availability } = link;
        const since = isAway(link) ? availability.awaySinceMs() : null;
        return {
          name,
          awayMs: since === null ? null : nowMs() - since,
          hasAnswered: availability.lastAnswerMs() !== null,
          failure: since === null ? null : reasonOf(availability.failure()),
          server: link.server ?? null,
        };
      }),
    /** Pings and reports until the signal aborts. */
    run: async (signal: AbortSignal) => {
      while (!signal.aborted) {
        for (const watched of links) {
          ping(watched);
          report(watched);
        }
        // An aborted sleep ends the loop.
        await clock.sleep(look.minMs + random() * (look.maxMs - look.minMs), signal).catch(() => undefined);
      }
    },
  };

  function nowMs(): number {
    return clock.steadyMs();
  }

  function isAway({ availability }: StoreLink): boolean {
    const since = availability.awaySinceMs();
    return since !== null && nowMs() - since >= awayAfterMs;
  }

  function ping(watched: (typeof links)[number]): void {
    const { availability } = watched.link;
    const quietMs = nowMs() - (availability.lastAnswerMs() ?? -Infinity);
    const isDue = availability.awaySinceMs() !== null || availability.isSuspect() || quietMs >= quietMsMax;
    if (watched.pinging || !isDue) return;
    const pinged = pings.get(watched.link)?.();
    if (pinged === undefined) return;
    watched.pinging = true;
    const end = (): void => {
      watched.pinging = false;
    };
    pinged.then(end, end);
  }

  function report(watched: (typeof links)[number]): void {
    const { link, reported } = watched;
    const since = link.availability.awaySinceMs();
    const tell = (kind: StoreReport['kind'], sinceMs: number): void => {
      const failure = link.availability.failure();
      onReport({ store: link.name, kind, awayMs: nowMs() - sinceMs, failure });
    };
    if (reported === null) {
      if (since === null || !isAway(link)) return;
      watched.reported = { sinceMs: since, atMs: nowMs() };
      tell('away', since);
    } else if (since === null) {
      watched.reported = null;
      tell('back', reported.sinceMs);
    } else if (nowMs() - reported.atMs >= remindMs) {
      watched.reported = { ...reported, atMs: nowMs() };
      tell('still-away', reported.sinceMs);
    }
  }
}

/** The message of a driver's error may quote a connection string, so only that of ours is shown. */
function reasonOf(failure: Error | null): string {
  if (failure === null) return 'no answer';
  return failure instanceof StoreUnavailable ? failure.message : failure.name;
}

interface Reported {
  readonly sinceMs: number;
  /** When the last line was logged. */
  readonly atMs: number;
}
