import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import {
  OutcomeUnknown,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../event-sourcing/ports/errors.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { makeDamagedStreams } from '../damaged-streams.js';

/** Measures the calls of the stores. The command line opens stores too, so a service registers the metrics separately. */
export interface StoreMetrics {
  readonly events: (store: EventStore) => EventStore;
  readonly readModels: (store: ReadModelStore) => ReadModelStore;
  readonly state: (store: StateStore) => StateStore;
  /** Notes the damage of a stream that the reader of the log has found. */
  readonly streamDamaged: (error: Error) => void;
  register(registry: Registry): void;
}

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const stateCalls = ['get', 'compareAndSet', 'list'] as const;
const readModelWrites = ['write'] as const;

/** @param nowMs a clock that is never set back */
export function makeStoreMetrics(nowMs: () => number = () => performance.now()): StoreMetrics {
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
  const damagedStreams = makeDamagedStreams();
  const pending = { events: 0, read_models: 0, state: 0 };
  const writes = new Gauge({
    name: 'stowage_writes_pending',
    help: 'Writes that wait for their turn or for an answer of the store.',
    labelNames: ['store'],
    registers: [],
    collect() {
      for (const [store, count] of Object.entries(pending)) this.set({ store }, count);
    },
  });

  return {
    events: (store) => ({
      ...store,
      read: (...call) => noted(store.read(...call)),
      append: (stream, expected, events, options) => {
        const call = () => noted(store.append(stream, expected, events, options));
        // The store answers an append of no event by itself.
        if (events.length === 0) return call();
        return timed(call, {
          store: 'events',
          outcomeOf: () => 'appended',
          note: (outcome, seconds) => {
            appends.observe({ outcome }, seconds);
            if (outcome === 'conflict') conflicts.inc();
          },
        });
      },
    }),
    readModels: (store) =>
      replaced(
        store,
        readModelWrites,
        (_, call) =>
          (...args) =>
            write('read_models', () => call(...args)),
      ),
    state: (store) =>
      replaced(store, stateCalls, (name, call) => (...args) => {
        const work = () => call(...args);
        const isWrite = name === 'compareAndSet';
        return timed(work, {
          store: isWrite ? 'state' : null,
          outcomeOf: (result) => (isWrite && result === null ? 'refused' : 'done'),
          note: (outcome, seconds) => {
            calls.observe({ call: name, outcome }, seconds);
          },
        });
      }),
    streamDamaged: damagedStreams.note,
    register: (registry) => {
      damagedStreams.register(registry);
      for (const metric of [appends, conflicts, calls, writes]) registry.registerMetric(metric);
    },
  };

  /** Notes a damaged stream beside the call, so its caller waits for no further promise. */
  function noted<Result>(result: Promise<Result>): Promise<Result> {
    result.catch(damagedStreams.note);
    return result;
  }

  async function write<Result>(store: keyof typeof pending, work: () => Promise<Result>): Promise<Result> {
    pending[store] += 1;
    try {
      return await work();
    } finally {
      pending[store] -= 1;
    }
  }

  async function timed<Result>(
    work: () => Promise<Result>,
    {
      store,
      outcomeOf,
      note,
    }: {
      /** The store where the work counts as a pending write; null for a read. */
      readonly store: keyof typeof pending | null;
      readonly outcomeOf: (result: Result) => string;
      readonly note: (outcome: string, seconds: number) => void;
    },
  ): Promise<Result> {
    const startedMs = nowMs();
    const seconds = () => (nowMs() - startedMs) / 1_000;
    if (store !== null) pending[store] += 1;
    try {
      const result = await work();
      note(outcomeOf(result), seconds());
      return result;
    } catch (error) {
      note(failureOf(error), seconds());
      throw error;
    } finally {
      if (store !== null) pending[store] -= 1;
    }
  }
}

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/** Returns the store with some of its calls replaced. */
function replaced<Store extends object, Name extends string & keyof Store>(
  store: Store,
  names: readonly Name[],
  replace: (name: Name, call: Call) => Call,
): Store {
  const calls = names.map((name) => [name, replace(name, store[name] as Call)] as const);
  return { ...store, ...Object.fromEntries(calls) };
}

function failureOf(error: unknown): string {
  if (error instanceof WrongExpectedRevision) return 'conflict';
  // An unknown outcome is an unavailable store too.
  if (error instanceof OutcomeUnknown) return 'unknown';
  return error instanceof StoreUnavailable ? 'unavailable' : 'failed';
}
