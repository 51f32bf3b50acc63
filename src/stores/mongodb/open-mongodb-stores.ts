import { MongoClient, MongoError, MongoServerError, type Document } from 'mongodb';
import { z } from 'zod';

import type { Clock, Random } from '../../event-sourcing/clock.js';
import { StoreUnavailable } from '../../event-sourcing/errors.js';
import type { ReadModelStore } from '../../event-sourcing/read-model-store.js';
import type { StateStore } from '../../event-sourcing/state-store.js';
import { attempt, makeCalls } from './calls.js';
import { makeCommands, type Commands } from './commands.js';
import { classify } from './failures.js';
import { connectionWaitMs, defaultLimits, writeTryMs, type MongoDbLimits } from './limits.js';
import { makeMongoDbReadModelStore } from './read-model-store.js';
import { ensureStateHousekeeping, makeMongoDbStateStore } from './state-store.js';

export interface MongoDbStores {
  readonly readModelStore: ReadModelStore;
  readonly stateStore: StateStore;
  /** What kind of server answered, for the log. */
  readonly topology: 'standalone' | 'replica set' | 'sharded cluster';
  /** Ends both stores; closing either of them does the same. Idempotent. */
  readonly close: () => Promise<void>;
}

/**
 * Connects to a MongoDB server, standalone, replica set or sharded cluster, 4.4 or newer. The database is the URL's, or `stowage`.
 * The URL's settings of durability, retries and time limits do not count: ours do.
 * @throws StoreUnavailable with a sentence that says what to do
 */
export async function openMongoDbStores({
  url,
  clock,
  random,
  limits = defaultLimits,
}: {
  readonly url: string;
  readonly clock: Clock;
  /** Must differ between processes. */
  readonly random: Random;
  readonly limits?: MongoDbLimits;
}): Promise<MongoDbStores> {
  const client = makeClient(url, limits);
  const namesDatabase = /^[^:]+:\/\/[^/]+\/[^?]/.test(url);
  const commands = makeCommands(client.db(namesDatabase ? undefined : 'stowage'), {
    tryMs: writeTryMs(limits),
  });
  const calls = makeCalls({ clock, random, limits });
  const close = async () => closeClient(client, limits);
  const opening = makeCalls({ clock, random, limits: { ...limits, readMs: limits.openMs } });
  try {
    // Repeated while nothing answers: databases are often started at the same moment, or are electing a primary.
    const topology = await opening.read(
      'the server that MONGODB_URL names cannot be reached; check that it runs and the address',
      async (signal) => start(client, commands, signal),
    );
    return {
      readModelStore: makeMongoDbReadModelStore({ calls, commands, random, now: () => clock.now(), close }),
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
  commands: Commands,
  signal: AbortSignal,
): Promise<MongoDbStores['topology']> {
  try {
    // Left to itself the driver does not connect again after a first failure.
    await client.connect();
    const topology = await checkServer(commands, signal);
    await ensureStateHousekeeping(commands, signal);
    return topology;
  } catch (error) {
    // The driver asks for this version too, but says so in different classes of error.
    if (error instanceof MongoError && error.message.includes('wire version')) throw tooOld();
    const { kind, reason } = classify(error);
    if (kind !== 'rejected') throw error;
    throw new StoreUnavailable(
      `MongoDB refused us: ${reason}; check the user, password and rights in MONGODB_URL`,
    );
  }
}

function makeClient(url: string, limits: MongoDbLimits): MongoClient {
  const waitMs = connectionWaitMs(limits);
  try {
    return new MongoClient(url, {
      appName: 'stowage',
      // `timeoutMS` does nothing in this driver; without these an operation may wait for ever.
      serverSelectionTimeoutMS: waitMs,
      waitQueueTimeoutMS: waitMs,
      connectTimeoutMS: limits.writeMs,
      socketTimeoutMS: limits.writeMs,
      maxPoolSize: 20,
      // The driver's own repetition adds its time to the first try's and hides that one's error.
      retryWrites: false,
      retryReads: false,
      w: 'majority',
      journal: true,
      readConcernLevel: 'majority',
      readPreference: 'primary',
      useBigInt64: true,
      ignoreUndefined: true,
      // Whatever the environment asks for: logged commands would contain documents.
      mongodbLogComponentSeverities: { command: 'off' },
    });
  } catch (error) {
    // The driver's message may quote the URL, and with it the password.
    const name = error instanceof Error ? error.name : 'unknown error';
    throw new StoreUnavailable(
      `MONGODB_URL is not one that the driver accepts (${name}); it looks like mongodb://user:password@host:27017/database`,
    );
  }
}

const helloReply = z.object({
  maxWireVersion: z.coerce.number(),
  setName: z.string().optional(),
  msg: z.string().optional(),
});

/** Wire version 9 came with MongoDB 4.4. */
const wireVersionMin = 9;

async function checkServer(commands: Commands, signal: AbortSignal): Promise<MongoDbStores['topology']> {
  const { maxWireVersion, setName, msg } = helloReply.parse(await hello(commands, signal));
  if (maxWireVersion < wireVersionMin) throw tooOld();
  if (msg === 'isdbgrid') return 'sharded cluster';
  return setName === undefined ? 'standalone' : 'replica set';
}

/** `hello` came with 4.4.2; before, and in other servers of the protocol, it has its old name. */
async function hello(commands: Commands, signal: AbortSignal): Promise<Document> {
  try {
    return await commands.run({ hello: 1 }, signal);
  } catch (error) {
    const commandNotFound = error instanceof MongoServerError && error.code === 59;
    if (!commandNotFound) throw error;
    return commands.run({ isMaster: 1 }, signal);
  }
}

function tooOld(): StoreUnavailable {
  return new StoreUnavailable('the MongoDB server is too old: 4.4 or newer is needed; upgrade it');
}

/** Ends within the time of a write, also when connections hang. */
async function closeClient(client: MongoClient, limits: MongoDbLimits): Promise<void> {
  await attempt(limits.writeMs, async () => client.close()).catch(() => undefined);
}
