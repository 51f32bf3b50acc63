import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { v4 } from 'uuid';
import { StoreDamaged } from '../../../event-sourcing/ports/errors.js';
import { type Connection, openReader } from './database.js';
import { readErrorOf } from './failures.js';
import type { FileFormat } from './formats.js';
import { type GroupWriter, type GroupWriterOptions, openGroupWriter } from '../writing/group-writer.js';
import type { Clock, Random } from '../../../kit/time/clock.js';
import type { Fault } from '../writing/transactions.js';

/** The settings that the three stores of a data directory share. */
export interface EmbeddedContext {
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Receives the error that makes a file unusable: a failed disk, damage, or an ended thread. The process should end with it. */
  readonly onFatal: (error: Error) => void;
  readonly writeLimitMs: number;
  /** The thread that writes the files. */
  readonly thread: Worker;
  /** For each open file: for how long its oldest write has waited. */
  readonly waits: (() => number)[];
  /** Tests only: the faults to inject. */
  readonly faults: readonly Fault[];
  /** Tests only: the number of 4 KiB pages after which the disk of a file counts as full. */
  readonly pageCountMax?: number;
}

/** An open file: the writer thread writes it, this thread reads it. */
export interface OpenFile<Request, Reply, Queries> {
  readonly writer: GroupWriter<Request, Reply>;
  readonly queries: Queries;
  /** Runs a read at once on this thread. Turns its errors into those of the ports. Damage ends the use of the file. */
  readonly answer: <T>(read: () => T) => Promise<T>;
  /** Settles pending writes and closes the file. Idempotent. */
  readonly close: () => Promise<void>;
}

/** Opens a file; nothing stays open when it fails. @throws StoreDamaged, StoreUnavailable */
export async function openFile<Request, Reply, Queries>(
  context: EmbeddedContext,
  format: FileFormat,
  parts: {
    readonly makeQueries: (connection: Connection) => Queries;
    readonly onSettled: GroupWriterOptions<Request, Reply>['onSettled'];
  },
): Promise<OpenFile<Request, Reply, Queries>> {
  const { directory, random, faults, pageCountMax, writeLimitMs, thread, onFatal } = context;
  const path = join(directory, format.fileName);
  const writer = await openGroupWriter<Request, Reply>({
    thread,
    file: {
      name: format.name,
      path,
      newLogId: v4({ random: Uint8Array.from({ length: 16 }, () => Math.floor(random() * 256)) }),
      faults,
      ...(pageCountMax === undefined ? {} : { pageCountMax }),
    },
    limitMs: writeLimitMs,
    onSettled: parts.onSettled,
    onFatal,
  });
  context.waits.push(() => writer.waitedMs());
  try {
    const connection = openReader(path);
    return { writer, queries: parts.makeQueries(connection), answer, close: closer(connection) };
  } catch (error) {
    await writer.close();
    throw readErrorOf(error, format);
  }

  // The function is `async` only to turn a thrown error into a rejection, as the ports require.
  // eslint-disable-next-line @typescript-eslint/require-await
  async function answer<T>(read: () => T): Promise<T> {
    writer.assertUsable();
    try {
      return read();
    } catch (error) {
      const reported = readErrorOf(error, format);
      // A damaged file must not receive further writes.
      if (reported instanceof StoreDamaged) writer.giveUp(reported);
      throw reported;
    }
  }

  function closer(connection: Connection): () => Promise<void> {
    let closed: Promise<void> | undefined;
    return () => (closed ??= writer.close().then(() => connection.close()));
  }
}
