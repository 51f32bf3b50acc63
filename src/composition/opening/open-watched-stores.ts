import { makeWakefulSleep } from '../../observing/stores/availability.js';
import { type Config, ConfigProblem } from '../../config/config.js';
import type { Clock, Random } from '../../kit/time/clock.js';
import { loadKeys, readKeySettings } from '../../keys/rings/key-rings.js';
import type { Log } from '../../log.js';
import { checkConnections } from './connections.js';
import { noteAvailability, noteReturned, observeStore } from '../../observing/stores/observed-store.js';
import { makeStoreMetrics } from '../../observing/stores/store-metrics.js';
import { type Stores, openStores } from './open-stores.js';
import { type StoreLinks, distinctLinks, makeStoreLinks, makeNoteRetry } from './store-reports.js';
import { statSync } from 'node:fs';

/** Write permission of the group and of others. */
const othersWrite = 0o022;

/**
 * Refuses a data directory that other users may write: they could replace its files. One that does not exist is made
 * with access for this user alone (src/stores/embedded/README.md#one-owner).
 * @throws ConfigProblem
 */
function requirePrivateDirectory(directory: string): void {
  // Windows reports modes that do not tell who may write.
  if (process.platform === 'win32') return;
  const mode = statSync(directory, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & othersWrite) === 0) return;
  throw new ConfigProblem(
    `other users may write DATA_DIR ${directory} (mode ${(mode & 0o777).toString(8)}), so they could replace its files; ` +
      `run: chmod go-w ${directory}`,
  );
}

/** Choices of the caller about the stores. */
export interface StoreOptions {
  /** Stores that the caller has opened and closes; by default the stores of the configuration. */
  readonly stores?: Stores;
  /** The links whose availability follows the calls of the stores; by default new ones. */
  readonly links?: StoreLinks;
  /** Receives each sentence that is logged about a setting that works and should be another. */
  readonly onWarning?: (sentence: string) => void;
  /** Waits for a server that is away until the signal aborts; by default such a server is an error. */
  readonly waiting?: AbortSignal;
  /** Tests only: the time after which a write to an embedded store ends as unknown. */
  readonly writeLimitMs?: number;
  /** Receives the error that makes an embedded store unusable. */
  readonly onFatal?: (error: Error) => void;
}

/**
 * Opens the configured stores, or takes those of the caller, and lets their calls report whether they answer.
 * @throws ConfigProblem, KeyProblem, StoreUnavailable, StoreDamaged with a sentence that says what to do
 */
export async function openWatchedStores(
  config: Config,
  options: StoreOptions,
  { clock, random, log: { logger } }: { readonly clock: Clock; readonly random: Random; readonly log: Log },
) {
  const { links = makeStoreLinks(config, clock), waiting } = options;
  const onFatal =
    options.onFatal ??
    ((error: Error): void => logger.fatal({ error: error.message }, 'a store cannot be used any more'));
  requirePrivateDirectory(config.dataDirectory);
  if (config.eventStoreDbUrl !== undefined || config.mongoDbUrl !== undefined) {
    // This check reports missing keys at once, even while a server is unavailable.
    loadKeys({ settings: readKeySettings(config.secret), keyFile: config.keysFile ?? null });
  }
  for (const problem of checkConnections(config)) {
    logger.warn({ problem }, 'an insecure or discouraged setting of a connection');
    options.onWarning?.(problem);
  }
  const storeMetrics = makeStoreMetrics();
  const { streamDamaged: onStreamDamaged } = storeMetrics;
  const opened =
    options.stores ??
    (await openStores({
      ...{ config, clock, random, logger, links, onFatal, onStreamDamaged, waiting },
      writeLimitMs: options.writeLimitMs,
    }));
  const availability = {
    eventStore: links.eventStore.availability,
    readModels: links.readModels.availability,
    state: links.state.availability,
  };
  const stores: Stores = {
    ...opened,
    eventStore: observeStore(opened.eventStore, [
      storeMetrics.of('events'),
      noteAvailability(availability.eventStore),
      noteReturned,
    ]),
    readModelStore: observeStore(opened.readModelStore, [
      storeMetrics.of('read_models'),
      noteAvailability(availability.readModels),
      noteReturned,
    ]),
    stateStore: observeStore(opened.stateStore, [
      storeMetrics.of('state'),
      noteAvailability(availability.state),
    ]),
  };
  return {
    stores,
    storeMetrics,
    /** The names of the stores, and whether they answer. */
    links,
    /** Whether each store answers, as the calls of this process show. */
    availability,
    noteRetry: makeNoteRetry(logger, availability),
    /** The sleep of loops that retry: it also ends when a store answers again. */
    sleepUntilRetry: makeWakefulSleep(
      clock,
      distinctLinks(links).map((link) => link.availability),
    ),
    /** Closes the stores, unless the caller has opened them. */
    closeStores: () => (options.stores === undefined ? opened.close() : Promise.resolve()),
  };
}
