import { join } from 'node:path';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import { positionOf, sequenceOf } from './event-rows.js';
import { makeEventReader } from './event-reader.js';
import { readLogRow } from './event-writer.js';
import { readErrorOf } from './failures.js';
import { eventsFormat } from './formats.js';
import { readMark, shortened } from './high-water-mark.js';
import { openSource } from './copy-stores.js';

/** The log of a data directory, to be read only. */
export type LogReader = Pick<EventStore, 'logId' | 'head' | 'readAll'> & { close(): void };

/**
 * Opens events.db of a data directory for reading, also while a service writes it. Reads are synchronous.
 * @throws StoreUnavailable when the directory has no log; StoreDamaged when the log ends before its mark
 */
export function openLogReader({
  directory,
  streamPrefix,
}: {
  readonly directory: string;
  readonly streamPrefix: string;
}): LogReader {
  const connection = openSource(directory, eventsFormat);
  const attempt = <Result>(read: () => Result): Result => {
    try {
      return read();
    } catch (error) {
      throw readErrorOf(error, eventsFormat);
    }
  };
  const answer = <Result>(read: () => Result): Promise<Result> =>
    new Promise((resolve) => {
      resolve(attempt(read));
    });
  try {
    // The mark follows its commit, so rows that are read after the mark are never behind it.
    const marked = readMark(`${join(directory, eventsFormat.fileName)}.mark`, eventsFormat);
    connection.execute('BEGIN');
    const { logId, head } = attempt(() => readLogRow(connection));
    connection.execute('ROLLBACK');
    if (head < marked) throw shortened(eventsFormat, head, marked);
    const reader = attempt(() => makeEventReader(connection));
    return {
      logId: () => Promise.resolve(logId),
      head: () => answer(() => (reader.head() === 0 ? null : positionOf(reader.head()))),
      readAll: ({ after, limit }) =>
        answer(() => {
          const { events, end, atHead, bytes } = reader.readLog(sequenceOf(after), limit, streamPrefix);
          return { events, cursor: end === 0 ? null : positionOf(end), atHead, bytes };
        }),
      close: () => {
        connection.close();
      },
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}
