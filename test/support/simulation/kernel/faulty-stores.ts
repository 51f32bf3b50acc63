import type { Random } from '../../../../src/kit/time/clock.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { makeFeeder } from '../../../../src/event-sourcing/feeding/feeder.js';
import type { ReadModelStore } from '../../../../src/event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../../../src/event-sourcing/ports/state-store.js';
import { makeFaultyCall } from './faults.js';
import { recordsCollection } from '../../../../src/event-sourcing/ports/records.js';

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
    read: (stream, options) => call('read', () => store.read(stream, options), { signal: options?.signal }),
    append: async (stream, expected, events, options) => {
      const appended = await call('append', () => store.append(stream, expected, events), {
        unknown: true,
        signal: options?.signal,
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
