import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { StoreDamaged, StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import type { EmbeddedContext } from './files/open-file.js';
import { openConnection } from './files/database.js';
import { lockDirectory, replayManifest, unfinishedRestore, watchLock } from './files/directory-lock.js';
import { makeEmbeddedEventStore, openEventLog } from './log/event-store.js';
import { openReadModelStore } from './documents/read-model-store.js';
import { openStateStore } from './writing/state-store.js';
import { endWriterThread, startWriterThread } from './writing/group-writer.js';

/** The data directory is created with access for this user only when it does not exist. */
export interface EmbeddedStoresOptions
  extends
    Omit<EmbeddedContext, 'thread' | 'waits' | 'writeLimitMs' | 'faults'>,
    Partial<Pick<EmbeddedContext, 'writeLimitMs' | 'faults'>> {
  readonly streamPrefix: string;
}

interface Opened {
  readonly sqliteVersion: string;
  /** Returns for how long the oldest write to any of the files has waited, in milliseconds: long on a frozen disk. */
  readonly writesWaitMs: () => number;
  /** Settles pending requests, closes the files and releases the directory. Idempotent. */
  close(): Promise<void>;
}

export interface EmbeddedLog extends Opened {
  readonly eventStore: EventStore;
}

export interface EmbeddedDocuments extends Opened {
  readonly readModelStore: ReadModelStore;
  readonly stateStore: StateStore;
  /** Forgets the documents that this process remembers: its threads have written them. */
  readonly forgetDocuments: () => void;
}

export type EmbeddedStores = EmbeddedLog & EmbeddedDocuments;

/**
 * Makes this process the only owner of a data directory and opens its stores, in time and memory that do not depend on
 * the size of the files. @throws StoreUnavailable when the directory has an owner or cannot be used; StoreDamaged
 */
export function openEmbeddedStores(options: EmbeddedStoresOptions): Promise<EmbeddedStores> {
  return openOwned(options, async (owned) => {
    const [log, { documents, stateEnd }] = await Promise.all([openLog(owned, options), openDocuments(owned)]);
    assertStateFits(log.stateEnd, stateEnd);
    return { eventStore: log.eventStore, ...documents };
  });
}

/** Opens only the log, for a service that keeps read models and state elsewhere. @throws as `openEmbeddedStores` */
export function openEmbeddedLog(options: EmbeddedStoresOptions): Promise<EmbeddedLog> {
  return openOwned(options, async (owned) => {
    const { eventStore } = await openLog(owned, options);
    return { eventStore };
  });
}

/** Opens only read models and state, for a service that keeps the log elsewhere. @throws as `openEmbeddedStores` */
export function openEmbeddedDocuments(options: EmbeddedStoresOptions): Promise<EmbeddedDocuments> {
  return openOwned(options, async (owned) => (await openDocuments(owned)).documents);
}

interface Closable {
  close(): Promise<void>;
}

/** A directory that this process owns, and the files in it that are being opened. */
interface Owned {
  readonly context: EmbeddedContext;
  /** Registers a file to be closed with the directory, even when another file cannot be opened. */
  readonly hold: <File extends Closable>(opening: Promise<File>) => Promise<File>;
}

async function openLog(
  { context, hold }: Owned,
  { streamPrefix, clock, random }: EmbeddedStoresOptions,
): Promise<Pick<EmbeddedLog, 'eventStore'> & { readonly stateEnd: number }> {
  const log = await hold(openEventLog(context));
  const eventStore = makeEmbeddedEventStore({ log, streamPrefix, clock, random });
  return { eventStore, stateEnd: log.stateEnd };
}

/** @throws StoreDamaged when state.db ends before the version that the log has noted */
function assertStateFits(noted: number, reached: number): void {
  if (reached >= noted) return;
  throw new StoreDamaged(
    `state.db is ${reached === 0 ? 'missing or empty' : 'older than events.db'}: it ends at ${reached}, and events.db was ` +
      `written when it had reached ${noted}. Restore events.db and state.db from one backup. Without the missing data ` +
      'keys, accounts, storages and shares cannot be used',
  );
}

async function openDocuments({ context, hold }: Owned): Promise<{
  readonly documents: Omit<EmbeddedDocuments, keyof Opened>;
  readonly stateEnd: number;
}> {
  const [{ forget: forgetDocuments, ...readModelStore }, { end: stateEnd, ...stateStore }] =
    await Promise.all([hold(openReadModelStore(context)), hold(openStateStore(context))]);
  return { documents: { readModelStore, stateStore, forgetDocuments }, stateEnd };
}

async function openOwned<Stores>(
  options: EmbeddedStoresOptions,
  open: (owned: Owned) => Promise<Stores>,
): Promise<Stores & Opened> {
  const { directory, onFatal } = options;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StoreUnavailable(`${directory} cannot be made; check the path and its permissions`, {
      cause: error,
    });
  }
  const unlock = lockDirectory(directory);
  if (existsSync(join(directory, unfinishedRestore))) {
    unlock();
    throw new StoreDamaged(
      `${directory} holds a part of a backup: \`stowage restore\` did not end there. Run it again, with the same folder`,
    );
  }
  if (existsSync(join(directory, replayManifest))) {
    unlock();
    throw new StoreDamaged(
      `${directory} holds a replay (${replayManifest}), which is for reading: a service would change it. Set DATA_DIR to ` +
        'the directory of the service',
    );
  }
  let reported = false;
  const context: EmbeddedContext = {
    writeLimitMs: 4_500,
    thread: startWriterThread(),
    faults: [],
    waits: [],
    ...options,
    onFatal: (error) => {
      if (!reported) onFatal(error);
      reported = true;
    },
  };
  const unwatch = watchLock(directory, context.onFatal);
  const files: Promise<Closable>[] = [];
  const owned: Owned = {
    context,
    hold: (opening) => {
      files.push(opening);
      return opening;
    },
  };
  const closeAll = async (): Promise<void> => {
    const opened = (await Promise.allSettled(files)).filter((file) => file.status === 'fulfilled');
    await Promise.all(opened.map(({ value }) => value.close()));
    await endWriterThread(context.thread);
    unwatch();
    unlock();
  };
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= closeAll());
  try {
    const writesWaitMs = (): number => Math.max(0, ...context.waits.map((waitedMs) => waitedMs()));
    return { ...(await open(owned)), sqliteVersion: sqliteVersion(), writesWaitMs, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function sqliteVersion(): string {
  const connection = openConnection(':memory:');
  const [version] = connection.query<readonly [Buffer]>('SELECT CAST(sqlite_version() AS BLOB)').get() ?? [];
  connection.close();
  return String(version);
}
