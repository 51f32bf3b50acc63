import type { ExecutionContext } from 'ava';
import type { EmbeddedContext } from '../../../src/stores/embedded/files/open-file.js';
import {
  type EmbeddedDocuments,
  type EmbeddedLog,
  type EmbeddedStores,
  type EmbeddedStoresOptions,
  openEmbeddedDocuments,
  openEmbeddedLog,
  openEmbeddedStores,
} from '../../../src/stores/embedded/open-embedded-stores.js';
import { openReadModelStore } from '../../../src/stores/embedded/documents/read-model-store.js';
import { openStateStore } from '../../../src/stores/embedded/writing/state-store.js';
import { makeSeededRandom, realClock } from '../fakes/clock.js';

export { givenDirectory, makeDirectory } from '../directories.js';

/** Makes the options of the stores of a directory. A fatal error fails the test. */
export function makeContext(directory: string, overrides: Partial<EmbeddedContext> = {}): EmbeddedContext {
  return {
    directory,
    clock: realClock,
    random: makeSeededRandom(1),
    onFatal: (error) => {
      throw error;
    },
    // The tests do not measure time, and the machine may be busy.
    writeLimitMs: 600_000,
    stateEnd: new BigInt64Array(new SharedArrayBuffer(8)),
    waits: [],
    faults: [],
    ...overrides,
  };
}

type Overrides = Partial<EmbeddedStoresOptions>;

/** Opens the stores of a directory as the service does. */
export function openStores(directory: string, overrides: Overrides = {}): Promise<EmbeddedStores> {
  return openEmbeddedStores(makeOptions(directory, overrides));
}

/** Opens the stores of a directory for services of a test, after which they close. */
export async function givenSharedStores(t: ExecutionContext, directory: string, overrides: Overrides = {}) {
  const stores = { ...(await openStores(directory, overrides)), allEmbedded: true };
  t.teardown(() => stores.close());
  return stores;
}

/** Opens only the log. Each open file has a thread, and starting one costs more CPU than most tests. */
export function openLog(directory: string, overrides: Overrides = {}): Promise<EmbeddedLog> {
  return openEmbeddedLog(makeOptions(directory, overrides));
}

/** Opens only read models and state. */
export function openDocuments(directory: string): Promise<EmbeddedDocuments> {
  return openEmbeddedDocuments(makeOptions(directory));
}

/** Opens only the read models, without the lock of the directory. */
export async function openReadModels(directory: string, overrides: Overrides = {}) {
  const readModelStore = await openReadModelStore(makeContext(directory, overrides));
  return { readModelStore, close: () => readModelStore.close() };
}

/** Opens only the state, without the lock of the directory. */
export async function openState(directory: string, overrides: Overrides = {}) {
  const stateStore = await openStateStore(makeContext(directory, overrides));
  return { stateStore, close: () => stateStore.close() };
}

function makeOptions(directory: string, overrides: Overrides = {}): EmbeddedStoresOptions {
  return { ...makeContext(directory), streamPrefix: 'stowage.', ...overrides };
}
