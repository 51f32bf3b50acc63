import {
  OutcomeUnknown,
  StoreDamaged,
  StoreFull,
  StoreUnavailable,
} from '../../../event-sourcing/ports/errors.js';
import type { FileFormat } from './formats.js';

/**
 * `unavailable` had no effect, and the caller may retry. `unknown` may have had one. `io` (a failed read, write or
 * sync) and `damaged` end the use of the file.
 */
export interface FileFailure {
  readonly kind: 'unavailable' | 'unknown' | 'io' | 'damaged';
  readonly message: string;
  /** Whether the disk has no room. A commit without room may still be found after a crash, so it is `unknown`. */
  readonly isFull?: true;
}

/** Turns an error of SQLite or of a store into a failure; null for any other error, which is a bug. */
export function failureOf(error: unknown, format: FileFormat): FileFailure | null {
  if (error instanceof StoreDamaged) return { kind: 'damaged', message: error.message };
  // The high-water mark, which is written after the commit, reports its failures as StoreUnavailable.
  if (error instanceof StoreUnavailable) return { kind: 'io', message: error.message };
  const code = sqliteCode(error);
  if (code === null) return null;
  const what = `${code}: ${(error as Error).message}`;
  if (code.startsWith('SQLITE_IOERR')) {
    // A disk without room for the index of the write-ahead log.
    const advice = code === 'SQLITE_IOERR_SHMSIZE' ? 'Make room on the disk' : 'Check the disk';
    const message = `${format.fileName} cannot be read or written (${what}). ${advice}, then start the service again`;
    return { kind: 'io', message };
  }
  if (/^SQLITE_(CORRUPT|NOTADB|CONSTRAINT|ERROR|MISMATCH|SCHEMA|FORMAT)/.test(code)) {
    return { kind: 'damaged', message: damage(format, what).message };
  }
  if (code === 'SQLITE_FULL') {
    const message = `the disk of ${format.fileName} is full; make room on it`;
    return { kind: 'unavailable', message, isFull: true };
  }
  return { kind: 'unavailable', message: `${format.fileName} cannot be used now (${what})` };
}

export function errorOf(failure: FileFailure): Error {
  switch (failure.kind) {
    case 'damaged':
      return new StoreDamaged(failure.message);
    case 'unavailable':
      return failure.isFull ? new StoreFull(failure.message) : new StoreUnavailable(failure.message);
    case 'unknown':
    case 'io':
      return new OutcomeUnknown(
        failure.message,
        failure.isFull ? { cause: new StoreFull(failure.message) } : {},
      );
  }
}

/** Returns the error that reports a failed read. A read changes nothing, so its outcome is never unknown. */
export function readErrorOf(error: unknown, format: FileFormat): unknown {
  const failure = failureOf(error, format);
  if (failure === null) return error;
  return errorOf(failure.kind === 'io' ? { ...failure, kind: 'unavailable' } : failure);
}

export function damage(format: FileFormat, what: string): StoreDamaged {
  return new StoreDamaged(`${format.fileName} is damaged: ${what}. ${format.remedy}.`);
}

/** Returns SQLite's name of an error, for example `SQLITE_FULL`; null for an error that is not SQLite's. */
export function sqliteCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  return error.code.startsWith('SQLITE_') ? error.code : null;
}

/** Reads, with errors as `readErrorOf`. */
export function checked<Result>(format: FileFormat, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw readErrorOf(error, format);
  }
}
