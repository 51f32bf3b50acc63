import { closeSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { StoreDamaged, StoreUnavailable } from '../../event-sourcing/errors.js';
import { damage } from './failures.js';
import type { FileFormat } from './formats.js';

/**
 * How far a file has been written, kept in a small file beside it. SQLite takes a frame of its write-ahead log with a
 * wrong checksum for the log's end (its file format, section 4.1): a flipped bit, or a `-wal` file that was not copied
 * along, would otherwise pass for a shorter file, and what was acknowledged would be gone without a word.
 *
 * The mark is written after each commit and before anybody hears of it. It is not synced: a power cut may leave it behind
 * the file, which is harmless, and never ahead of it, for the commit was synced first.
 */
export interface HighWaterMark {
  /** To be called with the end of what is committed. @throws StoreUnavailable: the disk has failed */
  raise(end: number): void;
  close(): void;
}

/** The end as 16 digits and its CRC-32 as 8: overwritten in place, within one sector, so that it is never half there. */
const length = 25;

/**
 * Opens the mark of a file that holds everything up to `end`; where there is no mark yet, it begins there.
 * @throws StoreDamaged when the file has held more; StoreUnavailable
 */
export function openHighWaterMark(path: string, format: FileFormat, end: number): HighWaterMark {
  const isNew = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
  const descriptor = attempt(() => openSync(path, isNew ? 'w+' : 'r+', 0o600));
  let marked = -1;
  try {
    if (isNew) {
      raise(end);
      attempt(() => {
        fsyncSync(descriptor);
      });
    } else {
      marked = read();
      if (marked > end) throw shortened(format, end, marked);
      raise(end);
    }
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return {
    raise,
    close: () => {
      closeSync(descriptor);
    },
  };

  function raise(reached: number): void {
    if (reached <= marked) return;
    attempt(() => writeSync(descriptor, encode(reached), 0, 'latin1'));
    marked = reached;
  }

  function read(): number {
    const bytes = Buffer.alloc(length + 1);
    const text = bytes.toString(
      'latin1',
      0,
      attempt(() => readSync(descriptor, bytes, 0, length + 1, 0)),
    );
    const found = Number(text.slice(0, 16));
    if (!Number.isSafeInteger(found) || text !== encode(found)) {
      throw new StoreDamaged(
        `${format.fileName}.mark is damaged. Delete it if ${format.fileName} and its -wal file are as the service left them.`,
      );
    }
    return found;
  }

  function attempt<Result>(access: () => Result): Result {
    try {
      return access();
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      throw new StoreUnavailable(
        `${path} cannot be read or written (${code}); check the disk and its permissions`,
        { cause: error },
      );
    }
  }
}

function encode(end: number): string {
  const digits = String(end).padStart(16, '0');
  return `${digits} ${crc32(digits).toString(16).padStart(8, '0')}`;
}

function shortened(format: FileFormat, end: number, marked: number): StoreDamaged {
  const found = `it ends at ${end} and had reached ${marked}, so what was written last is missing`;
  const { message } = damage(format, found);
  return new StoreDamaged(
    `${message} Its -wal file belongs to it. Where no newer backup is left, ${format.withoutItsEnd ?? ''} to go on without what is missing.`,
  );
}
