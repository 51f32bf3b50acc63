import { recordsOf } from '../ports/state-store.js';
import { setMaxListeners } from 'node:events';
import { z } from 'zod';
import { makeSemaphore, type Semaphore } from '../../kit/semaphore.js';
import type { Clock } from '../../kit/time/clock.js';
import type { StateStore } from '../ports/state-store.js';

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
  /** Attempts at once, at most: at records that were just written, and at those that a look finds. */
  readonly atOnce: Readonly<Record<Way, number>>;
  /** The least time between the beginnings of two attempts. */
  readonly spacingMs: number;
  /** The longest wait of a record. What has to wait for twice as long was written while a clock was ahead, and is due. */
  readonly longestMs: number;
  /** How long running attempts may take after the lane is closed, before the signal cuts them off. */
  readonly graceMs: number;
  /**
   * Delivers what the record at the key names, if it is due, and changes or removes the record.
   * @returns when the record is due again; null: never. Its errors are reported, and the record is tried at the next look
   */
  attempt(key: string, signal: AbortSignal): Promise<Date | null>;
}

/** The durable outbox: one loop delivers the records of all open lanes (src/event-sourcing/effects/README.md#outbox). */
export type Outbox = ReturnType<typeof makeOutbox>;

/** Returns the wait until a record of the lane is due; 0 when it is. */
export function untilDueMs(
  { not_before }: { readonly not_before: string },
  { longestMs }: Pick<Lane, 'longestMs'>,
  now: Date,
): number {
  const waitMs = Date.parse(not_before) - now.getTime();
  return waitMs > 2 * longestMs ? 0 : Math.max(0, waitMs);
}

/** How an attempt begins. New records do not wait behind those whose attempts fail or hang. */
type Way = 'written' | 'found';

interface OpenLane extends Lane {
  readonly semaphores: Readonly<Record<Way, Semaphore>>;
  readonly serving: Map<string, Promise<void>>;
  /** Keys that were woken during their attempt, or are due at its end. */
  readonly again: Set<string>;
  readonly cutOff: AbortController;
  isClosed: boolean;
  /** Records are due that no attempt waits for. */
  isBehind: boolean;
  /** The steady time before which no attempt begins. */
  freeAtMs: number;
  /** The steady time of the next look. */
  lookAtMs: number;
  figures: LaneFigures;
}

/** Another process may have added a record. */
const lookMs = 5_000;
const lookAgainMs = 250;
/** Looks take a fifth of the time at most: with very many records they are made less often. */
const lookShare = 4;
/** Records that wait in memory for their attempt, at most. The others wait for a look. */
const waitingMax: Readonly<Record<Way, number>> = { written: 32, found: 200 };
const noFigures: LaneFigures = { records: 0, pending: 0, oldestAt: null };

export function makeOutbox(deps: {
  readonly stateStore: Pick<StateStore, 'list'>;
  readonly clock: Clock;
  readonly onRetry: (lane: string, error: unknown) => void;
}) {
  const { stateStore, clock, onRetry } = deps;
  const lanes = new Map<string, OpenLane>();
  let isRunning = false;
  let waking = new AbortController();
  let closing = new AbortController();

  return {
    /** Delivers the records of the lane. @returns a function that closes the lane and waits for its attempts */
    open: (given: Lane): (() => Promise<void>) => {
      const { written, found } = given.atOnce;
      const lane: OpenLane = {
        ...given,
        semaphores: { written: makeSemaphore(written), found: makeSemaphore(found) },
        ...{ serving: new Map(), again: new Set(), cutOff: new AbortController() },
        ...{ isClosed: false, isBehind: false, freeAtMs: 0, lookAtMs: 0, figures: noFigures },
      };
      // Each attempt listens.
      setMaxListeners(0, lane.cutOff.signal);
      lanes.set(lane.name, lane);
      waking.abort();
      if (!isRunning) void run();
      return () => close(lane);
    },
    /** Attempts a record that was just written. Without it, the next look finds the record. */
    wake: (name: string, key: string) => {
      const lane = lanes.get(name);
      if (lane !== undefined) start(lane, key, 'written');
    },
    /** Returns null while the lane is closed. */
    figures: (name: string): LaneFigures | null => lanes.get(name)?.figures ?? null,
  };

  async function run(): Promise<void> {
    isRunning = true;
    while (lanes.size > 0) {
      waking = new AbortController();
      closing = new AbortController();
      const atMs = Math.min(...[...lanes.values()].map(({ lookAtMs }) => lookAtMs));
      // A lane was opened or closed, or wants an earlier look.
      if (!(await rest(atMs - clock.steadyMs(), waking.signal))) continue;
      const startedMs = clock.steadyMs();
      for (const lane of lanes.values()) {
        if (lane.lookAtMs > Math.max(atMs, startedMs)) continue;
        lane.lookAtMs = startedMs + lookMs;
        await look(lane).catch((error: unknown) => onRetry(lane.name, error));
      }
      await rest(Math.max(lookAgainMs, (clock.steadyMs() - startedMs) * lookShare), closing.signal);
    }
    isRunning = false;
  }

  /** @returns false when the signal ended it */
  async function rest(ms: number, until: AbortSignal): Promise<boolean> {
    if (ms > 0) await clock.sleep(ms, until).catch(() => undefined);
    return !until.aborted;
  }

  /** Brings the next look forward. */
  function plan(lane: OpenLane, inMs: number): void {
    const atMs = clock.steadyMs() + inMs;
    if (atMs >= lane.lookAtMs) return;
    lane.lookAtMs = atMs;
    waking.abort();
  }

  /** Starts the attempts of the lane that are due, the longest due first. */
  async function look(lane: OpenLane): Promise<void> {
    lane.isBehind = false;
    let seen = noFigures;
    const due: { readonly key: string; readonly dueMs: number }[] = [];
    for await (const { key, value } of recordsOf(stateStore, `outbox/${lane.name}/`)) {
      const { not_before, since, pending = 1 } = waitingSchema.parse(value);
      const at = new Date(since);
      seen = {
        records: seen.records + 1,
        pending: seen.pending + pending,
        oldestAt: seen.oldestAt === null || at < seen.oldestAt ? at : seen.oldestAt,
      };
      const inMs = untilDueMs({ not_before }, lane, clock.now());
      if (inMs > 0) plan(lane, inMs);
      else if (!lane.serving.has(key)) due.push({ key, dueMs: Date.parse(not_before) });
      if (due.length >= 2 * waitingMax.found) keepFirst(lane, due);
    }
    lane.figures = seen;
    keepFirst(lane, due);
    for (const { key } of due) start(lane, key, 'found');
  }

  function keepFirst(lane: OpenLane, due: { readonly dueMs: number }[]): void {
    due.sort((one, other) => one.dueMs - other.dueMs);
    if (due.splice(waitingMax.found).length > 0) lane.isBehind = true;
  }

  function start(lane: OpenLane, key: string, way: Way): void {
    if (lane.isClosed) return;
    if (lane.serving.has(key)) {
      lane.again.add(key);
      return;
    }
    const semaphore = lane.semaphores[way];
    if (semaphore.waiting() >= waitingMax[way]) {
      lane.isBehind = true;
      return;
    }
    const work = semaphore
      .run(() => attempt(lane, key))
      .catch((error: unknown) => onRetry(lane.name, error))
      .finally(() => {
        lane.serving.delete(key);
        if (lane.again.delete(key)) start(lane, key, way);
        if (lane.isBehind && lane.semaphores.found.waiting() === 0) plan(lane, 0);
      });
    lane.serving.set(key, work);
  }

  async function attempt(lane: OpenLane, key: string): Promise<void> {
    const nowMs = clock.steadyMs();
    const beginMs = Math.max(nowMs, lane.freeAtMs);
    lane.freeAtMs = beginMs + lane.spacingMs;
    await rest(beginMs - nowMs, lane.cutOff.signal);
    if (lane.isClosed) return;
    // A signal of the lane itself would gather the listeners of all attempts.
    const cut = new AbortController();
    const end = (): void => cut.abort(lane.cutOff.signal.reason);
    lane.cutOff.signal.addEventListener('abort', end, { once: true });
    try {
      const dueAt = await lane.attempt(key, cut.signal);
      if (dueAt === null) return;
      const inMs = dueAt.getTime() - clock.now().getTime();
      if (inMs > 0) plan(lane, inMs);
      else lane.again.add(key);
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
    const cut = (): void => lane.cutOff.abort(new Error('the attempt was cut off, because the process ends'));
    // An abort means that all attempts ended in time.
    clock.sleep(lane.graceMs, ended.signal).then(cut, () => undefined);
    await Promise.all(lane.serving.values());
    ended.abort();
  }
}
