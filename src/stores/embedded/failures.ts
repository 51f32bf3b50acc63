import { OutcomeUnknown, StoreDamaged, StoreUnavailable } from '../../event-sourcing/errors.js';
import type { FileFormat } from './formats.js';

/**
 * What went wrong with a file: `unavailable` had no effect and may be tried again; `unknown` may have had one;
 * `io` (a failed read, write or sync) and `damaged` end the use of the file.
 */
export interface Failure {
  readonly kind: 'unavailable' | 'unknown' | 'io' | 'damaged';
  readonly message: string;
}

/** Turns an error of SQLite into a failure; null for errors that are neither SQLite's nor ours: those are faults of the program. */
export function failureOf(error: unknown, format: FileFormat): Failure | null {
  if (error instanceof StoreDamaged) return { kind: 'damaged', message: error.message };
  // What is written beside the file, after a commit.
  if (error instanceof StoreUnavailable) return { kind: 'io', message: error.message };
  const code = sqliteCode(error);
  if (code === null) return null;
  const what = `${code}: ${(error as Error).message}`;
  if (code.startsWith('SQLITE_IOERR')) {
    const message = `${format.fileName} cannot be read or written (${what}). Check the disk, then start the service again`;
    return { kind: 'io', message };
  }
  if (/^SQLITE_(CORRUPT|NOTADB|CONSTRAINT|ERROR|MISMATCH|SCHEMA|FORMAT)/.test(code)) {
    return { kind: 'damaged', message: damage(format, what).message };
  }
  if (code === 'SQLITE_FULL') {
    return { kind: 'unavailable', message: `the disk of ${format.fileName} is full; make room on it` };
  }
  return { kind: 'unavailable', message: `${format.fileName} cannot be used now (${what})` };
}

/** The error of the ports that a failure is reported as. */
export function errorOf(failure: Failure): Error {
  switch (failure.kind) {
    case 'damaged':
      return new StoreDamaged(failure.message);
    case 'unavailable':
      return new StoreUnavailable(failure.message);
    case 'unknown':
    case 'io':
      return new OutcomeUnknown(failure.message);
  }
}

/** The error that a failed read is reported as: it changed nothing, so its outcome is never unknown. */
export function readErrorOf(error: unknown, format: FileFormat): unknown {
  const failure = failureOf(error, format);
  if (failure === null) return error;
  return errorOf(failure.kind === 'io' ? { ...failure, kind: 'unavailable' } : failure);
}

/** Says that a file is damaged, in what way, and what to do. */
export function damage(format: FileFormat, what: string): StoreDamaged {
  return new StoreDamaged(`${format.fileName} is damaged: ${what}. ${format.remedy}.`);
}

/** SQLite's name of an error, `SQLITE_FULL` for one; null for errors that are not SQLite's. */
export function sqliteCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  return error.code.startsWith('SQLITE_') ? error.code : null;
}
