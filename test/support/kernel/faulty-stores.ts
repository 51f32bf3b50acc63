import type { Clock, Random } from '../../../src/kit/time/clock.js';
import { OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore, ExpectedRevision } from '../../../src/event-sourcing/ports/event-store.js';
import { makeFeeder } from '../../../src/event-sourcing/feeding/feeder.js';
import type {
  ReadModelStore,
  StoredDocument,
  WriteOutcome,
} from '../../../src/event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { recordsCollection } from '../../../src/event-sourcing/ports/records.js';
import { textOf } from '../clients/service-client.js';

/**
 * The fault of one call: it fails before its effect, fails after it, has its effect later, or has no answer until its
 * time limit.
 */
export type Fault = 'before' | 'after' | 'late' | 'hang';

export interface Fate {
  readonly fault: Fault | null;
  /** The duration of the call in milliseconds. Half of it comes before the effect. */
  readonly delayMs: number;
  /** The time between the failure and a late effect, in milliseconds. */
  readonly lateMs: number;
}

/** Returns the fate of a call by its name, like `append`. */
export type FaultPlan = (operation: string) => Fate;

const callLimitMs = 5_000;
const fine: Fate = { fault: null, delayMs: 0, lateMs: 0 };

export const noFaults: FaultPlan = () => fine;

/** Makes only the n-th call (from 1) fail of those that `matches` accepts. */
export function failNth(
  n: number,
  fault: Fault,
  matches: (operation: string) => boolean = () => true,
): FaultPlan & { readonly calls: () => number } {
  let calls = 0;
  const plan: FaultPlan = (operation) => {
    if (!matches(operation)) return fine;
    calls += 1;
    return calls === n ? { fault, delayMs: 0, lateMs: 700 } : fine;
  };
  return Object.assign(plan, { calls: () => calls });
}

/** Makes calls fail at the given rate. Each takes up to `delayMsMax`. */
export function randomFaults(
  random: Random,
  { rate, delayMsMax }: { readonly rate: number; readonly delayMsMax: number },
): FaultPlan {
  const faults: readonly Fault[] = ['before', 'after', 'late', 'hang'];
  return () => ({
    fault: random() < rate ? (faults[Math.floor(random() * faults.length)] ?? null) : null,
    delayMs: Math.floor(random() * delayMsMax),
    lateMs: Math.floor(random() * 20_000),
  });
}

/** Makes a call with its fate. */
type FaultyCall = <Result>(
  operation: string,
  effect: () => Promise<Result>,
  options?: { readonly unknown?: boolean; readonly signal?: AbortSignal | undefined },
) => Promise<Result>;

/** @param deps.gate awaited before and after each effect, so that a test can pause a process */
function makeFaultyCall(deps: {
  readonly clock: Clock;
  readonly plan: FaultPlan;
  readonly gate?: () => Promise<void>;
}): FaultyCall {
  const { clock, plan, gate = () => Promise.resolve() } = deps;
  return async (operation, effect, { unknown = false, signal } = {}) => {
    const { fault, delayMs, lateMs } = plan(operation);
    const failure = (): StoreUnavailable =>
      unknown
        ? new OutcomeUnknown(`${operation}: no answer`)
        : new StoreUnavailable(`${operation}: no answer`);
    if (delayMs > 0) await clock.sleep(delayMs / 2);
    await gate();
    switch (fault) {
      case 'before':
        throw new StoreUnavailable(`${operation}: refused`);
      case 'hang':
        await clock.sleep(callLimitMs, signal).catch(() => undefined);
        throw failure();
      case 'late':
        void clock.sleep(lateMs).then(effect).catch(ignore);
        throw failure();
      case 'after':
        await effect();
        throw failure();
      case null: {
        const result = await effect();
        if (delayMs > 0) await clock.sleep(delayMs / 2);
        await gate();
        return result;
      }
    }
  };
}

/** No caller is left that could handle the failure of a late effect. */
function ignore(): void {
  // Nothing to do.
}

type Connection = Parameters<typeof makeFaultyCall>[0];

/** Returns the event-store connection of one process. It wakes only on its own commits and polls for the others. */
export function faultyEventStore(
  store: EventStore,
  deps: Connection & { readonly random: Random; readonly pageSize?: number },
): EventStore {
  const { clock, random, pageSize } = deps;
  const call = makeFaultyCall(deps);
  const faulty: EventStore = {
    shortLogMs: store.shortLogMs,
    logId: () => call('logId', () => store.logId()),
    read: (stream, options) => call('read', () => store.read(stream, options)),
    append: async (stream, expected, events) => {
      const appended = await call('append', () => store.append(stream, expected, events), {
        unknown: true,
      });
      feeder.wake();
      return appended;
    },
    readAll: (options) => call('readAll', () => store.readAll(options), { signal: options.signal }),
    head: () => call('head', () => store.head()),
    subscribe: (options) => feeder.subscribe(options),
    close: () => Promise.resolve(),
  };
  const feeder = makeFeeder({
    readAll: (options) => faulty.readAll(options),
    clock,
    random,
    ...(pageSize === undefined ? {} : { pageSize }),
  });
  return faulty;
}

/** Calls for records have names that differ from those for documents. */
function operationOf(operation: string, collection: string): string {
  return collection === recordsCollection ? `${operation} of records` : operation;
}

/** Returns the read-model-store connection of one process. */
export function faultyReadModelStore(store: ReadModelStore, connection: Connection): ReadModelStore {
  const call = makeFaultyCall(connection);
  const { getSelected } = store;
  return {
    ensureCollection: (name, indexes) =>
      call('ensureCollection', () => store.ensureCollection(name, indexes)),
    dropCollection: (name) => call('dropCollection', () => store.dropCollection(name)),
    collections: () => call('collections', () => store.collections()),
    get: (name, id) => call(operationOf('get', name), () => store.get(name, id)),
    getEach: (names) => call('getEach', () => store.getEach(names)),
    getMany: (name, ids) => call(operationOf('getMany', name), () => store.getMany(name, ids)),
    find: (name, query) => call('find', () => store.find(name, query)),
    findInOrder: (name, query) => call('findInOrder', () => store.findInOrder(name, query)),
    ids: (name, query) => call('ids', () => store.ids(name, query)),
    ...(getSelected && { getSelected: (name, query) => call('getSelected', () => getSelected(name, query)) }),
    scan: (name, options) => call('scan', () => store.scan(name, options)),
    write: (name, writes) => call(operationOf('write', name), () => store.write(name, writes)),
    changeToken: (name) => store.changeToken(name),
    close: () => Promise.resolve(),
  };
}

/** Returns the state-store connection of one process. */
export function faultyStateStore(store: StateStore, connection: Connection): StateStore {
  const call = makeFaultyCall(connection);
  return {
    get: (key) => call('get', () => store.get(key)),
    compareAndSet: (key, expected, value, options) =>
      call('compareAndSet', () => store.compareAndSet(key, expected, value, options), { unknown: true }),
    list: (prefix, options) => call('list', () => store.list(prefix, options)),
    ping: () => call('ping', () => store.ping()),
    close: () => Promise.resolve(),
  };
}

export interface Recording {
  readonly store: EventStore;
  /** The first revision that each read of a stream asked for. */
  readonly reads: { readonly stream: string; readonly from: bigint }[];
  readonly appends: { readonly stream: string; readonly expected: ExpectedRevision; readonly atMs: number }[];
}

/** Returns an event store that records its calls. @param nowMs the time to record with each append */
export function recording(store: EventStore, nowMs: () => number): Recording {
  const reads: Recording['reads'] = [];
  const appends: Recording['appends'] = [];
  return {
    reads,
    appends,
    store: {
      ...store,
      read: (stream, options) => {
        reads.push({ stream, from: options?.from ?? 0n });
        return store.read(stream, options);
      },
      append: (stream, expected, events, options) => {
        appends.push({ stream, expected, atMs: nowMs() });
        return store.append(stream, expected, events, options);
      },
    },
  };
}

type Read = <Result>(names: readonly string[], pass: () => Promise<Result>) => Promise<Result>;
type Write = (
  document: StoredDocument,
  pass: () => Promise<readonly WriteOutcome[]>,
) => Promise<readonly WriteOutcome[]>;

export interface RecordHooks {
  /** Runs in place of a read of records, which `pass` does. */
  readonly read?: Read;
  /** Runs in place of a write of a record, which `pass` does. */
  readonly write?: Write;
  /** As `write`, for checkpoints alone. */
  readonly save?: (
    reader: string,
    pass: () => Promise<readonly WriteOutcome[]>,
    position: string,
  ) => Promise<readonly WriteOutcome[]>;
}

/** Returns the store with hooks around its calls for records. */
export function withRecordHooks(store: ReadModelStore, hooks: RecordHooks): ReadModelStore {
  const read: Read = hooks.read ?? ((_names, pass) => pass());
  const write: Write = hooks.write ?? ((_document, pass) => pass());
  return {
    ...store,
    get: (collection, id) =>
      collection === recordsCollection
        ? read([id], () => store.get(collection, id))
        : store.get(collection, id),
    getMany: (collection, ids) =>
      collection === recordsCollection
        ? read(ids, () => store.getMany(collection, ids))
        : store.getMany(collection, ids),
    write: async (collection, writes) => {
      const pass = () => store.write(collection, writes);
      const [first] = writes;
      if (collection !== recordsCollection || first === undefined) return pass();
      const { document } = first;
      const reader = readerOf(document.id);
      if (reader === null || hooks.save === undefined || document.body === null) return write(document, pass);
      return hooks.save(reader, pass, textOf(document.body, 'position'));
    },
  };
}

/** Returns the reader whose checkpoint a record is; null for another record. */
export function readerOf(name: string): string | null {
  return name.startsWith('checkpoint/') ? name.slice('checkpoint/'.length) : null;
}

/** Returns whether a read is one of the registry of generations. */
export function isRegistry(names: readonly string[]): boolean {
  return names.some((name) => name.startsWith('generations/'));
}
