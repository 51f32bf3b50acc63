import { join } from 'node:path';
import type { LogEvent } from '../../../event-sourcing/ports/domain-event.js';
import type { EventStore, LogPage, ReadCategory } from '../../../event-sourcing/ports/event-store.js';
import { positionOf, sequenceOf } from './event-rows.js';
import { type CategoryRows, makeCategoryReader } from './category-reader.js';
import { endOf, type EventReader, makeEventReader } from './event-reader.js';
import { readLogRow } from './event-writer.js';
import { readErrorOf } from '../files/failures.js';
import { eventsFormat } from '../files/formats.js';
import { readMark, shortened } from '../files/high-water-mark.js';
import { openSource } from '../files/copy-stores.js';

/** The log of a data directory, to be read only. */
export interface LogReader extends Pick<EventStore, 'shortLogMs' | 'logId' | 'head' | 'read' | 'readAll'> {
  /** Makes the function that reads the pages of one category. */
  readonly ofCategory: (category: string) => ReadCategory;
  /** Returns the number of events in all streams of a category. */
  readonly count: (category: string) => number;
  readonly close: () => void;
}

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
    const countEvents = connection.query<readonly [bigint | null]>(
      'SELECT sum(revision + 1) FROM streams WHERE stream >= ? AND stream < ?',
    );
    const pageOf = ({ end, ...page }: ReturnType<EventReader['readLog']>): LogPage => ({
      ...page,
      cursor: end === 0 ? null : positionOf(end),
    });
    const lastOf = ({ events, end }: CategoryRows): LogEvent | null => {
      const own = events.at(-1) ?? null;
      if (end === 0 || own?.position === positionOf(end)) return own;
      return reader.readLog(end - 1, 1, streamPrefix).events[0] ?? own;
    };
    return {
      shortLogMs: 0,
      logId: () => Promise.resolve(logId),
      head: () => answer(() => (reader.head() === 0 ? null : positionOf(reader.head()))),
      read: (stream, { from = 0n, limit = 500 } = {}) =>
        answer(() =>
          reader
            .readStream(streamPrefix + stream, from, limit)
            .map((event) => ({ ...event, stream: event.stream.slice(streamPrefix.length) })),
        ),
      readAll: ({ after, limit }) =>
        answer(() => pageOf(reader.readLog(sequenceOf(after), limit, streamPrefix))),
      ofCategory: (category) => {
        const read = attempt(() => makeCategoryReader(connection, reader, { category, streamPrefix }));
        return ({ after, limit }) =>
          answer(() => {
            const page = read(sequenceOf(after), limit);
            return { ...pageOf(page), last: lastOf(page) };
          });
      },
      count: (category) => {
        const beginning = `${streamPrefix}${category}-`;
        return attempt(() => Number(countEvents.get(beginning, endOf(beginning))?.[0] ?? 0n));
      },
      close: () => {
        connection.close();
      },
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}
