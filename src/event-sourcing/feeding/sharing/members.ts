import { z } from 'zod';
import type { Clock } from '../../../kit/time/clock.js';
import type { Position } from '../../ports/domain-event.js';
import type { StateRecord, StateStore } from '../../ports/state-store.js';
import { makeElapsed } from '../../../kit/time/elapsed.js';
import { makePicture, type Member, type Picture } from './picture.js';
import { afterList, isLive, type Sightings } from './sightings.js';

/**
 * The processes that share the feeding of views and reactions: docs/design.md#sharing. Sharing saves work, and correctness
 * never rests on it: guards, claims and expected revisions let two processes feed one part and end in the same documents
 * and outcomes. So no process waits for another one before it feeds, and a stale picture costs work alone.
 */
export interface Members extends Picture {
  /**
   * Sets the position that this process awaits in the checkpoints of views that others feed: they save checkpoints that have
   * passed it. Null when it awaits none.
   */
  awaits(goal: Position | null): void;
  /** Lists the processes now. @throws StoreUnavailable */
  refresh(): Promise<void>;
  /** Joins the others. @throws StoreUnavailable */
  start(): Promise<void>;
  /** Leaves the others, which take the parts over within 2 s. Idempotent. */
  stop(): Promise<void>;
}

const prefix = 'process/';
const renewMs = 2_000;
/** A timer may fire a little early. */
const timerSlackMs = 250;
/** Processes that start together see one another soon, and see soon that records change, so they do little work twice. */
const joiningListMs = 500;
const joiningRenewMs = 1_000;
const joiningMs = 3_000;
/** The list leaves out expired records by the clock of its process, so clocks may differ by this much. */
const expiresMs = 600_000;
const membersMax = 1_000;

/** Storage format of `process/<id>`. Another release may add fields. */
const recordSchema = z.object({
  parts: z.array(z.string()),
  feeds: z.array(z.string()),
  goal: z.string().nullable(),
  lags_ms: z.record(z.string(), z.number()),
});

/**
 * Makes the members that have a state store in common: each renews its record every 2 s, and lists the records of all.
 * While the state store does not answer, a process keeps its last picture and goes on feeding.
 * @param deps.onRetry receives the first error of each series
 */
export function makeMembers(deps: {
  readonly id: string;
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet' | 'list'>;
  readonly clock: Clock;
  readonly onRetry: (error: unknown) => void;
}): Members {
  const { id, stateStore, clock, onRetry } = deps;
  const key = `${prefix}${id}`;
  const picture = makePicture(id);
  const elapsedMs = makeElapsed(clock);
  const stopping = new AbortController();
  let sightings: Sightings = new Map();
  let version: string | null = null;
  let renewedAtMs = -Infinity;
  let isGoalNew = false;
  let failing = false;
  let loop: Promise<void> = Promise.resolve();
  let waking = new AbortController();

  return {
    ...picture,
    awaits: (goal) => {
      if (picture.self().goal === goal) return;
      picture.awaits(goal);
      // No process waits to learn that a goal is reached.
      if (goal === null) return;
      isGoalNew = true;
      waking.abort();
    },
    refresh: list,
    start: async () => {
      // In this order: of two processes that start at once, at least one sees the other before it feeds.
      await renew();
      await list();
      loop = run(elapsedMs());
    },
    stop: async () => {
      stopping.abort();
      waking.abort();
      await loop;
      const last = version;
      version = null;
      // After a failure the others see the record unchanged, and it expires.
      if (last !== null) await stateStore.compareAndSet(key, last, null).catch(onRetry);
    },
  };

  async function run(startedMs: number): Promise<void> {
    while (!isStopping()) {
      const isJoining = elapsedMs() - startedMs < joiningMs;
      // A new goal and the stop end the sleep.
      await clock.sleep(isJoining ? joiningListMs : renewMs, waking.signal).catch(() => undefined);
      if (isStopping()) return;
      if (waking.signal.aborted) waking = new AbortController();
      const dueMs = (isJoining ? joiningRenewMs : renewMs) - timerSlackMs;
      const isDue = isGoalNew || elapsedMs() - renewedAtMs >= dueMs;
      const outcomes = await Promise.allSettled([list(), isDue ? renew() : undefined]);
      const failed = outcomes.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected' && !failing) onRetry(failed.reason);
      failing = failed !== undefined;
    }
  }

  function isStopping(): boolean {
    return stopping.signal.aborted;
  }

  async function list(): Promise<void> {
    const startedMs = elapsedMs();
    const records = await stateStore.list(prefix, { limit: membersMax });
    sightings = afterList(sightings, records, startedMs);
    const live = [...sightings.values()].filter((sighting) => isLive(sighting, startedMs));
    picture.see(live.flatMap(({ record }) => (record.key === key ? [] : parse(record))));
  }

  async function renew(): Promise<void> {
    const startedMs = elapsedMs();
    const { parts, feeds, goal, lagsMs } = picture.self();
    isGoalNew = false;
    const value = {
      parts: [...parts],
      feeds: [...feeds],
      goal,
      lags_ms: { ...lagsMs },
    };
    const renewed = await stateStore.compareAndSet(key, version, value, {
      expiresAt: new Date(clock.now().getTime() + expiresMs),
    });
    // A refusal means that the record has expired, or that a write without an answer has changed it.
    version = renewed ?? (await stateStore.get(key))?.version ?? null;
    if (renewed !== null) renewedAtMs = startedMs;
  }
}

/** Makes the member of a process that owns its stores alone. It feeds every part and writes no record. */
export function makeSoleMember(id: string): Members {
  const nothing = (): Promise<void> => Promise.resolve();
  return { ...makePicture(id), refresh: nothing, start: nothing, stop: nothing };
}

/** Parses a record; returns none when another release wrote it in another format. */
function parse({ key, value }: StateRecord): readonly Member[] {
  const parsed = recordSchema.safeParse(value);
  if (!parsed.success) return [];
  const { lags_ms: lagsMs, ...rest } = parsed.data;
  return [{ id: key.slice(prefix.length), ...rest, lagsMs }];
}
