import type { Connection, Statement } from '../files/database.js';
import { type FileFailure, failureOf, sqliteCode } from '../files/failures.js';
import type { FileFormat } from '../files/formats.js';
import type { HighWaterMark } from '../files/high-water-mark.js';

/** The steps of a write that a test can make fail. */
type WriteStep = 'begin' | 'statement' | 'commit';

/** Makes the `n`-th step of a kind fail, counted from 1 since the file was opened. Tests only. */
export interface Fault {
  readonly file: 'events' | 'read-models' | 'state';
  readonly step: WriteStep | 'any';
  readonly n: number;
  /** When the step fails: before its effect or after it. With `hang` it takes `hangMs` first and then succeeds. */
  readonly when: 'before' | 'after' | 'hang';
  /** SQLite's code of the error, for example `SQLITE_IOERR_FSYNC`. */
  readonly code?: string;
  readonly hangMs?: number;
}

/** Runs the effect of a step of a write, and may make it fail. */
export type Intercept = <T>(step: WriteStep, effect: () => T) => T;

export function makeIntercept(faults: readonly Fault[]): Intercept {
  if (faults.length === 0) return (_, effect) => effect();
  const counts = { begin: 0, statement: 0, commit: 0, any: 0 };
  return (step, effect) => {
    counts[step] += 1;
    counts.any += 1;
    const fault = faults.find((each) => each.n === counts[each.step] && [step, 'any'].includes(each.step));
    if (fault === undefined) return effect();
    if (fault.when === 'hang') block(fault.hangMs ?? 0);
    if (fault.when === 'before') throw failed(fault);
    const result = effect();
    if (fault.when === 'after') throw failed(fault);
    return result;
  };
}

function failed({ code = 'SQLITE_BUSY' }: Fault): Error {
  return Object.assign(new Error('injected fault'), { code });
}

/** Blocks the thread, like a disk that does not answer. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Applies the requests of a file. Every method except `reload` runs inside a transaction. */
export interface FileWriter<Request, Reply> {
  apply(request: Request): Reply;
  beforeCommit(): void;
  /** Reads the cached state of the file again after a failed batch. Returns whether the batch was committed. */
  reload(): 'there' | 'not there' | 'cannot tell';
  /** Returns the end of the file's data, a number that grows with every write. Files with this method have a mark. */
  readonly end?: () => number;
}

/** Prepares a statement. Every run of it is a step that a test can make fail. */
export type Prepare = (sql: string) => Statement;

/** The result of the next `count` requests. */
export type TransactionOutcome<Reply> = { readonly count: number } & (
  | { readonly kind: 'committed'; readonly replies: readonly Reply[] }
  | { readonly kind: 'failed'; readonly failure: FileFailure }
);

/**
 * Makes the function that runs requests in one transaction with one sync. It also runs requests that arrive meanwhile:
 * it calls `more` until `more` returns none. @throws StoreDamaged, StoreUnavailable
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
): (requests: readonly Request[], more?: () => readonly Request[]) => TransactionOutcome<Reply> {
  const begin = connection.statement('BEGIN IMMEDIATE');
  const commit = connection.statement('COMMIT');
  const rollback = connection.statement('ROLLBACK');
  const selectSchema = connection.query('SELECT 1 FROM sqlite_schema LIMIT 1');
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
      // Before the mark of the file, whose write waits for a frozen file system.
      noteReadMark();
      mark?.raise(endOf());
      return { kind: 'committed', count: taken.length, replies };
    } catch (error) {
      return { kind: 'failed', count: taken.length, failure: undo(error, committing) };
    }
  };

  /**
   * Reads, so that this thread notes the new end of the write-ahead log as a read mark in its index. The index is a mapped
   * file, and the first reader after a commit writes the mark (SQLite, "WAL-mode File Format", section 2). On the main thread this
   * write would wait for a frozen file system, and no request would be answered.
   */
  function noteReadMark(): void {
    try {
      selectSchema.get();
    } catch (error) {
      // The commit is durable. The next read reports a failure of the file.
      if (sqliteCode(error) === null) throw error;
    }
  }

  /** Rolls a failed transaction back where possible, and returns the failure to report. */
  function undo(error: unknown, committing: boolean): FileFailure {
    const failure = failureOf(error, format);
    if (failure === null) throw error;
    // A file whose disk failed stays as it is: a retry of a failed sync may succeed wrongly.
    if (failure.kind === 'io') return failure;
    const undone = connection.inTransaction() || !committing;
    if (connection.inTransaction()) rollback();
    const found = writer.reload();
    const certain = undone || found === 'not there' || failure.kind === 'damaged';
    return certain ? failure : { ...failure, kind: 'unknown' };
  }
}
