import { join } from 'node:path';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import { openConnection } from './database.js';
import { sqliteCode } from './failures.js';

/** The file that stands in a data directory while a restore fills it. */
export const unfinishedRestore = 'restore.unfinished';

/**
 * Makes this process the only owner of a data directory. It holds an exclusive SQLite transaction on lock.db, which the
 * operating system releases when the process ends. Returns the function that releases the directory.
 * @throws StoreUnavailable when another process owns the directory
 */
export function lockDirectory(directory: string): () => void {
  const path = join(directory, 'lock.db');
  const connection = openConnection(path, 0);
  try {
    // Only the lock is needed. With its journal in memory, lock.db needs no room on the disk.
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
