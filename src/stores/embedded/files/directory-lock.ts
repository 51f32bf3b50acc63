import { codeOf } from '../../../kit/errors.js';
import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { StoreDamaged, StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import { openConnection } from './database.js';
import { sqliteCode } from './failures.js';

/** The file that stands in a data directory while a restore fills it. */
export const unfinishedRestore = 'restore.unfinished';

/** The file that says that a data directory is a replay of another log (docs/audit-history.md#replay). */
export const replayManifest = 'replay.json';

export const lockName = 'lock.db';
const watchMs = 1_000;

/**
 * Makes this process the only owner of a data directory. It holds an exclusive SQLite transaction on lock.db, which the
 * operating system releases when the process ends. Returns the function that releases the directory.
 * @throws StoreUnavailable when another process owns the directory
 */
export function lockDirectory(directory: string): () => void {
  const path = join(directory, lockName);
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

/**
 * Watches once a second that lock.db is still the file that this process has locked. The lock belongs to the file, so a
 * process that finds no file, or another one, locks a new one and serves the same data.
 * @param onLost receives the error with which the process should end
 * @returns the function that ends the watch
 */
export function watchLock(directory: string, onLost: (error: StoreDamaged) => void): () => void {
  const path = join(directory, lockName);
  // The locked file is open, so the system gives its number to no other file.
  const { dev, ino } = statSync(path);
  const ending = new AbortController();
  void watch();
  return () => ending.abort();

  async function watch(): Promise<void> {
    while (await isHeld()) {
      // An abort ends the loop.
      await setTimeout(watchMs, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
    }
    if (!ending.signal.aborted) onLost(lostLock(path));
  }

  async function isHeld(): Promise<boolean> {
    if (ending.signal.aborted) return false;
    try {
      const found = await stat(path);
      return found.dev === dev && found.ino === ino;
    } catch (error) {
      // Another failure does not show that the file is gone.
      return codeOf(error) !== 'ENOENT';
    }
  }
}

/** Returns the sentence that refuses a directory with an owner. */
export function inUse(directory: string): string {
  return `${directory} is in use by another process. Stop that one first, or choose another directory (DATA_DIR).`;
}

function lostLock(path: string): StoreDamaged {
  return new StoreDamaged(
    `${path} was deleted or replaced while this process owned the directory, so another process could write the same ` +
      'data. Leave the file in place, and start the service again',
  );
}

function refusal(directory: string, error: unknown): string {
  const code = sqliteCode(error) ?? 'unknown error';
  return code.startsWith('SQLITE_BUSY')
    ? inUse(directory)
    : `${directory} cannot be locked (lock.db: ${code}); check the disk, its free room and the directory's permissions`;
}
