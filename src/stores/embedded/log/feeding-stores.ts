import { checked } from '../files/failures.js';
import { join } from 'node:path';
import type { ReadModelStore, StoredDocument } from '../../../event-sourcing/ports/read-model-store.js';
import { makeReadModelWriter, outcomesOf, rowsOf } from '../documents/read-model-writer.js';
import { readModelsFormat } from '../files/formats.js';
import { type LogReader, openLogReader } from './category-reader.js';
import { openWriter } from '../files/prepare-file.js';
import { makeReadModelQueries } from '../documents/read-model-queries.js';

/** The stores of a thread that feeds views beside the process that owns the data directory. */
export interface FeedingStores {
  readonly log: LogReader;
  readonly readModelStore: Pick<ReadModelStore, 'get' | 'getMany' | 'scan' | 'write'>;
  /** Runs work whose writes are one transaction. A write outside of such work is a transaction alone. */
  readonly inOneWrite: (work: () => Promise<void>) => Promise<void>;
  close(): void;
}

/**
 * Opens the log for reading and the read models for writing, on this thread and without another one. SQLite takes one
 * writer at a time, so a write waits for those of other threads, for 5 s at most.
 * @throws StoreUnavailable, StoreDamaged, as every call of the stores
 */
export function openFeedingStores(options: {
  readonly directory: string;
  readonly streamPrefix: string;
}): FeedingStores {
  const connection = openWriter(join(options.directory, readModelsFormat.fileName), readModelsFormat);
  const log = openLogReader(options);
  const queries = makeReadModelQueries(connection);
  const writer = makeReadModelWriter(connection, (sql) => connection.statement(sql));

  return {
    log,
    readModelStore: {
      getMany: (collection, ids) => answer(() => read(collection, ids)),
      write: (collection, writes) =>
        answer(() => {
          const reply = writer.apply(['write', collection, rowsOf(writes, { withParsed: true })]);
          // Without a transaction, each statement is one.
          if (!connection.inTransaction()) writer.beforeCommit();
          return outcomesOf(reply);
        }),
      get: (collection, id) => answer(() => read(collection, [id])[0] ?? null),
      scan: (collection, options) => answer(() => queries.scan(collection, options)),
    },
    inOneWrite: async (work) => {
      await answer(() => connection.execute('BEGIN IMMEDIATE'));
      try {
        await work();
        await answer(() => {
          writer.beforeCommit();
          connection.execute('COMMIT');
        });
      } finally {
        if (connection.inTransaction()) {
          connection.execute('ROLLBACK');
          writer.reload();
        }
      }
    },
    close: () => {
      log.close();
      connection.close();
    },
  };

  function read(collection: string, ids: readonly string[]): StoredDocument[] {
    return queries.getMany(collection, ids).map(({ document }) => document);
  }

  /** Turns a thrown error into a rejection, as the ports require. */
  function answer<Result>(run: () => Result): Promise<Result> {
    return new Promise((resolve) => resolve(checked(readModelsFormat, run)));
  }
}
