import { codeOf } from '../../../kit/errors.js';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { crc32 } from 'node:zlib';
import { StoreDamaged, StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import { damage } from './failures.js';
import type { FileFormat } from './formats.js';

/**
 * The end of a file's data, in a small file beside it. SQLite ends its write-ahead log at a frame with a wrong checksum
 * (SQLite file format, section 4.1). Without the mark, a flipped bit or a missing `-wal` file would lose acknowledged
 * data silently. The mark is written between the synced commit and its acknowledgement, and is not synced itself. So a
 * power cut may leave it behind the file, which is harmless, but never ahead.
 */
export interface HighWaterMark {
  /** Raises the mark to the end of the committed data. @throws StoreUnavailable when the disk fails */
  raise(end: number): void;
  close(): void;
}

/** The end as 16 digits, a space, and its CRC-32 as 8 digits. An overwrite in one sector is never partial. */
const length = 25;

/** Opens the mark, or creates it at `end`. @throws StoreDamaged when the file was longer before; StoreUnavailable */
export function openHighWaterMark(path: string, format: FileFormat, end: number): HighWaterMark {
  const isNew = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
  const descriptor = attempt(() => openSync(path, isNew ? 'w+' : 'r+', 0o600));
  let marked = -1;
  try {
    if (isNew) {
      raise(end);
      attempt(() => fsyncSync(descriptor));
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
    close: () => closeSync(descriptor),
  };

  function raise(reached: number): void {
    if (reached <= marked) return;
    attempt(() => writeSync(descriptor, encode(reached), 0, 'latin1'));
    marked = reached;
  }

  function read(): number {
    const bytes = Buffer.alloc(length + 1);
    const read = attempt(() => readSync(descriptor, bytes, 0, length + 1, 0));
    return decode(bytes.toString('latin1', 0, read), format);
  }

  function attempt<Result>(access: () => Result): Result {
    return accessing(path, access);
  }
}

/** A service may write the mark while it is read. */
const readTries = 100;

/**
 * Reads a mark, also while a service raises it; 0 where it is absent or empty.
 * @throws StoreDamaged when it is damaged; StoreUnavailable
 */
export function readHighWaterMark(path: string, format: FileFormat): number {
  if (!existsSync(path)) return 0;
  for (let tries = 1; ; tries += 1) {
    const text = accessing(path, () => readFileSync(path, 'latin1'));
    if (text === '') return 0;
    try {
      return decode(text, format);
    } catch (error) {
      if (tries === readTries) throw error;
    }
  }
}

function accessing<Result>(path: string, access: () => Result): Result {
  try {
    return access();
  } catch (error) {
    throw new StoreUnavailable(
      `${path} cannot be read or written (${codeOf(error)}); check the disk and its permissions`,
      { cause: error },
    );
  }
}

function decode(text: string, format: FileFormat): number {
  const found = Number(text.slice(0, 16));
  if (Number.isSafeInteger(found) && text === encode(found)) return found;
  throw new StoreDamaged(
    `${format.fileName}.mark is damaged. Delete it if ${format.fileName} and its -wal file are unchanged since the service ended.`,
  );
}

function encode(end: number): string {
  const digits = String(end).padStart(16, '0');
  return `${digits} ${crc32(digits).toString(16).padStart(8, '0')}`;
}

/** Makes the error for a file that ends before its mark. */
export function shortened(format: FileFormat, end: number, marked: number): StoreDamaged {
  const found = `it ends at ${end} and had reached ${marked}, so the last writes are missing`;
  const { message } = damage(format, found);
  return new StoreDamaged(`${message} Restore its -wal file with it. ${format.withoutItsEnd ?? ''}`);
}
