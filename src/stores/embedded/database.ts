import Database from 'libsql';
import { StoreUnavailable } from '../../event-sourcing/errors.js';

export type Parameter = string | number | bigint | null;

/**
 * What a column reads as. Text is read as bytes (`CAST(… AS BLOB)`): libsql ends the whole process on text that is not
 * UTF-8, which a damaged file may hold.
 */
export type Column = bigint | Buffer | null;

/** A prepared statement whose rows are tuples in the order of its columns; STRICT tables vouch for their types. */
export interface Query<Row extends readonly Column[]> {
  get(...parameters: Parameter[]): Row | undefined;
  all(...parameters: Parameter[]): Row[];
}

/** Runs and tells how many rows it changed. */
export type Statement = (...parameters: Parameter[]) => number;

export interface Connection {
  query<Row extends readonly Column[]>(sql: string): Query<Row>;
  /** Prepares a statement without rows. */
  statement(sql: string): Statement;
  /** Runs SQL once and ignores what it returns. */
  execute(sql: string): void;
  inTransaction(): boolean;
  close(): void;
}

/** Milliseconds that SQLite waits for a lock: only another program on the same files can hold one. */
const busyTimeoutMs = 5_000;

/** Opens a connection. @throws StoreUnavailable when the file cannot be opened at all */
export function openConnection(path: string, timeoutMs: number = busyTimeoutMs): Connection {
  let database: Database.Database;
  try {
    database = new Database(path, { timeout: timeoutMs });
  } catch (error) {
    throw new StoreUnavailable(`${path} cannot be opened; check the directory and its permissions`, {
      cause: error,
    });
  }
  database.defaultSafeIntegers(true);
  return {
    query: (sql) => {
      const prepared = database.prepare(sql).raw();
      // The one place where rows get their types.
      return {
        get: (...parameters) => prepared.get(parameters) as never,
        all: (...parameters) => prepared.all(parameters) as never,
      };
    },
    statement: (sql) => {
      const prepared = database.prepare(sql);
      return (...parameters) => prepared.run(parameters).changes;
    },
    execute: (sql) => {
      database.exec(sql);
    },
    inTransaction: () => database.inTransaction,
    close: () => {
      database.close();
    },
  };
}

/** Opens the main thread's connection to a file: it reads, and is forbidden to write or checkpoint. */
export function openReader(path: string): Connection {
  const connection = openConnection(path);
  connection.execute('PRAGMA query_only = ON; PRAGMA cell_size_check = ON');
  return connection;
}
