import { setTimeout as delay } from 'node:timers/promises';

import { MongoClient, MongoError, MongoServerError, type Document } from 'mongodb';
import { z } from 'zod';

import type { Clock, Random } from '../../kit/time/clock.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import type { ReadModelStore } from '../../event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { type Attempt, makeAttempts, makePrimaryCheck } from './calls/attempts.js';
import { makeCalls } from './calls/calls.js';
import { makeDatabaseCommands, type DatabaseCommands } from './calls/commands.js';
import { connectionLimits, type ConnectionLimits, driverWaits, withReplyLimit } from './connection-string.js';
import { classify } from './calls/failures.js';
import { defaultMongoDbLimits, type MongoDbLimits } from './calls/limits.js';
import { makeMongoDbReadModelStore } from './documents/read-model-store.js';
import { ensureExpiry, makeMongoDbStateStore, stateCollection } from './state-store.js';

export interface MongoDbStores {
  readonly readModelStore: ReadModelStore;
  readonly stateStore: StateStore;
  /** The kind of the server that answered, for the log. */
  readonly topology: 'standalone' | 'replica set' | 'sharded cluster';
  /** Closes both stores; `close` of either store does the same. Idempotent. */
  readonly close: () => Promise<void>;
}

const unreachable = 'the server that MONGODB_URL names cannot be reached; check that it runs and the address';

/** Tells whether the opening failed because no server answered, so that a later attempt may succeed. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.message.includes(unreachable);
}

/**
 * Connects to MongoDB 4.4 or newer; the database is that of the URL, or `stowage`. Overrides the URL's settings of
 * durability and retries; a limit of the URL may shorten a limit of this service.
 * @throws StoreUnavailable with a sentence that says what to do
 */
export async function openMongoDbStores({
  url,
  clock,
  random,
  limits: ours = defaultMongoDbLimits,
  onWarning = () => undefined,
}: {
  readonly url: string;
  readonly clock: Clock;
  /** Must differ between processes. */
  readonly random: Random;
  readonly limits?: MongoDbLimits;
  /** Receives what an operator should know of the server and the connection, in sentences. */
  readonly onWarning?: (sentence: string) => void;
}): Promise<MongoDbStores> {
  const limits = withReplyLimit(url, ours);
  const connection = connectionLimits(url, limits);
  const client = makeClient(url, limits, connection);
  const namesDatabase = /^[^:]+:\/\/[^/]+\/[^?]/.test(url);
  const commands = makeDatabaseCommands(client.db(namesDatabase ? undefined : 'stowage'), limits);
  const attempt = makeAttempts(connection);
  let isClosed = false;
  const close = async () => {
    isClosed = true;
    await closeClient(client, limits);
  };
  const opening = makeCalls({ clock, random, attempt, limits: { ...limits, readMs: limits.openMs } });
  try {
    // A failed attempt is repeated: databases often start at the same moment, or elect a primary.
    const { topology, isLinearizable } = await opening.read(unreachable, async (running) =>
      start(client, commands, running),
    );
    if (topology !== 'standalone' && !isLinearizable)
      onWarning(
        'MongoDB refuses linearizable reads: while its replica set is divided, a read may be stale for up to 10 s',
      );
    const confirm = async (running: Attempt) => commands.confirmPrimary(stateCollection, running);
    const nowMs = () => performance.now();
    const calls = makeCalls({
      ...{ clock, random, limits, attempt },
      ...(isLinearizable ? { holdPrimary: makePrimaryCheck({ attempt, confirm, limits, nowMs }) } : {}),
    });
    // The index only saves space. Making it may take long, and nothing waits for it; the next start makes it too.
    void ensureExpiry({ calls, commands }).catch((error: unknown) => {
      if (isClosed) return;
      onWarning(`expired records stay stored: ${error instanceof Error ? error.message : 'unknown error'}`);
    });
    return {
      readModelStore: makeMongoDbReadModelStore({ calls, commands, random, close }),
      stateStore: makeMongoDbStateStore({ calls, commands, random, clock, close }),
      topology,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(
  client: MongoClient,
  commands: DatabaseCommands,
  attempt: Attempt,
): Promise<{ readonly topology: MongoDbStores['topology']; readonly isLinearizable: boolean }> {
  try {
    // After a first failure the driver does not connect again by itself.
    await client.connect();
    const topology = await checkServer(commands, attempt);
    await commands.create(stateCollection, attempt);
    return {
      topology,
      isLinearizable: topology !== 'standalone' && (await isLinearizable(commands, attempt)),
    };
  } catch (error) {
    // The driver also requires this version, but reports it in different classes of error.
    if (error instanceof MongoError && error.message.includes('wire version')) throw tooOld();
    const { kind, reason } = classify(error);
    if (kind !== 'rejected') throw error;
    throw new StoreUnavailable(
      `MongoDB refused the connection: ${reason}; check the user, password and rights in MONGODB_URL`,
    );
  }
}

/** The code of engines that speak the protocol without this feature, for example Amazon DocumentDB. */
const featureNotSupported = 303;

/** Tells whether the server knows linearizable reads. Other engines of the protocol refuse them. */
async function isLinearizable(commands: DatabaseCommands, attempt: Attempt): Promise<boolean> {
  try {
    await commands.confirmPrimary(stateCollection, attempt);
    return true;
  } catch (error) {
    const isUnsupported = error instanceof MongoServerError && error.code === featureNotSupported;
    if (isUnsupported || classify(error).kind === 'rejected') return false;
    throw error;
  }
}

function makeClient(
  url: string,
  limits: MongoDbLimits,
  { poolSize, silenceMs }: ConnectionLimits,
): MongoClient {
  const { selectionMs, connectMs } = driverWaits(url, limits);
  try {
    return new MongoClient(url, {
      appName: 'stowage',
      // `timeoutMS` has no effect in this driver. Without these options an operation may wait for ever.
      serverSelectionTimeoutMS: selectionMs,
      waitQueueTimeoutMS: selectionMs,
      connectTimeoutMS: connectMs,
      // Each attempt has another limit (`silenceMs`), and the creation of an index is silent for longest.
      socketTimeoutMS: limits.indexMs + silenceMs,
      maxPoolSize: poolSize,
      // A retry by the driver adds its time to that of the first attempt and hides the error of the first attempt.
      retryWrites: false,
      retryReads: false,
      w: 'majority',
      journal: true,
      readConcernLevel: 'majority',
      readPreference: 'primary',
      monitorCommands: false,
      useBigInt64: true,
      ignoreUndefined: true,
      // Overrides the environment: logged commands would contain documents.
      mongodbLogComponentSeverities: { command: 'off' },
    });
  } catch (error) {
    // The message of the driver may quote the URL with its password.
    const name = error instanceof Error ? error.name : 'unknown error';
    throw new StoreUnavailable(
      `the driver does not accept MONGODB_URL (${name}); its form is mongodb://user:password@host:27017/database`,
    );
  }
}

const helloReply = z.object({
  maxWireVersion: z.coerce.number(),
  setName: z.string().optional(),
  msg: z.string().optional(),
});

/** Wire version 9 is MongoDB 4.4. */
const wireVersionMin = 9;

async function checkServer(commands: DatabaseCommands, attempt: Attempt): Promise<MongoDbStores['topology']> {
  const { maxWireVersion, setName, msg } = helloReply.parse(await hello(commands, attempt));
  if (maxWireVersion < wireVersionMin) throw tooOld();
  if (msg === 'isdbgrid') return 'sharded cluster';
  return setName === undefined ? 'standalone' : 'replica set';
}

/** Runs `hello`, which exists since 4.4.2. Older servers and other servers of the protocol know it by its old name. */
async function hello(commands: DatabaseCommands, attempt: Attempt): Promise<Document> {
  try {
    return await commands.run({ hello: 1 }, attempt);
  } catch (error) {
    const commandNotFound = error instanceof MongoServerError && error.code === 59;
    if (!commandNotFound) throw error;
    return commands.run({ isMaster: 1 }, attempt);
  }
}

function tooOld(): StoreUnavailable {
  return new StoreUnavailable('the MongoDB server is too old: 4.4 or newer is needed; upgrade it');
}

/** Closes the client within the time limit of a write, even when connections hang. */
async function closeClient(client: MongoClient, limits: MongoDbLimits): Promise<void> {
  await Promise.race([
    client.close().catch(() => undefined),
    delay(limits.writeMs, undefined, { ref: false }),
  ]);
}
