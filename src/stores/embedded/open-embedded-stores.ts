import { mkdirSync } from 'node:fs';
import type { Clock, Random } from '../../event-sourcing/clock.js';
import { StoreUnavailable } from '../../event-sourcing/errors.js';
import type { EventStore } from '../../event-sourcing/event-store.js';
import type { ReadModelStore } from '../../event-sourcing/read-model-store.js';
import type { StateStore } from '../../event-sourcing/state-store.js';
import type { EmbeddedContext } from './context.js';
import { openConnection } from './database.js';
import { lockDirectory } from './directory-lock.js';
import { makeEmbeddedEventStore, openEventLog } from './event-store.js';
import type { Fault } from './faults.js';
import { openReadModelStore } from './read-model-store.js';
import { openStateStore } from './state-store.js';

export interface EmbeddedStoresOptions {
  /** Made, for this user alone, where there is none. */
  readonly directory: string;
  readonly streamPrefix: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Told when a file cannot be used any more. The message says what to do; the process should end with it. */
  readonly onFatal: (error: Error) => void;
  /** How long a write may take (milliseconds). */
  readonly writeLimitMs?: number;
  /** Tests only. */
  readonly faults?: readonly Fault[];
  /** Tests only: pages of 4 KiB after which the disk of a file counts as full. */
  readonly pageCountMax?: number;
}

export interface EmbeddedStores {
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly stateStore: StateStore;
  readonly sqliteVersion: string;
  /** Settles what is under way, closes the files and gives the directory up. */
  close(): Promise<void>;
}

/**
 * Opens the stores of a data directory; this process is then its only owner. Takes the same time and memory however
 * much the files hold.
 * @throws StoreUnavailable when another process owns the directory or it cannot be used; StoreDamaged. Both messages say what to do.
 */
export async function openEmbeddedStores(options: EmbeddedStoresOptions): Promise<EmbeddedStores> {
  const { directory, streamPrefix, clock, random, onFatal } = options;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StoreUnavailable(`${directory} cannot be made; check the path and its permissions`, {
      cause: error,
    });
  }
  const unlock = lockDirectory(directory);
  let ended = false;
  const context: EmbeddedContext = {
    writeLimitMs: 5_000,
    faults: [],
    ...options,
    onFatal: (error) => {
      if (!ended) onFatal(error);
      ended = true;
    },
  };
  const opening = [openEventLog(context), openReadModelStore(context), openStateStore(context)] as const;
  try {
    const [log, readModelStore, stateStore] = await Promise.all(opening);
    let closed: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      await Promise.all([log.close(), readModelStore.close(), stateStore.close()]);
      unlock();
    };
    return {
      eventStore: makeEmbeddedEventStore({ log, streamPrefix, clock, random }),
      readModelStore,
      stateStore,
      sqliteVersion: sqliteVersion(),
      close: () => (closed ??= close()),
    };
  } catch (error) {
    for (const result of await Promise.allSettled(opening)) {
      if (result.status === 'fulfilled') await result.value.close();
    }
    unlock();
    throw error;
  }
}

function sqliteVersion(): string {
  const connection = openConnection(':memory:');
  const [version] = connection.query<readonly [Buffer]>('SELECT CAST(sqlite_version() AS BLOB)').get() ?? [];
  connection.close();
  return String(version);
}
