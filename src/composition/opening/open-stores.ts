import type { Logger } from 'pino';
import { makeWakefulSleep } from '../../observing/stores/availability.js';
import type { Config } from '../../config/config.js';
import { backoff, type Clock, type Random } from '../../kit/time/clock.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import {
  openEmbeddedDocuments,
  openEmbeddedLog,
  openEmbeddedStores,
} from '../../stores/embedded/open-embedded-stores.js';
import { eventStoreDbPolicy } from './connections.js';
import { type StoreLinks, distinctLinks } from './store-reports.js';

export interface Stores {
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly stateStore: StateStore;
  /** Whether this process alone owns all of the data and may make its keys. */
  readonly allEmbedded: boolean;
  /** Returns for how long the oldest write to embedded stores has waited; left out where all stores are servers. */
  readonly writesWaitMs?: (() => number) | undefined;
  /** See `EmbeddedDocuments`; left out where the documents are on a server. */
  readonly forgetDocuments?: () => void;
  /** Waits for pending work, then closes files and connections. */
  close(): Promise<void>;
}

/** The first wait for a server is noted after this time; the opening itself goes on. */
const noteWaitAfterMs = 2_000;
const again = { first: 250, cap: 5_000 };

/**
 * Opens the configured stores: EventStoreDB or embedded for the log, MongoDB or embedded for read models and state.
 * @param deps.links receive what the opening and the reads of the log show
 * @param deps.onFatal receives the error that makes a store unusable, for example another log than before; the process
 * should end with its message
 * @param deps.onStreamDamaged receives the damage of one stream that the reader of the log has found
 * @param deps.waiting waits for a server that is away until the signal aborts; without it such a server is an error
 * @throws StoreUnavailable, StoreDamaged
 */
export async function openStores(deps: {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly links: StoreLinks;
  readonly onFatal: (error: Error) => void;
  readonly onStreamDamaged: (error: Error) => void;
  readonly waiting?: AbortSignal | undefined;
  readonly writeLimitMs?: number | undefined;
}): Promise<Stores> {
  const { config, clock, random, logger, links, onFatal, onStreamDamaged, waiting, writeLimitMs } = deps;
  const { eventStoreDbUrl, mongoDbUrl, streamPrefix, dataDirectory: directory } = config;
  const embedded = {
    ...{ directory, streamPrefix, clock, random, onFatal },
    ...(writeLimitMs === undefined ? {} : { writeLimitMs }),
  };
  if (mongoDbUrl === undefined && eventStoreDbUrl === undefined) {
    const stores = await openEmbeddedStores(embedded);
    logger.info({ directory, sqlite: stores.sqliteVersion }, 'embedded stores opened');
    return { ...stores, allEmbedded: true };
  }
  const failed = new AbortController();
  const until = waiting === undefined ? undefined : AbortSignal.any([waiting, failed.signal]);
  const openingLog =
    eventStoreDbUrl === undefined ? openEmbeddedLog(embedded) : openServerLog(eventStoreDbUrl);
  // A server that is away keeps no defect of the log from the operator.
  openingLog.catch(() => failed.abort());
  // Side by side, because each server takes several round trips and the drivers take time to load.
  const [log, documents] = await Promise.allSettled([
    openingLog,
    mongoDbUrl === undefined ? openEmbeddedDocuments(embedded) : openServerDocuments(mongoDbUrl),
  ]);
  if (log.status === 'fulfilled' && documents.status === 'fulfilled') {
    return joinStores(log.value, documents.value);
  }
  let failure: unknown;
  for (const opened of [documents, log]) {
    if (opened.status === 'fulfilled') await opened.value.close();
    else failure = opened.reason;
  }
  throw failure;

  async function openServerDocuments(url: string): Promise<Documents> {
    const onWarning = (sentence: string): void => logger.warn(sentence);
    const { isUnreachable, openMongoDbStores } = await import('../../stores/mongodb/open-mongodb-stores.js');
    const { availability } = links.state;
    const noted = new AbortController();
    clock.sleep(noteWaitAfterMs, noted.signal).then(
      () => availability.unanswered(),
      () => undefined,
    );
    try {
      for (let attempt = 0; ; attempt += 1) {
        try {
          const documents = await openMongoDbStores({ url, clock, random, onWarning });
          availability.answered();
          logger.info({ topology: documents.topology }, 'connected to MongoDB');
          return documents;
        } catch (error) {
          if (!(error instanceof Error) || !isUnreachable(error) || until === undefined) throw error;
          availability.unanswered(error);
          await clock.sleep(backoff(attempt, random, again), until).catch(() => undefined);
          if (until.aborted) throw error;
        }
      }
    } finally {
      noted.abort();
    }
  }

  async function openServerLog(url: string): Promise<Log> {
    // The drivers of servers take a third of the start-up time, so they load only when they are needed.
    const { openEventStoreDb } = await import('../../stores/eventstoredb/event-store.js');
    const { availability, reads } = links.eventStore;
    const eventStore = openEventStoreDb({
      url,
      policy: eventStoreDbPolicy(config),
      streamPrefix,
      clock,
      random,
      readerSleep: makeWakefulSleep(
        clock,
        distinctLinks(links).map((link) => link.availability),
      ),
      onRead: () => {
        reads.succeeded();
        availability.answered();
      },
      onRetry: (error, attempt) => {
        reads.failed();
        // Other reads may succeed, so this is no proof that the server is away.
        availability.suspect();
        logger.debug({ error: error.message, attempt }, 'the log could not be read; trying again');
      },
      onFatal,
      onServer: (server) => {
        links.eventStore.server = server;
      },
      onStreamDamaged: (error) => {
        logger.error({ error: error.message }, 'a stream is damaged');
        onStreamDamaged(error);
      },
      onSubscriptionLost: (reason) => {
        logger.debug({ reason }, 'the live subscription ended; subscribing again');
      },
    });
    return { eventStore, close: () => eventStore.close() };
  }
}

interface Log extends Pick<Stores, 'writesWaitMs'> {
  readonly eventStore: EventStore;
  close(): Promise<void>;
}

interface Documents extends Pick<Stores, 'writesWaitMs'> {
  readonly readModelStore: ReadModelStore;
  readonly stateStore: StateStore;
  close(): Promise<void>;
}

function joinStores(log: Log, documents: Documents): Stores {
  return {
    eventStore: log.eventStore,
    readModelStore: documents.readModelStore,
    stateStore: documents.stateStore,
    allEmbedded: false,
    writesWaitMs: log.writesWaitMs ?? documents.writesWaitMs,
    close: async () => {
      await log.close();
      await documents.close();
    },
  };
}
