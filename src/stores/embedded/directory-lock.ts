import { join } from 'node:path';
import { StoreUnavailable } from '../../event-sourcing/errors.js';
import { openConnection } from './database.js';
import { sqliteCode } from './failures.js';

/**
 * Makes this process the one owner of a data directory, for as long as it lives: an exclusive SQLite transaction on
 * lock.db, which the operating system ends with the process, however it ends.
 * @returns the function that gives the directory up
 * @throws StoreUnavailable when another process owns it
 */
export function lockDirectory(directory: string): () => void {
  const path = join(directory, 'lock.db');
  const connection = openConnection(path, 0);
  try {
    // The lock is all that is wanted: with its journal in memory it needs no room on the disk.
    connection.execute('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    connection.close();
    throw new StoreUnavailable(refusal(directory, error), { cause: error });
  }
  return () => {
    connection.execute('ROLLBACK');
    connection.close();
  };
}

function refusal(directory: string, error: unknown): string {
  const code = sqliteCode(error) ?? 'unknown error';
  return code.startsWith('SQLITE_BUSY')
    ? `${directory} is in use by another process. Stop that one first, or choose another directory (DATA_DIR).`
    : `${directory} cannot be locked (lock.db: ${code}); check the disk, its free room and the directory's permissions`;
}
