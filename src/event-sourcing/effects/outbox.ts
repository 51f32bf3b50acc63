import { setMaxListeners } from 'node:events';
import { z } from 'zod';
import { makeSemaphore, type Semaphore } from '../../kit/semaphore.js';
import { type Clock, steadyMsOf } from '../../kit/time/clock.js';
import type { StateRecord, StateStore } from '../ports/state-store.js';

/** The fields of every record of the outbox, `outbox/<lane>/…` in the state store. A lane adds others. */
const waitingSchema = z.looseObject({
  /** No attempt before this time. */
  not_before: z.iso.datetime(),
  /** Since when it waits. */
  since: z.iso.datetime(),
  /** The messages of the record; one when left out. */
  pending: z.int().optional(),
});

/** What waits in a lane, as the last look found it. */
export interface LaneFigures {
  readonly records: number;
  readonly pending: number;
  readonly oldestAt: Date | null;
}

/** Records that are delivered in one way. Lanes never wait for each other. */
export interface Lane {
  /** The records have keys `outbox/<name>/…`. */
  readonly name: string;
  readonly atOnceMax: number;
  /** The least time between the beginnings of two attempts. */
  readonly spacingMs: number;
  /** How long running attempts may take after the lane is closed, before the signal cuts them off. */
  readonly graceMs: number;
  /**
   * Delivers what the record at the key names, if it is due, and changes or removes the record.
   * @returns when the record is due again; null: never. Its errors are reported, and the record is tried at the next look
   */
  attempt(key: string, signal: AbortSignal): Promise<Date | null>;
}

/** The durable outbox: one loop delivers the records of all open lanes (src/event-sourcing/effects/README.md#outbox). */
export interface Outbox {
  /** Delivers the records of the lane. @returns a function that closes the lane and waits for its attempts */
  open(lane: Lane): () => Promise<void>;
  /** Attempts a record that was just written. Without it, the next look finds the record. */
  wake(lane: string, key: string): void;
  /** Returns null while the lane is closed. */
  figures(lane: string): LaneFigures | null;
}

interface OpenLane extends Lane {
  readonly semaphore: Semaphore;
  readonly serving: Map<string, Promise<void>>;
  /** Keys that were woken during their attempt. */
  readonly again: Set<string>;
  readonly cutOff: AbortController;
  isClosed: boolean;
  /** The steady time before which no attempt begins. */
  freeAtMs: number;
  figures: LaneFigures;
}

/** Another process may have added a record. */
const lookMs = 5_000;
const lookAgainMs = 250;
/** Looks take a fifth of the time at most: with very many records they are made less often. */
const lookShare = 4;
const pageSize = 200;
const noFigures: LaneFigures = { records: 0, pending: 0, oldestAt: null };

export function makeOutbox(deps: {
  readonly stateStore: Pick<StateStore, 'list'>;
  readonly clock: Clock;
  readonly onRetry: (lane: string, error: unknown) => void;
}): Outbox {
  const { stateStore, clock, onRetry } = deps;
  const lanes = new Map<string, OpenLane>();
  let isRunning = false;
  let waking = new AbortController();
  let closing = new AbortController();
  let nextLookMs = 0;

  return {
    open: (given) => {
      const lane: OpenLane = {
        ...given,
        semaphore: makeSemaphore(given.atOnceMax),
        ...{ serving: new Map(), again: new Set(), cutOff: new AbortController() },
        ...{ isClosed: false, freeAtMs: 0, figures: noFigures },
      };
      // Each attempt listens.
      setMaxListeners(0, lane.cutOff.signal);
      lanes.set(lane.name, lane);
      plan(0);
      if (!isRunning) void run();
      return () => close(lane);
    },
    wake: (name, key) => {
      const lane = lanes.get(name);
      if (lane !== undefined) start(lane, key);
    },
    figures: (name) => lanes.get(name)?.figures ?? null,
  };

  async function run(): Promise<void> {
    isRunning = true;
    while (lanes.size > 0) {
      waking = new AbortController();
      closing = new AbortController();
      const startedMs = steadyMsOf(clock);
      if (clock.now().getTime() >= nextLookMs) {
        nextLookMs = clock.now().getTime() + lookMs;
        for (const lane of lanes.values()) {
          await look(lane).catch((error: unknown) => {
            onRetry(lane.name, error);
          });
        }
      }
      const pauseMs = Math.max(lookAgainMs, (steadyMsOf(clock) - startedMs) * lookShare);
      await rest(pauseMs, closing.signal);
      await rest(nextLookMs - clock.now().getTime(), waking.signal);
    }
    isRunning = false;
  }

  /** Ends early when the signal aborts. */
  async function rest(ms: number, until: AbortSignal): Promise<void> {
    if (ms > 0) await clock.sleep(ms, until).catch(() => undefined);
  }

  /** Brings the next look forward. */
  function plan(atMs: number): void {
    if (atMs >= nextLookMs) return;
    nextLookMs = atMs;
    waking.abort();
  }

  /** Starts the attempts of the lane that are due. */
  async function look(lane: OpenLane): Promise<void> {
    let seen = noFigures;
    for await (const { key, value } of entries(`outbox/${lane.name}/`)) {
      const { not_before, since, pending = 1 } = waitingSchema.parse(value);
      const at = new Date(since);
      seen = {
        records: seen.records + 1,
        pending: seen.pending + pending,
        oldestAt: seen.oldestAt === null || at < seen.oldestAt ? at : seen.oldestAt,
      };
      const dueMs = Date.parse(not_before);
      if (dueMs > clock.now().getTime()) plan(dueMs);
      else start(lane, key);
    }
    lane.figures = seen;
  }

  async function* entries(prefix: string): AsyncGenerator<StateRecord> {
    for (let after: { readonly after?: string } = {}; ;) {
      const page = await stateStore.list(prefix, { limit: pageSize, ...after });
      yield* page;
      const last = page.at(-1);
      if (page.length < pageSize || last === undefined) return;
      after = { after: last.key };
    }
  }

  function start(lane: OpenLane, key: string): void {
    if (lane.isClosed) return;
    if (lane.serving.has(key)) {
      lane.again.add(key);
      return;
    }
    if (lane.serving.size >= 2 * lane.atOnceMax) {
      plan(clock.now().getTime() + lookAgainMs);
      return;
    }
    const work = lane.semaphore
      .run(() => attempt(lane, key))
      .catch((error: unknown) => {
        onRetry(lane.name, error);
      })
      .finally(() => {
        lane.serving.delete(key);
        if (lane.again.delete(key)) start(lane, key);
      });
    lane.serving.set(key, work);
  }

  async function attempt(lane: OpenLane, key: string): Promise<void> {
    const nowMs = steadyMsOf(clock);
    const beginMs = Math.max(nowMs, lane.freeAtMs);
    lane.freeAtMs = beginMs + lane.spacingMs;
    await rest(beginMs - nowMs, lane.cutOff.signal);
    if (lane.isClosed) return;
    // A signal of the lane itself would gather the listeners of all attempts.
    const cut = new AbortController();
    const end = (): void => {
      cut.abort(lane.cutOff.signal.reason);
    };
    lane.cutOff.signal.addEventListener('abort', end, { once: true });
    try {
      const dueAt = await lane.attempt(key, cut.signal);
      if (dueAt !== null) plan(dueAt.getTime());
    } finally {
      lane.cutOff.signal.removeEventListener('abort', end);
    }
  }

  async function close(lane: OpenLane): Promise<void> {
    lane.isClosed = true;
    lanes.delete(lane.name);
    waking.abort();
    closing.abort();
    const ended = new AbortController();
    const cut = (): void => {
      lane.cutOff.abort(new Error('the attempt was cut off, because the process ends'));
    };
    // An abort means that all attempts ended in time.
    clock.sleep(lane.graceMs, ended.signal).then(cut, () => undefined);
    await Promise.all(lane.serving.values());
    ended.abort();
  }
}
