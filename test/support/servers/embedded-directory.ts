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
import { endWriterThread, startWriterThread } from '../../../src/stores/embedded/writing/group-writer.js';
import { openReadModelStore } from '../../../src/stores/embedded/documents/read-model-store.js';
import { openStateStore } from '../../../src/stores/embedded/writing/state-store.js';
import { makeSeededRandom, realClock } from '../fakes/clock.js';

export { givenDirectory, makeDirectory } from '../directories.js';

/** Makes the settings of a file that a test opens alone, with a thread that writes it. A fatal error fails the test. */
export function makeContext(directory: string, overrides: Partial<EmbeddedContext> = {}): EmbeddedContext {
  return { ...makeSettings(directory), thread: startWriterThread(), waits: [], ...overrides };
}

function makeSettings(directory: string): Omit<EmbeddedContext, 'thread' | 'waits'> {
  return {
    directory,
    clock: realClock,
    random: makeSeededRandom(1),
    onFatal: (error) => {
      throw error;
    },
    // The tests do not measure time, and the machine may be busy.
    writeLimitMs: 600_000,
    faults: [],
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

/** Opens only the log. */
export function openLog(directory: string, overrides: Overrides = {}): Promise<EmbeddedLog> {
  return openEmbeddedLog(makeOptions(directory, overrides));
}

/** Opens only read models and state. */
export function openDocuments(directory: string): Promise<EmbeddedDocuments> {
  return openEmbeddedDocuments(makeOptions(directory));
}

/** Opens only the read models, without the lock of the directory. */
export async function openReadModels(directory: string, overrides: Overrides = {}) {
  const { store, close } = await openAlone(openReadModelStore, makeContext(directory, overrides));
  return { readModelStore: store, close };
}

/** Opens only the state, without the lock of the directory. */
export async function openState(directory: string, overrides: Overrides = {}) {
  const { store, close } = await openAlone(openStateStore, makeContext(directory, overrides));
  return { stateStore: store, close };
}

/** Opens one file. Its thread ends when the file is closed or cannot be opened. */
export async function openAlone<Store extends { close(): Promise<void> }>(
  open: (context: EmbeddedContext) => Promise<Store>,
  context: EmbeddedContext,
): Promise<{ readonly store: Store; readonly close: () => Promise<void> }> {
  const endThread = () => endWriterThread(context.thread);
  try {
    const store = await open(context);
    return {
      store,
      close: () => store.close().then(endThread),
    };
  } catch (error) {
    await endThread();
    throw error;
  }
}

function makeOptions(directory: string, overrides: Overrides = {}): EmbeddedStoresOptions {
  return { ...makeSettings(directory), streamPrefix: 'stowage.', ...overrides };
}
