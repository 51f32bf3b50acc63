import type { Logger } from 'pino';
import { type Config, ConfigProblem } from '../config.js';
import type { Clock, Random } from '../event-sourcing/clock.js';
import type { EventStore } from '../event-sourcing/event-store.js';
import type { ReadModelStore } from '../event-sourcing/read-model-store.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import {
  openEmbeddedDocuments,
  openEmbeddedLog,
  openEmbeddedStores,
} from '../stores/embedded/open-embedded-stores.js';
import { eventStoreDbProblems } from '../stores/eventstoredb/connection-string.js';

export interface Stores {
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly stateStore: StateStore;
  /** Whether this process alone owns all of the data; then it may make its own keys. */
  readonly allEmbedded: boolean;
  /** Settles what is under way and lets go of files and connections. */
  close(): Promise<void>;
}

/**
 * Opens the stores that the configuration names: EventStoreDB or embedded for the log, MongoDB or embedded for read
 * models and state.
 * @param onFatal told when an embedded store cannot be used any more; the process should end with the message
 * @throws ConfigProblem, StoreUnavailable, StoreDamaged with a sentence that says what to do
 */
export async function openStores(deps: {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly onFatal: (error: Error) => void;
}): Promise<Stores> {
  const { config, clock, random, logger, onFatal } = deps;
  const { eventStoreDbUrl, mongoDbUrl, streamPrefix, dataDirectory: directory } = config;
  const embedded = { directory, streamPrefix, clock, random, onFatal };
  if (mongoDbUrl === undefined && eventStoreDbUrl === undefined) {
    const stores = await openEmbeddedStores(embedded);
    logger.info({ directory, sqlite: stores.sqliteVersion }, 'embedded stores opened');
    return { ...stores, allEmbedded: true };
  }
  const log =
    eventStoreDbUrl === undefined ? await openEmbeddedLog(embedded) : await openServerLog(eventStoreDbUrl);
  try {
    return together(log, await openOtherDocuments());
  } catch (error) {
    await log.close();
    throw error;
  }

  async function openOtherDocuments(): Promise<Documents> {
    if (mongoDbUrl === undefined) return openEmbeddedDocuments(embedded);
    const { openMongoDbStores } = await import('../stores/mongodb/open-mongodb-stores.js');
    const documents = await openMongoDbStores({ url: mongoDbUrl, clock, random });
    logger.info({ topology: documents.topology }, 'connected to MongoDB');
    return documents;
  }

  async function openServerLog(url: string): Promise<Log> {
    // Drivers of servers take a third of the start: they are loaded where they are used.
    const { openEventStoreDb } = await import('../stores/eventstoredb/event-store.js');
    const policy = {
      debug: config.debug,
      production: config.production,
      allowInsecureNetwork: config.eventStoreDbAllowInsecure,
    };
    const problems = eventStoreDbProblems(url, policy);
    if (problems.length > 0) {
      throw new ConfigProblem(problems.map((problem) => `EVENTSTOREDB_URL ${problem}`).join('\n'));
    }
    const eventStore = openEventStoreDb({
      url,
      policy,
      streamPrefix,
      clock,
      random,
      onRetry: (error, attempt) => {
        logger.warn({ error: error.message, attempt }, 'the log could not be read; trying again');
      },
      onSubscriptionLost: (reason) => {
        logger.debug({ reason }, 'the live subscription ended; subscribing again');
      },
    });
    return { eventStore, close: () => eventStore.close() };
  }
}

interface Log {
  readonly eventStore: EventStore;
  close(): Promise<void>;
}

interface Documents {
  readonly readModelStore: ReadModelStore;
  readonly stateStore: StateStore;
  close(): Promise<void>;
}

function together(log: Log, documents: Documents): Stores {
  return {
    eventStore: log.eventStore,
    readModelStore: documents.readModelStore,
    stateStore: documents.stateStore,
    allEmbedded: false,
    close: async () => {
      await log.close();
      await documents.close();
    },
  };
}
