import Database from 'libsql';
import { StoreUnavailable } from '../../../event-sourcing/ports/errors.js';

export type Parameter = string | number | bigint | null;

/** Queries cast text to BLOB, because libsql ends the process when it reads text that is not UTF-8 as a string. */
type Column = bigint | Buffer | null;

/** A prepared statement. Its rows are tuples in column order; STRICT tables guarantee the types. */
export interface Query<Row extends readonly Column[]> {
  get(...parameters: Parameter[]): Row | undefined;
  all(...parameters: Parameter[]): Row[];
}

/** Runs a statement and returns the number of rows that it changed. */
export type Statement = (...parameters: Parameter[]) => number;

export interface Connection {
  query<Row extends readonly Column[]>(sql: string): Query<Row>;
  /** Prepares a statement that returns no rows. */
  statement(sql: string): Statement;
  execute(sql: string): void;
  inTransaction(): boolean;
  close(): void;
}

/** The time that SQLite waits for a lock, which only another program that uses the same files can hold. */
const busyTimeoutMs = 5_000;

/** Opens a connection. @throws StoreUnavailable when the file cannot be opened */
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
      // Rows get their types here and nowhere else.
      return {
        get: (...parameters) => prepared.get(parameters) as never,
        all: (...parameters) => prepared.all(parameters) as never,
      };
    },
    statement: (sql) => {
      const prepared = database.prepare(sql);
      return (...parameters) => prepared.run(parameters).changes;
    },
    execute: (sql) => database.exec(sql),
    inTransaction: () => database.inTransaction,
    close: () => database.close(),
  };
}

/** Opens the main thread's connection to a file. It can read; it can neither write nor run a checkpoint. */
export function openReader(path: string): Connection {
  const connection = openConnection(path);
  connection.execute('PRAGMA query_only = ON; PRAGMA cell_size_check = ON');
  return connection;
}
