import {
  MongoServerError,
  type Collection,
  type Db,
  type Document,
  type Filter,
  type IndexDescription,
} from 'mongodb';
import { z } from 'zod';

import type { Attempt } from './attempts.js';
import { AttemptTimedOut, duplicateKeyCode, isRefusal, NoVerdict, WriteRejected } from './failures.js';
import { readTryMs, writeTryMs, type MongoDbLimits } from './limits.js';

export interface UpdateStatement {
  readonly q: Document;
  readonly u: Document;
  readonly upsert: boolean;
}

interface FindOptions {
  readonly limit: number;
  readonly sort?: Readonly<Record<string, 1 | -1>>;
  readonly projection?: Readonly<Record<string, 1>>;
}

/** `matched` includes inserts. `duplicate`: an insert found its id taken. */
export interface Written {
  readonly matched: number;
  readonly duplicate: boolean;
}

/** The commands that the stores use. Each states its options; none relies on a default of the driver. */
export type DatabaseCommands = ReturnType<typeof makeDatabaseCommands>;

/** A stored document; ids are strings. */
interface StoredForm {
  _id: string;
  [field: string]: unknown;
}

/** The fields of a write's reply that the stores use (MongoDB manual, "update" and "insert" commands, output). */
const writeReply = z.object({
  n: z.coerce.number(),
  writeErrors: z.array(z.object({ code: z.coerce.number() })).default([]),
  writeConcernError: z.object({ code: z.coerce.number() }).optional(),
});

const cursorReply = z.object({
  cursor: z.object({ id: z.coerce.bigint(), firstBatch: z.array(z.custom<Document>()) }),
});

const namespaceNotFound = 26;
const namespaceExists = 48;

/** 64-bit integers are bigint in both directions. `undefined` is left out. */
const bson = { useBigInt64: true, ignoreUndefined: true };

/**
 * Reads and writes are plain commands. Unlike the driver's collection methods, the driver never repeats them, their
 * replies show the result of each statement, and a read of one document costs two thirds of a cursor's time.
 */
export function makeDatabaseCommands(db: Db, limits: MongoDbLimits) {
  // The server ends its work, or its wait for replicas, and reports it, before the client stops waiting for the server.
  const serverMs = (tryMs: number) => Math.ceil(tryMs * 0.9);
  const concern = (tryMs: number) => ({ w: 'majority', j: true, wtimeout: serverMs(tryMs) });
  const writeConcern = concern(writeTryMs(limits));
  const maxTimeMS = serverMs(readTryMs(limits));
  const readOptions = { maxTimeMS, readConcern: { level: 'majority' } };

  async function run(command: Document, { signal, isOver }: Attempt): Promise<Document> {
    if (isOver()) throw new AttemptTimedOut('no answer in time');
    return db.command(command, { ...bson, signal });
  }

  async function write(command: Document, attempt: Attempt): Promise<Written> {
    return verdict(await run({ ...command, ordered: false, writeConcern }, attempt));
  }

  return {
    /** Runs update statements in any order. Each document appears in one statement only. */
    update: async (
      collection: string,
      updates: readonly UpdateStatement[],
      attempt: Attempt,
    ): Promise<Written> => write({ update: collection, updates: [...updates] }, attempt),
    insert: async (collection: string, document: Document, attempt: Attempt): Promise<Written> =>
      write({ insert: collection, documents: [document] }, attempt),
    find: async (
      collection: string,
      filter: Filter<StoredForm>,
      { limit, ...options }: FindOptions,
      attempt: Attempt,
    ): Promise<Document[]> => {
      // The server closes a cursor that has returned fewer documents than the batch may have.
      const command = { find: collection, filter, ...options, limit, batchSize: limit + 1, ...readOptions };
      const { cursor } = cursorReply.parse(await run(command, attempt));
      if (cursor.id === 0n) return cursor.firstBatch;
      // A reply has at most 16 MiB. The driver's cursor reads the replies that follow in one session.
      await run({ killCursors: collection, cursors: [cursor.id] }, attempt).catch(() => undefined);
      return readAll(db.collection<StoredForm>(collection), filter, { limit, ...options }, attempt);
    },
    /** Runs a pipeline that yields at most `limit` documents. Null: they exceed one reply, which has at most 16 MiB. */
    aggregate: async (
      collection: string,
      pipeline: readonly Document[],
      { limit }: Pick<FindOptions, 'limit'>,
      attempt: Attempt,
    ): Promise<Document[] | null> => {
      // Without a size of the batch, the server sends 101 documents and keeps the rest for a further command.
      const batch = { pipeline: [...pipeline], cursor: { batchSize: limit + 1 } };
      const { cursor } = cursorReply.parse(
        await run({ aggregate: collection, ...batch, ...readOptions }, attempt),
      );
      if (cursor.id === 0n) return cursor.firstBatch;
      await run({ killCursors: collection, cursors: [cursor.id] }, attempt).catch(() => undefined);
      return null;
    },
    /** Reads a document linearizably: only the primary that a majority confirms answers. */
    confirmPrimary: async (collection: string, attempt: Attempt) => {
      const filter = { _id: 'primary-check' };
      const readConcern = { level: 'linearizable' };
      await run(
        { find: collection, filter, limit: 1, singleBatch: true, ...readOptions, readConcern },
        attempt,
      );
    },
    collectionNames: async ({ signal }: Attempt): Promise<string[]> => {
      const listed = await db.listCollections({}, { nameOnly: true, signal }).toArray();
      return listed.map(({ name }) => name);
    },
    /** Creates the collection when it is missing. */
    create: async (collection: string, attempt: Attempt) => {
      await run({ create: collection, writeConcern }, attempt).catch(unlessCode(namespaceExists));
    },
    /** Creates the indexes that are missing, and waits for them. */
    createIndexes: async (collection: string, indexes: readonly IndexDescription[], attempt: Attempt) => {
      const { writeConcernError } = await run(
        { createIndexes: collection, indexes: [...indexes], writeConcern: concern(limits.indexMs) },
        attempt,
      );
      if (writeConcernError !== undefined) throw new NoVerdict('the indexes are not on a majority');
    },
    drop: async (collection: string, attempt: Attempt) => {
      await run({ drop: collection, writeConcern }, attempt).catch(unlessCode(namespaceNotFound));
    },
    /** Runs any other command. */
    run,
  };

  async function readAll(
    collection: Collection<StoredForm>,
    filter: Filter<StoredForm>,
    options: FindOptions,
    { signal }: Attempt,
  ): Promise<Document[]> {
    return collection
      .find(filter, {
        ...bson,
        ...options,
        maxTimeMS,
        batchSize: options.limit,
        readConcern: { level: 'majority' },
        readPreference: 'primary',
        signal,
      })
      .toArray();
  }
}

/** Treats this code as success. Old servers report an absent collection without a code, only with this message. */
function unlessCode(code: number): (error: unknown) => void {
  return (error) => {
    if (error instanceof MongoServerError && (error.code === code || error.message === 'ns not found'))
      return;
    throw error;
  };
}

function verdict(reply: Document): Written {
  const { n, writeErrors, writeConcernError } = writeReply.parse(reply);
  if (writeConcernError !== undefined)
    throw new NoVerdict(`write concern not met (${writeConcernError.code})`);
  const others = writeErrors.filter(({ code }) => code !== duplicateKeyCode);
  const unknown = others.find(({ code }) => !isRefusal(code));
  if (unknown !== undefined) throw new NoVerdict(`write error ${unknown.code}`);
  const [refused] = others;
  if (refused !== undefined) throw new WriteRejected(`write error ${refused.code}`);
  return { matched: n, duplicate: writeErrors.length > 0 };
}
