import {
  MongoServerError,
  type Db,
  type Document,
  type Filter,
  type FindOptions,
  type IndexDescription,
} from 'mongodb';
import { z } from 'zod';

import { duplicateKeyCode, isTransient, NoVerdict, WriteRejected } from './failures.js';

/** One statement of an update command. */
export interface UpdateStatement {
  readonly q: Document;
  readonly u: Document;
  readonly upsert: boolean;
}

/** What an update or insert did: how many documents it matched, inserts included, and whether an insert found the id taken. */
export interface Written {
  readonly matched: number;
  readonly duplicate: boolean;
}

/** The commands that we use, each with its options spelled out and nothing left to the driver's defaults. */
export interface Commands {
  /** Statements are unordered: each document appears in one statement only. */
  update(collection: string, updates: readonly UpdateStatement[], signal: AbortSignal): Promise<Written>;
  insert(collection: string, document: Document, signal: AbortSignal): Promise<Written>;
  find(
    collection: string,
    filter: Filter<StoredForm>,
    options: FindOptions,
    signal: AbortSignal,
  ): Promise<Document[]>;
  /** Deletes by id; an absent document is no error. */
  deleteById(collection: string, id: string, signal: AbortSignal): Promise<void>;
  collectionNames(signal: AbortSignal): Promise<string[]>;
  /** Makes the collection and its indexes where they are missing. */
  ensure(collection: string, indexes: readonly IndexDescription[], signal: AbortSignal): Promise<void>;
  drop(collection: string, signal: AbortSignal): Promise<void>;
  /** Any other command. */
  run(command: Document, signal: AbortSignal): Promise<Document>;
}

/** Our ids are strings. */
interface StoredForm {
  _id: string;
  [field: string]: unknown;
}

/** The parts of a write's reply that we use. MongoDB manual, "update" and "insert" commands, output. */
const writeReply = z.object({
  n: z.coerce.number(),
  writeErrors: z.array(z.object({ code: z.coerce.number() })).default([]),
  writeConcernError: z.object({ code: z.coerce.number() }).optional(),
});

const namespaceNotFound = 26;
const namespaceExists = 48;

/** 64-bit integers are bigint in both directions, and `undefined` is left out. */
const bson = { useBigInt64: true, ignoreUndefined: true };

/**
 * Writes go out as plain commands: unlike the driver's collection methods those take a signal and are never repeated
 * by the driver, and their replies tell per statement what happened.
 */
export function makeCommands(db: Db, { tryMs }: { readonly tryMs: number }): Commands {
  // The server gives up waiting for its replicas, and says so, before we give up waiting for the server.
  const writeConcern = { w: 'majority', j: true, wtimeout: Math.ceil(tryMs * 0.9) };
  const run = async (command: Document, signal: AbortSignal) => db.command(command, { ...bson, signal });
  const write = async (command: Document, signal: AbortSignal) =>
    verdict(await run({ ...command, ordered: false, writeConcern }, signal));

  return {
    update: async (collection, updates, signal) =>
      write({ update: collection, updates: [...updates] }, signal),
    insert: async (collection, document, signal) =>
      write({ insert: collection, documents: [document] }, signal),
    find: async (collection, filter, options, signal) =>
      db
        .collection<StoredForm>(collection)
        .find(filter, {
          ...bson,
          ...options,
          readConcern: { level: 'majority' },
          readPreference: 'primary',
          signal,
        })
        .toArray(),
    deleteById: async (collection, id, signal) => {
      await write({ delete: collection, deletes: [{ q: { _id: id }, limit: 1 }] }, signal);
    },
    collectionNames: async (signal) => {
      const listed = await db.listCollections({}, { nameOnly: true, signal }).toArray();
      return listed.map(({ name }) => name);
    },
    ensure: async (collection, indexes, signal) => {
      await run({ create: collection, writeConcern }, signal).catch(unlessCode(namespaceExists));
      if (indexes.length > 0)
        await run({ createIndexes: collection, indexes: [...indexes], writeConcern }, signal);
    },
    drop: async (collection, signal) => {
      await run({ drop: collection, writeConcern }, signal).catch(unlessCode(namespaceNotFound));
    },
    run,
  };
}

/** Takes an error of this code for success; old servers give absent collections no code, only these words. */
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
  const other = writeErrors.find(({ code }) => code !== duplicateKeyCode);
  if (other !== undefined && isTransient(other.code)) throw new NoVerdict(`write error ${other.code}`);
  if (other !== undefined) throw new WriteRejected(`write error ${other.code}`);
  return { matched: n, duplicate: writeErrors.length > 0 };
}
