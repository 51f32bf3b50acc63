import { join } from 'node:path';
import { StoreUnavailable } from '../../event-sourcing/errors.js';
import { openConnection } from './database.js';

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
    connection.execute('BEGIN EXCLUSIVE');
  } catch (error) {
    connection.close();
    throw new StoreUnavailable(
      `${directory} is in use by another process. Stop that one first, or choose another directory (DATA_DIR).`,
      { cause: error },
    );
  }
  return () => {
    connection.execute('ROLLBACK');
    connection.close();
  };
}
