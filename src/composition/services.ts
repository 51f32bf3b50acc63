import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { projections } from '../../projections/index.js';
import type { Config } from '../config.js';
import { makeBackground } from '../commands/background.js';
import { makeCountPasswords } from '../commands/count-passwords.js';
import { makeAllowedAddress } from '../integrations/outgoing/allowed-address.js';
import { makeOutgoingHttp } from '../integrations/outgoing/outgoing-http.js';
import { makePaymentProviders, type PaymentProviders } from '../integrations/payments/payment-providers.js';
import type { Clock, Random } from '../event-sourcing/clock.js';
import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { type DocumentWriter, makeDocumentWriter } from '../event-sourcing/document-writer.js';
import { type Generations, makeGenerations } from '../event-sourcing/generations.js';
import { makeCommandHandler } from '../event-sourcing/make-command-handler.js';
import { makeViews } from '../event-sourcing/make-views.js';
import { type Digests, makeDigests } from '../keys/digests.js';
import {
  ensureKeyFile,
  type KeyRings,
  type KeySettings,
  loadKeys,
  makeKeyRings,
  readKeySettings,
} from '../keys/key-rings.js';
import { removeLeftovers } from '../keys/key-file.js';
import { type KeyRotation, makeKeyRotation } from '../keys/key-rotation.js';
import { inBlocks } from '../keys/random-bytes.js';
import { makeAddressChangeCodes, makeLoginCodes } from '../keys/login-codes.js';
import { makeRefreshTokens } from '../keys/refresh-tokens.js';
import { makeSealer, type Sealer } from '../keys/sealer.js';
import { makeShareSessions } from '../keys/share-sessions.js';
import { type Log, makeLog } from '../log.js';
import { type AccessTokens, makeAccessTokens } from '../security/access-tokens.js';
import { type HashPool, makeHashPool } from '../security/hash-pool.js';
import { makePasswords } from '../security/passwords.js';
import { makeSharePasswords, shareQueueMax } from '../security/share-passwords.js';
import type { ScryptParameters } from '../security/scrypt.js';
import { makeCommands, type Commands } from './commands.js';
import { openStores, type Stores } from './open-stores.js';
import { makeReaders, type Readers } from './readers.js';
import { sentenceOf } from './sentence-of.js';
import { systemClock, systemRandom } from './system.js';

/** What a test or a tool may decide instead of the machine. */
export interface ServiceOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
  /** Cost of new password hashes; the production parameters when left out. */
  readonly passwordScrypt?: ScryptParameters;
  /** Where passwords of accounts are hashed; closed with the services. One with two threads when left out. */
  readonly hashPool?: HashPool;
  /** How old the last read of the views' registry may be; as `makeGenerations` says when left out. */
  readonly registry?: { readonly staleAfterMs: number };
  /** Opened by the caller, who also closes them; what the configuration names when left out. */
  readonly stores?: Stores;
  /** The payment platforms; what the configuration names when left out. */
  readonly paymentProviders?: PaymentProviders;
  /** Told when an embedded store cannot be used any more. */
  readonly onFatal?: (error: Error) => void;
}

/** Everything between the stores and whoever asks: HTTP, the command line, reactions. */
export interface Services {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly stores: Stores;
  readonly eventStore: Stores['eventStore'];
  readonly readModelStore: Stores['readModelStore'];
  readonly keyRings: KeyRings;
  readonly keyRotation: KeyRotation;
  readonly sealer: Sealer;
  readonly digests: Digests;
  readonly accessTokens: AccessTokens;
  readonly generations: Generations;
  readonly documentWriter: DocumentWriter;
  readonly handler: CommandHandler;
  readonly readers: Readers;
  readonly commands: Commands;
  /** Ends what `openServices` opened: pending work is settled, files and connections are let go. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the stores and keys that the configuration names and puts the use cases together over them. The views' registry
 * (`generations.start`) and the projectors are the caller's to start.
 * @throws KeyProblem, StoreUnavailable, StoreDamaged with a sentence that says what to do
 */
export async function openServices(config: Config, options: ServiceOptions = {}): Promise<Services> {
  const { clock = systemClock, random = systemRandom, log = makeLog(config.logLevel) } = options;
  const { logger } = log;
  const onFatal =
    options.onFatal ??
    ((error) => {
      logger.fatal({ error: error.message }, 'a store cannot be used any more');
    });
  if (config.eventStoreDbUrl !== undefined || config.mongoDbUrl !== undefined) {
    // Keys that are not set are told of at once, also while a server is away.
    loadKeys({ settings: readKeySettings(config.secret), keyFile: null });
  }
  const stores = options.stores ?? (await openStores({ config, clock, random, logger, onFatal }));
  const closeStores = (): Promise<void> =>
    options.stores === undefined ? stores.close() : Promise.resolve();
  const { eventStore, readModelStore, stateStore } = stores;
  try {
    const keyFile = stores.allEmbedded ? join(config.dataDirectory, 'keys.json') : null;
    const settings = (): KeySettings => readKeySettings(config.secret);
    const keyRings = await openKeyRings({ keyFile, settings, eventStore, clock, log });
    const sealer = makeSealer({
      stateStore,
      masterKeys: keyRings.master,
      clock,
      randomBytes: inBlocks(randomBytes),
    });
    const digests = makeDigests(keyRings.indexKey);
    const accessTokens = makeAccessTokens({
      keys: keyRings.jwt,
      issuer: config.publicUrl,
      clock,
      makeId: randomUUID,
    });
    const generations = makeGenerations({ projections, readModelStore, clock, ...options.registry });
    const documentWriter = makeDocumentWriter({
      generations,
      readModelStore,
      clock,
      onFailure: (error) => {
        logger.warn(
          { error: sentenceOf(error) },
          'documents were not written through; the projector follows',
        );
      },
    });
    const handler = makeCommandHandler({ eventStore, documentWriter, clock, random });
    const keyRotation = makeKeyRotation({
      keyRings,
      keyFile,
      settings,
      sealer,
      countPasswords: makeCountPasswords({ eventStore, handler, sealer }),
      clock,
      randomBytes,
      onChange: (change, ring, kid) => {
        logger.info({ ring, kid }, `a key was ${change}`);
      },
    });
    const readers = makeReaders(makeViews({ generations, readModelStore, eventStore }), sealer, config);
    const scryptParameters = parametersOf(options);
    const pool = hashPoolOf(options);
    const passwords = makePasswords({
      peppers: keyRings.pepper,
      pool,
      randomBytes,
      ...scryptParameters,
    });
    const sharePool = makeHashPool({ queue: shareQueueMax });
    const sharePasswords = makeSharePasswords({
      peppers: keyRings.pepper,
      pool: sharePool,
      randomBytes,
      ...scryptParameters,
    });
    const refreshTokens = makeRefreshTokens(keyRings.refresh);
    const onFailure = (what: string, error: unknown): void => {
      logger.warn({ error: error instanceof Error ? error.name : typeof error }, what);
    };
    const background = makeBackground({ onFailure });
    const paymentProviders: PaymentProviders = options.paymentProviders ?? openPaymentProviders(config, log);
    const commands = makeCommands({
      config,
      clock,
      handler,
      stateStore,
      randomBytes,
      readers,
      sealer,
      digests,
      passwords,
      sharePasswords,
      shareSessions: makeShareSessions(keyRings.refresh),
      accessTokens,
      refreshTokens,
      loginCodes: makeLoginCodes(keyRings.code),
      addressChangeCodes: makeAddressChangeCodes(keyRings.code),
      background,
      onFailure,
      paymentProviders,
      onRefused: (provider, reason) => {
        logger.warn({ provider, reason }, 'a payment callback was not taken');
      },
      onConflict: (callback) => {
        logger.error({ callback }, 'a payment callback came back with other content, which is not applied');
      },
    });
    return {
      config,
      clock,
      random,
      log,
      stores,
      eventStore,
      readModelStore,
      keyRings,
      keyRotation,
      sealer,
      digests,
      accessTokens,
      generations,
      documentWriter,
      handler,
      readers,
      commands,
      close: async () => {
        await background.settled();
        await pool.close();
        await sharePool.close();
        await closeStores();
        await log.flush();
      },
    };
  } catch (error) {
    await closeStores();
    throw error;
  }
}

function parametersOf({ passwordScrypt }: ServiceOptions): { readonly parameters?: ScryptParameters } {
  return passwordScrypt === undefined ? {} : { parameters: passwordScrypt };
}

function hashPoolOf({ hashPool }: ServiceOptions): HashPool {
  return hashPool ?? makeHashPool();
}

function openPaymentProviders(config: Config, { logger }: Log): PaymentProviders {
  return makePaymentProviders(config.payments(), {
    // Certificates are fetched from public hosts only.
    http: makeOutgoingHttp({ isAllowed: makeAllowedAddress([]) }),
    report: (problem) => {
      logger.error({ problem }, 'the keys of a payment platform were not read anew');
    },
  });
}

/** Embedded stores have a key file of their own; several processes over one store must be given their keys. */
async function openKeyRings({
  keyFile,
  settings,
  eventStore,
  clock,
  log,
}: {
  /** Of the directory that this process owns; null where there is none. */
  readonly keyFile: string | null;
  readonly settings: () => KeySettings;
  readonly eventStore: Stores['eventStore'];
  readonly clock: Clock;
  readonly log: Log;
}): Promise<KeyRings> {
  if (keyFile !== null) {
    removeLeftovers(keyFile);
    const hasData = (await eventStore.head()) !== null;
    ensureKeyFile({ path: keyFile, settings: settings(), hasData, randomBytes });
  }
  return makeKeyRings({
    load: () => loadKeys({ settings: settings(), keyFile }),
    clock,
    onProblem: (problem) => {
      log.logger.error({ problem }, 'the keys were not read anew');
    },
  });
}
