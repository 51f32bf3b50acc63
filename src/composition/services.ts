import { randomBytes, randomUUID } from 'node:crypto';
import { allViews } from '../../projections/index.js';
import type { Config } from '../config/config.js';
import { makeBackground } from '../kit/background.js';
import { makeCountPasswords } from '../areas/shares/commands/count-passwords.js';
import { makeStorageUrls } from '../areas/storages/bucket/signing/media-urls.js';
import type { OutgoingOptions } from '../outgoing/outgoing-http.js';
import { openPayments, type PaymentOptions } from './opening/open-payments.js';
import type { Clock, Random } from '../kit/time/clock.js';
import { hasEvents } from '../event-sourcing/feeding/read-log.js';
import { makeDocumentWriter } from '../event-sourcing/views/document-writer.js';
import { makeViews, makeViewLags } from '../event-sourcing/views/views.js';
import { makeGenerations } from '../event-sourcing/views/generations/generations.js';
import { defaultAppendLimits, embeddedAppendLimits } from '../event-sourcing/deciding/append-durably.js';
import { makeCommandHandler } from '../event-sourcing/deciding/make-command-handler.js';
import { inBlocks, makeDigests } from '../keys/sealing/digests.js';
import { makeKeyCanaries } from '../keys/rings/key-canaries.js';
import { makeKeyRotation } from '../keys/rings/key-rotation.js';
import { makeMailedCodes } from '../keys/codes/login-codes.js';
import { makeDeviceTokens, makePlaylistTokens, makeShareSessions } from '../keys/codes/mac-tokens.js';
import { makePasskeyChallenges } from '../keys/codes/passkey-challenges.js';
import { makeRefreshTokens } from '../keys/codes/refresh-tokens.js';
import { makeSealer } from '../keys/sealing/sealer.js';
import { type Log, makeLog } from '../log.js';
import { makeOutbox } from '../event-sourcing/effects/outbox.js';
import { makeNodeCheckMetrics } from '../observing/work-metrics.js';
import { makeAccessTokens } from '../security/tokens/access-tokens.js';
import { guessing } from '../security/guessing/guessing.js';
import { makeHashPool, type MeasuredHashPool } from '../security/passwords/hash-pool.js';
import { limitsFrom } from '../security/rates/limits.js';
import { makeCheckPassword } from '../security/passwords/password-rules.js';
import { makePasswords, sharePasswordScrypt } from '../security/passwords/passwords.js';
import type { ScryptParameters } from '../security/passwords/scrypt.js';
import { makeCommands } from '../areas/commands.js';
import { checkKeys, followKeys, openAgentSecrets, openKeys } from './opening/open-keys.js';
import { openAudit } from './tasks/audit.js';
import { openLeases } from './tasks/leases.js';
import { openMailer, openMails, openWebhooks } from './opening/open-messages.js';
import { openWatchedStores, type StoreOptions } from './opening/open-watched-stores.js';
import { makeOpenStorage } from '../areas/storages/commands/open-storage.js';
import { makeReaders } from '../../projections/readers.js';
import { makeStorageCalls } from './opening/storage-http.js';
import { systemClock, systemRandom } from './system.js';

/** Choices that a test or a tool makes instead of the machine. */
interface ServiceOptions extends StoreOptions, PaymentOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
  /** Cost of new password hashes; the production parameters by default. */
  readonly passwordScrypt?: ScryptParameters;
  /** The pool that hashes passwords of accounts, closed with the services; by default a pool with two threads. */
  readonly hashPool?: MeasuredHashPool;
  /** The largest age of the last read of the views' registry; by default the value of `makeGenerations`. */
  readonly registry?: { readonly staleAfterMs: number };
  readonly outgoing?: OutgoingOptions;
}

export type Services = Awaited<ReturnType<typeof openServices>>;

/**
 * Opens stores and keys and builds the commands. The caller starts `generations` and the projectors.
 * @throws KeyProblem, StoreUnavailable, StoreDamaged with a sentence that says what to do
 */
export async function openServices(config: Config, options: ServiceOptions = {}) {
  const { clock = systemClock, random = systemRandom, log = makeLog(config.logLevel) } = options;
  const { logger } = log;
  const watched = await openWatchedStores(config, options, { clock, random, log });
  const { closeStores, ...opened } = watched;
  const { stores, noteRetry, sleepUntilRetry } = opened;
  const { eventStore, readModelStore, stateStore } = stores;
  try {
    let onReload = (_: boolean): void => undefined;
    const { keyRings, keyFile, settings } = await openKeys({
      ...{ config, stores, clock, log },
      onReload: (changed) => onReload(changed),
    });
    const agentSecrets = openAgentSecrets({ config, clock, log });
    const sealer = makeSealer({
      stateStore,
      masterKeys: keyRings.master,
      clock,
      randomBytes: inBlocks(randomBytes),
    });
    const digests = makeDigests(keyRings.indexKey);
    const refreshTokens = makeRefreshTokens(keyRings.refresh);
    const keyCanaries = makeKeyCanaries({
      ...{ stateStore, keys: keyRings, randomBytes },
      logId: () => eventStore.logId(),
      countByMasterKey: () => sealer.countByMasterKey(),
      hasEvents: () => hasEvents(eventStore),
    });
    await checkKeys(keyCanaries, { sleep: sleepUntilRetry, random, waiting: options.waiting });
    const audit = await openAudit({
      ...{ config, stores, clock, random, log, noteRetry, sleepUntilRetry, keyFile },
      keys: keyRings.audit,
    });
    const accessTokens = makeAccessTokens({
      keys: keyRings.jwt,
      issuer: config.publicUrl,
      clock,
      makeId: randomUUID,
    });
    const generations = makeGenerations({
      projections: allViews,
      readModelStore,
      clock,
      ...options.registry,
    });
    const documentWriter = makeDocumentWriter({
      generations,
      readModelStore,
      clock,
      onFailure: (error) => {
        noteRetry('the documents of a command were not written; the projector will write them', error);
      },
    });
    const appendLimits = config.eventStoreDbUrl === undefined ? embeddedAppendLimits : defaultAppendLimits;
    const handler = makeCommandHandler({ eventStore, documentWriter, clock, random, appendLimits });
    const keyRotation = makeKeyRotation({
      keyRings,
      keyFile,
      settings,
      sealer,
      countPasswords: makeCountPasswords({ eventStore, handler, sealer }),
      clock,
      randomBytes,
      onChange: (change, ring, kid) => logger.info({ ring, kid }, `a key was ${change}`),
    });
    const stale = new Set<string>();
    const viewLags = makeViewLags();
    const readers = makeReaders(makeViews({ generations, readModelStore, eventStore, stale }), sealer, {
      ...{ ...config, clock, stateStore },
    });
    const scryptParameters = parametersOf(options);
    const pool = options.hashPool ?? makeHashPool();
    const passwords = makePasswords({
      peppers: keyRings.pepper,
      pool,
      randomBytes,
      ...scryptParameters,
    });
    const sharePool = makeHashPool(guessing.sharePassword.pool);
    const sharePasswords = makePasswords({
      peppers: keyRings.pepper,
      pool: sharePool,
      randomBytes,
      parameters: sharePasswordScrypt,
      ...scryptParameters,
    });
    const onFailure = (what: string, error: unknown): void => {
      logger.warn({ error: error instanceof Error ? error.name : typeof error }, what);
    };
    const background = makeBackground({ onFailure });
    const keysFollowed = followKeys(keyCanaries, { background, log });
    onReload = keysFollowed.reloaded;
    const nodeCheckMetrics = makeNodeCheckMetrics();
    const outbox = makeOutbox({
      ...{ stateStore, clock },
      onRetry: (lane, error) => {
        noteRetry('a message of the outbox waits; it is tried again', error, { lane });
      },
    });
    const mailer = openMailer(config, log);
    const mails =
      mailer === null
        ? null
        : openMails({ config, outbox, stateStore, mailer, clock, random, log, noteRetry });
    const commands = makeCommands({
      ...config,
      clock,
      handler,
      stateStore,
      viewLags,
      randomBytes,
      ...readers,
      sealer,
      digests,
      passwords,
      sharePasswords,
      shareSessions: makeShareSessions(keyRings.refresh),
      playlistTokens: makePlaylistTokens(keyRings.refresh),
      accessTokens,
      refreshTokens,
      deviceTokens: makeDeviceTokens(keyRings.refresh),
      ...makeMailedCodes(keyRings.code),
      passkeyChallenges: makePasskeyChallenges(keyRings.code, inBlocks(randomBytes)),
      background,
      onFailure,
      checkPassword: makeCheckPassword(config.passwordExtraChecks),
      invitationLimits: limitsFrom(config.limits),
      shareMailLimits: limitsFrom(config.limits),
      verificationLimits: limitsFrom(config.limits),
      openStorage: makeOpenStorage({ handler, sealer, makeUrls: makeStorageUrls }),
      ...makeStorageCalls(config.storageAllowedCidrs, options.outgoing, clock),
      ...openPayments(config, options, { log, clock }),
      cannotMail: async (address) => mailer !== null && (await mailer.lacksFor(address)),
      onChecked: nodeCheckMetrics.counted,
      onRefused: (provider, reason) => logger.warn({ provider, reason }, 'a payment callback was not taken'),
      onConflict: (callback) => {
        logger.error({ callback }, 'a payment callback came back with other content, which is not applied');
      },
    });
    return {
      config,
      clock,
      random,
      log,
      ...opened,
      hashPools: { accounts: pool, shares: sharePool },
      nodeCheckMetrics,
      eventStore,
      readModelStore,
      keyRings,
      agentSecrets,
      keyRotation,
      /** Keeps the canaries of the keys in step with the rings. */
      keysFollowed,
      sealer,
      digests,
      accessTokens,
      generations,
      /** The collections that lack the newest events for lack of room: src/event-sourcing/views/README.md#a-full-disk. */
      stale,
      viewLags,
      leases: openLeases({ config, stateStore, clock, noteRetry }),
      documentWriter,
      audit,
      webhooks: openWebhooks({ config, eventStore, stateStore, clock, outgoing: options.outgoing }),
      handler,
      readers,
      outbox,
      /** Null: mail is not configured. */
      mails,
      commands,
      /** Closes everything that `openServices` opened: waits for pending work, then closes files and connections. */
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
