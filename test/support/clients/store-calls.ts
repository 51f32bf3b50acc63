import { setTimeout as delay } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';

import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { wholeFold } from './document-writes.js';
import { eventually } from '../eventually.js';
import {
  getRecord,
  getRecords,
  listRecords,
  loadCheckpoint,
  loadCheckpoints,
  putRecord,
  removeRecord,
  makeSaveCheckpoint,
} from '../../../src/event-sourcing/ports/records.js';

/** The milliseconds that a call may exceed its limit; a call that hangs exceeds it by far more. */
export const slackMs = 2000;

interface Stores {
  readonly readModelStore: ReadModelStore;
  readonly stateStore: StateStore;
}

/** Returns every read of both ports, by name. */
export function readCalls({ readModelStore, stateStore }: Stores): Record<string, () => Promise<unknown>> {
  return {
    get: async () => readModelStore.get('v', 'a'),
    getEach: async () => readModelStore.getEach([{ collection: 'v', id: 'a' }]),
    'getEach of two': async () =>
      readModelStore.getEach([
        { collection: 'v', id: 'a' },
        { collection: 'w', id: 'b' },
      ]),
    getMany: async () => readModelStore.getMany('v', ['a', 'b']),
    find: async () => readModelStore.find('v', { where: { field: 'x', equals: 'y' }, limit: 5 }),
    findInOrder: async () => readModelStore.findInOrder('v', { orderBy: 'x', limit: 5 }),
    ids: async () => readModelStore.ids('v', { where: { field: 'x', equals: 'y' }, limit: 5 }),
    scan: async () => readModelStore.scan('v', { limit: 5 }),
    loadCheckpoint: async () => loadCheckpoint(readModelStore, 'v'),
    loadCheckpoints: async () => loadCheckpoints(readModelStore, ['v']),
    getRecord: async () => getRecord(readModelStore, 'r'),
    getRecords: async () => getRecords(readModelStore, ['r']),
    listRecords: async () => listRecords(readModelStore, 'r'),
    collections: async () => readModelStore.collections(),
    'state get': async () => stateStore.get('k/1'),
    'state list': async () => stateStore.list('k/', { limit: 5 }),
    'state ping': async () => stateStore.ping(),
  };
}

/** Returns every write of both ports, by name. */
export function writeCalls({ readModelStore, stateStore }: Stores): Record<string, () => Promise<unknown>> {
  return {
    write: async () => readModelStore.write('v', [wholeFold('a', 1n, {}), wholeFold('b', 1n, null)]),
    saveCheckpoint: async () => makeSaveCheckpoint(readModelStore, 'v')({ logId: 'log', position: '1' }),
    putRecord: async () => putRecord(readModelStore, 'r', {}, null),
    removeRecord: async () => removeRecord(readModelStore, 'r', 1n),
    ensureCollection: async () => readModelStore.ensureCollection('v', ['x']),
    dropCollection: async () => readModelStore.dropCollection('v'),
    'state compareAndSet': async () => stateStore.compareAndSet('k/1', null, 1),
    'state compareAndSet over a version': async () => stateStore.compareAndSet('k/1', 'v1', 1),
    'state removal': async () => stateStore.compareAndSet('k/1', 'v1', null),
  };
}

/** Runs the calls at once. Asserts that each fails as unavailable within its limit. Returns the errors by name. */
export async function allUnavailableWithin(
  t: ExecutionContext,
  ms: number,
  calls: Record<string, () => Promise<unknown>>,
): Promise<Record<string, StoreUnavailable>> {
  const errors = await Promise.all(
    Object.entries(calls).map(async ([name, call]) => {
      const startedMs = performance.now();
      // A busy machine runs timers late, including this one. A call that ends before the timer was in time.
      const isLate = delay(ms + slackMs, true, { ref: false });
      const called = call();
      const wasLate = await Promise.race([isLate, called.then(inTime, inTime)]);
      const error = await t.throwsAsync(called, { instanceOf: StoreUnavailable }, name);
      t.false(wasLate, `${name} took ${Math.round(performance.now() - startedMs)} of ${ms} ms`);
      return [name, error] as const;
    }),
  );
  return Object.fromEntries(errors);
}

const inTime = (): boolean => false;

/** Repeats a call that a busy machine has not answered in time. The call must return something. */
export function untilAvailable<Result>(call: () => Promise<Result>) {
  const answer = () =>
    call().catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return null;
      throw error;
    });
  return eventually('the store answers', answer, { at: untilAvailable });
}

/** Returns the result of a call, or `unavailable`. */
export async function orUnavailable<T>(call: Promise<T>): Promise<T | 'unavailable'> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof StoreUnavailable) return 'unavailable';
    throw error;
  }
}
