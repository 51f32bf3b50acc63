import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../../kit/time/clock.js';
import type { Position } from '../../ports/domain-event.js';
import type { StateRecord, StateStore } from '../../ports/state-store.js';

/** How far this process is with a consumer: a view, a reaction, an endpoint or a task. */
export interface Progress {
  /** Null while this process does not feed the consumer. */
  readonly state: 'running' | 'catching-up' | 'failing' | 'stopped' | null;
  /** For how long the oldest event, or the work, has waited. */
  readonly lagMs: number;
  /** A sentence about the last failure; null without one. */
  readonly problem: string | null;
  /** Of a view the positions up to which its collections contain the log. */
  readonly positions?: Readonly<Record<string, Position>>;
}

/** Storage format of a lease. Another release may add fields. */
const recordSchema = z.object({
  /** The id of the process that feeds. */
  owner: z.string(),
  /** The consumers that it feeds. Those that have stopped in it are left out. */
  feeds: z.array(z.string()),
  /** The position up to which each collection contains the log. */
  positions: z.record(z.string(), z.string()),
  /** For how many milliseconds events have waited, by consumer. Consumers without a lag are left out. */
  lags_ms: z.record(z.string(), z.number()),
});
export type LeaseRecord = z.infer<typeof recordSchema>;

/**
 * The right to feed some consumers, which one process has at a time: src/event-sourcing/feeding/README.md#the-lease. It saves work, and
 * correctness never rests on it: guards, claims and expected revisions let two owners end in the same documents and
 * outcomes. So no process waits for another one before it feeds.
 */
export interface Lease {
  /** An id of this process, which a restart changes. */
  readonly id: string;
  isOwner(): boolean;
  /** Returns the record of the owner; null where no process renews one. */
  record(): LeaseRecord | null;
  /** Returns the record, if another process is the owner. */
  elsewhere(): LeaseRecord | null;
  /** Adds a consumer that this process can feed. */
  add(consumer: string, progress: () => Progress): void;
  /** Notes that a consumer has stopped in this process. A process in which it has not stopped takes the lease over. */
  stopped(consumer: string): void;
  /** Returns the consumers of `add` that the owner does not feed. All of them, where no process renews the record. */
  stalled(): readonly string[];
  /** Returns the progress of each consumer that `add` has named. */
  progress(): ReadonlyMap<string, Progress>;
  /** Calls the listener when this process becomes the owner, or is it no more. @returns a function that removes it */
  onChange(listener: () => void): () => void;
  /** Begins to take the lease when it is free, and to renew it. */
  start(): void;
  /** Gives the lease up, and others take it within 2 s. This process feeds on until its consumers end. Idempotent. */
  stop(): Promise<void>;
}

/** An owner renews its record, and the other processes look at it, this often. */
const renewMs = 2_000;
/** A crash may have left a record that this process never saw change, so it looks more often until it knows. */
const firstLooksMs = 500;
/** A record expires for the sake of cleanliness only, so the clocks of processes may differ by this much. */
const expiresMs = 86_400_000;

export const feederPrefix = 'feeder/';

/** Returns the key of a release. Processes that can feed the same consumers have one lease. */
export function feederKey(consumers: readonly string[]): string {
  const digest = createHash('sha256').update(consumers.toSorted().join('\n')).digest('hex');
  return `${feederPrefix}${digest.slice(0, 32)}`;
}

/**
 * Makes a lease in a state store. While the store does not answer, the owner feeds on.
 * @param deps.keyOf returns the key for the consumers that were added before `start`
 * @param deps.onRetry receives the first error of each series
 */
export function makeLease(deps: {
  readonly id: string;
  readonly keyOf: (consumers: readonly string[]) => string;
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly clock: Clock;
  readonly onRetry: (error: unknown) => void;
}): Lease {
  const { id, stateStore, clock, onRetry } = deps;
  const consumers = makeConsumers(id);
  const stopping = new AbortController();
  let key = '';
  /** The version of the record while this process is the owner. */
  let version: string | null = null;
  let found: LeaseRecord | null = null;
  let seen: Sighting | null = null;
  let running = Promise.resolve();

  let ended: Promise<void> | null = null;
  const isOwner = (): boolean => version !== null;

  return {
    ...consumers,
    isOwner,
    record: () => (isOwner() ? consumers.record() : found),
    stalled: () => consumers.stalled(isOwner() ? null : (found?.feeds ?? [])),
    elsewhere: () => (isOwner() ? null : found),
    start: () => {
      key = deps.keyOf([...consumers.progress().keys()]);
      running = run();
    },
    stop: () => (ended ??= end()),
  };

  async function run(): Promise<void> {
    let failing = false;
    while (!isStopping()) {
      const wasOwner = isOwner();
      try {
        await look();
        failing = false;
      } catch (error) {
        if (!failing) onRetry(error);
        failing = true;
      }
      if (isOwner() !== wasOwner) consumers.changed();
      const isUnknown = !isOwner() && seen?.hasChanged !== true;
      // An abort ends the loop.
      await clock.sleep(isUnknown ? firstLooksMs : renewMs, stopping.signal).catch(() => undefined);
    }
  }

  async function end(): Promise<void> {
    stopping.abort();
    await running;
    // After a failure the others see the record unchanged.
    if (version !== null) await stateStore.compareAndSet(key, version, null).catch(onRetry);
  }

  /** Renews the lease of this process. Else looks at that of another one, and takes it when it is free. */
  async function look(): Promise<void> {
    const startedMs = clock.steadyMs();
    if (version !== null && (await write(version))) return;
    const stored = await stateStore.get(key);
    found = parseLease(stored);
    seen = sight(seen, stored, startedMs);
    // A write without an answer has left a record of this process.
    version = found?.owner === id ? seen.version : null;
    const isFree = seen.version === null || isLeftOver(seen) || hasStoppedThere(found);
    if (!isOwner() && isFree && !isStopping()) await write(seen.version);
  }

  /** @returns whether this process is the owner now */
  async function write(expected: string | null): Promise<boolean> {
    const expiresAt = new Date(clock.now().getTime() + expiresMs);
    const written = await stateStore.compareAndSet(key, expected, consumers.record(), { expiresAt });
    if (written !== null) version = written;
    return written !== null;
  }

  /** Returns whether this process can feed all that the owner feeds, and more. Of two processes only one ever can. */
  function hasStoppedThere(record: LeaseRecord | null): boolean {
    const { feeds } = consumers.record();
    if (record === null || record.feeds.length >= feeds.length) return false;
    return record.feeds.every((consumer) => feeds.includes(consumer));
  }

  function isStopping(): boolean {
    return stopping.signal.aborted;
  }
}

/** Makes the lease of a process that owns its stores alone. It writes no record. */
export function makeSoleLease(id: string): Lease {
  const consumers = makeConsumers(id);
  return {
    ...consumers,
    isOwner: () => true,
    stalled: () => consumers.stalled(null),
    elsewhere: () => null,
    start: () => undefined,
    stop: () => Promise.resolve(),
  };
}

/** The consumers that a process can feed, and those who learn of changes. */
function makeConsumers(id: string) {
  const reporters = new Map<string, () => Progress>();
  const ended = new Set<string>();
  const listeners = new Set<() => void>();
  const progress = (): ReadonlyMap<string, Progress> =>
    new Map([...reporters].map(([consumer, report]) => [consumer, report()]));
  return {
    id,
    progress,
    add: (consumer: string, report: () => Progress): void => {
      reporters.set(consumer, report);
    },
    stopped: (consumer: string): void => {
      ended.add(consumer);
    },
    /** @param feeds what another owner feeds; null: this process is the owner */
    stalled: (feeds: readonly string[] | null): readonly string[] => {
      if (feeds === null) return [...ended];
      const active = new Set(feeds);
      return [...reporters.keys()].filter((consumer) => !active.has(consumer));
    },
    /** Returns what this process writes as the owner. */
    record: (): LeaseRecord => {
      const all = [...progress()];
      const lags = all.map(([consumer, { lagMs }]) => [consumer, Math.round(lagMs)] as const);
      return {
        owner: id,
        feeds: [...reporters.keys()].filter((consumer) => !ended.has(consumer)),
        positions: Object.assign({}, ...all.map(([, { positions }]) => positions)) as Record<string, string>,
        lags_ms: Object.fromEntries(lags.filter(([, lagMs]) => lagMs > 0)),
      };
    },
    onChange: (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    changed: (): void => {
      for (const listener of [...listeners]) listener();
    },
  };
}

/** A record as this process has seen it. Times are those of this process alone. */
export interface Sighting {
  /** Null where there is no record. */
  readonly version: string | null;
  /** The start of the first look with this version, and of the last one. */
  readonly sinceMs: number;
  readonly lookedMs: number;
  /** The count of looks with this version. */
  readonly looks: number;
  /** Whether the record has changed since the first look, so a process has renewed it. */
  readonly hasChanged: boolean;
}

/** An owner that has renewed its record counts as gone when the record was seen unchanged for this long. */
const goneMs = 6_000;
/** A record that never changed may be left over from a crash, so a process that starts does not wait long for it. */
const neverChangedMs = 2_500;
/** After a pause of this process, its first look shows a record that the owner had no time to renew. */
const looksMin = 3;

/** @param startedMs the start of the look: the record is at least as recent */
export function sight(before: Sighting | null, stored: StateRecord | null, startedMs: number): Sighting {
  const version = stored?.version ?? null;
  if (before?.version === version) return { ...before, lookedMs: startedMs, looks: before.looks + 1 };
  return { version, sinceMs: startedMs, lookedMs: startedMs, looks: 1, hasChanged: before !== null };
}

export function isLeftOver({ looks, sinceMs, lookedMs, hasChanged }: Sighting): boolean {
  return looks >= looksMin && lookedMs - sinceMs >= (hasChanged ? goneMs : neverChangedMs);
}

/** Returns null without a record, and for one that another release wrote in another format. */
export function parseLease(stored: StateRecord | null): LeaseRecord | null {
  return recordSchema.safeParse(stored?.value).data ?? null;
}
