import type { Connection, Statement } from './database.js';
import { type Failure, failureOf } from './failures.js';
import type { Intercept } from './faults.js';
import type { FileFormat } from './formats.js';
import type { HighWaterMark } from './high-water-mark.js';

/** What a file does with requests. Every method runs inside a transaction, save `reload`. */
export interface FileWriter<Request, Reply> {
  apply(request: Request): Reply;
  beforeCommit(): void;
  /** After a batch failed: reads again what it remembers of the file, and tells whether the batch is there all the same. */
  reload(): 'there' | 'not there' | 'cannot tell';
  /** How far the file has been written: a number that grows with it. Where there is one, a mark of it is kept. */
  readonly end?: () => number;
}

/** Prepares statements whose every run counts as a step that a test can make fail. */
export type Prepare = (sql: string) => Statement;

/** What became of the next `count` requests. */
export type Outcome<Reply> = { readonly count: number } & (
  | { readonly kind: 'committed'; readonly replies: readonly Reply[] }
  | { readonly kind: 'failed'; readonly failure: Failure }
);

/**
 * Makes the function that runs requests in one transaction, with one sync: those it is given, and those that have come
 * by the time these are written (`more`; empty: none).
 * @param deps.openMark opens the mark of how far the file has been written
 * @throws StoreDamaged, StoreUnavailable
 */
export function makeTransactions<Request, Reply>(
  {
    connection,
    format,
    intercept,
    openMark,
  }: {
    readonly connection: Connection;
    readonly format: FileFormat;
    readonly intercept: Intercept;
    readonly openMark: (end: number) => HighWaterMark;
  },
  makeFileWriter: (connection: Connection, prepare: Prepare) => FileWriter<Request, Reply>,
): (requests: readonly Request[], more?: () => readonly Request[]) => Outcome<Reply> {
  const begin = connection.statement('BEGIN IMMEDIATE');
  const commit = connection.statement('COMMIT');
  const rollback = connection.statement('ROLLBACK');
  const writer = makeFileWriter(connection, (sql) => {
    const run = connection.statement(sql);
    return (...parameters) => intercept('statement', () => run(...parameters));
  });

  const endOf = (): number => writer.end?.() ?? 0;
  const mark = writer.end === undefined ? null : openMark(endOf());

  return (requests, more = () => []) => {
    const taken = [...requests];
    let committing = false;
    try {
      intercept('begin', begin);
      const replies: Reply[] = [];
      for (const request of taken) {
        replies.push(writer.apply(request));
        if (replies.length === taken.length) taken.push(...more());
      }
      writer.beforeCommit();
      committing = true;
      intercept('commit', commit);
      mark?.raise(endOf());
      return { kind: 'committed', count: taken.length, replies };
    } catch (error) {
      return { kind: 'failed', count: taken.length, failure: undo(error, committing) };
    }
  };

  /** Takes back what a failed transaction has done, where that can be known, and tells what is to be answered. */
  function undo(error: unknown, committing: boolean): Failure {
    const failure = failureOf(error, format);
    if (failure === null) throw error;
    // A file whose disk failed is left as it is: a second try at a failed sync may wrongly succeed.
    if (failure.kind === 'io') return failure;
    const undone = connection.inTransaction() || !committing;
    if (connection.inTransaction()) rollback();
    const found = writer.reload();
    const certain = undone || found === 'not there' || failure.kind === 'damaged';
    return certain ? failure : { ...failure, kind: 'unknown' };
  }
}
