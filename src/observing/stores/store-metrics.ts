import { Counter, Histogram, type Registry } from 'prom-client';
import { gaugesOf } from '../gauges.js';
import {
  OutcomeUnknown,
  StoreUnavailable,
  StreamDamaged,
  WrongExpectedRevision,
} from '../../event-sourcing/ports/errors.js';
import { type CallEnd, type StoreObserver, storeWrites } from './observed-store.js';
import type { Availability } from './availability.js';
import type { SteadyClock } from '../../kit/time/clock.js';

/** Whether the process can read the log onwards. The end of a log may answer while its records cannot be read. */
export type LogReads = ReturnType<typeof makeLogReads>;

/**
 * A process that follows the log tries again sooner: a call takes 7 s at most, and a back-off 10 s. After this time another
 * process reads the log.
 */
const restMs = 30_000;

export function makeLogReads({
  clock,
  availability,
}: {
  readonly clock: SteadyClock;
  readonly availability: Pick<Availability, 'awaySinceMs' | 'onReturn'>;
}) {
  let failing: { readonly sinceMs: number; readonly lastMs: number } | null = null;
  const forget = (): void => {
    failing = null;
  };
  const current = () => (failing !== null && clock.steadyMs() - failing.lastMs < restMs ? failing : null);
  availability.onReturn(forget);
  return {
    succeeded: forget,
    failed: () => {
      const nowMs = clock.steadyMs();
      failing = { sinceMs: current()?.sinceMs ?? nowMs, lastMs: nowMs };
    },
    /**
     * Returns the time on the steady clock since which every read has failed although the store answers; null after a read that
     * succeeded, before the first one, while the store is away, and in a process that reads the log no more.
     */
    failingSinceMs: (): number | null =>
      availability.awaySinceMs() === null ? (current()?.sinceMs ?? null) : null,
  };
}

type StoreLabel = 'events' | 'read_models' | 'state';

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const stateCalls: ReadonlySet<string> = new Set(['get', 'compareAndSet', 'list']);
/** The largest count of damaged streams. It bounds the memory, and is enough to show that more than one is damaged. */
const damagedMax = 1_000;

/** @param nowMs a clock that is never set back */
export function makeStoreMetrics(nowMs: () => number = () => performance.now()) {
  const appends = new Histogram({
    name: 'stowage_append_duration_seconds',
    help: 'Time of an append to the log, by outcome: appended, conflict, unavailable, unknown or failed.',
    ...{ labelNames: ['outcome'] as const, buckets, registers: [] },
  });
  const conflicts = new Counter({
    name: 'stowage_append_conflicts_total',
    help: 'Appends that another writer of the stream preceded. Most commands decide again and succeed.',
    registers: [],
  });
  const calls = new Histogram({
    name: 'stowage_state_store_call_duration_seconds',
    help: 'Time of a call to the state store, by call and outcome: done, refused, unavailable, unknown or failed.',
    ...{ labelNames: ['call', 'outcome'] as const, buckets, registers: [] },
  });
  const damaged = new Set<string>();
  const pending = { events: 0, read_models: 0, state: 0 };

  return {
    /** Returns the observer of a store. */
    of:
      (store: StoreLabel): StoreObserver =>
      (name) => {
        const startedMs = nowMs();
        const isWrite = storeWrites.has(name);
        if (isWrite) pending[store] += 1;
        return (end) => {
          if (isWrite) pending[store] -= 1;
          if ('error' in end) streamDamaged(end.error);
          note(store, name, outcomeOf(store, end, isWrite), (nowMs() - startedMs) / 1_000);
        };
      },
    /** Notes the damage of a stream that the reader of the log has found. Ignores every other error. */
    streamDamaged,
    register: (registry: Registry) => {
      for (const metric of [appends, conflicts, calls]) registry.registerMetric(metric);
      const gauge = gaugesOf(registry);
      gauge(
        'stowage_damaged_streams',
        `Streams that lack events or were deleted, as this process has found since its start; ${damagedMax} are that many or more.`,
        () => damaged.size,
      );
      gauge(
        'stowage_writes_pending',
        'Writes that wait for their turn or for an answer of the store.',
        () => Object.entries(pending).map(([store, count]) => [{ store }, count]),
        ['store'],
      );
    },
  };

  function note(store: StoreLabel, call: string, outcome: string, seconds: number): void {
    if (call === 'append') {
      appends.observe({ outcome }, seconds);
      if (outcome === 'conflict') conflicts.inc();
    } else if (store === 'state' && stateCalls.has(call)) calls.observe({ call, outcome }, seconds);
  }

  function streamDamaged(error: unknown): void {
    if (error instanceof StreamDamaged && damaged.size < damagedMax) damaged.add(error.stream);
  }
}

function outcomeOf(store: StoreLabel, end: CallEnd, isWrite: boolean): string {
  if ('error' in end) return failureOf(end.error);
  if (store === 'events') return 'appended';
  return isWrite && end.result === null ? 'refused' : 'done';
}

function failureOf(error: unknown): string {
  if (error instanceof WrongExpectedRevision) return 'conflict';
  // An unknown outcome is an unavailable store too.
  if (error instanceof OutcomeUnknown) return 'unknown';
  return error instanceof StoreUnavailable ? 'unavailable' : 'failed';
}
