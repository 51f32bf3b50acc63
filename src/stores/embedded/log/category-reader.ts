import type { LogEvent } from '../../../event-sourcing/ports/domain-event.js';
import {
  type EventStore,
  type LogPage,
  type ReadCategory,
  logPageBytesMax,
} from '../../../event-sourcing/ports/event-store.js';
import type { Connection } from '../files/database.js';
import { type EventReader, assertInLog, endOf, makeEventReader, rowsPerQuery } from './event-reader.js';
import {
  contentColumn,
  countToReach,
  decodePage,
  entriesColumn,
  parseEntries,
  positionOf,
  sequenceOf,
} from './event-rows.js';
import { damage, checked } from '../files/failures.js';
import { eventsFormat } from '../files/formats.js';
import { join } from 'node:path';
import { readLogRow } from './event-writer.js';
import { readHighWaterMark, shortened } from '../files/high-water-mark.js';
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
  const attempt = <Result>(read: () => Result): Result => checked(eventsFormat, read);
  const answer = <Result>(read: () => Result): Promise<Result> =>
    new Promise((resolve) => resolve(attempt(read)));
  try {
    // The mark follows its commit, so rows that are read after the mark are never behind it.
    const marked = readHighWaterMark(`${join(directory, eventsFormat.fileName)}.mark`, eventsFormat);
    connection.execute('BEGIN');
    const { logId, head } = attempt(() => readLogRow(connection));
    connection.execute('ROLLBACK');
    if (head < marked) throw shortened(eventsFormat, head, marked);
    const reader = attempt(() => makeEventReader(connection));
    const countEvents = connection.query<readonly [bigint | null]>(
      'SELECT sum(revision + 1) FROM streams WHERE stream >= ? AND stream < ?',
    );
    const pageOf = ({ end, ...page }: CategoryRows): LogPage => ({
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
      close: () => connection.close(),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Sequences are looked up for so many events of the log at once: 8 MiB of memory. */
const sequencesAtOnce = 1_000_000;

/** Events of one category, in the order of the log. `end` is the last sequence that the page passed, of any stream. */
interface CategoryRows {
  readonly events: readonly LogEvent[];
  readonly end: number;
  readonly atHead: boolean;
  readonly bytes: number;
}

/**
 * Makes the function that reads a page of a category, from the events after a sequence. The index of streams tells which
 * sequences the category has, so the rows of other categories are not read. The first call verifies that the index is
 * complete. The head of the log is that of the look-up, which may be older than the page.
 * @param options.windowMax the number of events of the log that one look-up covers
 * @throws StoreDamaged when the index or a row is missing or differs from the written one, or when the log ends before
 * `after`
 */
export function makeCategoryReader(
  connection: Connection,
  reader: Pick<EventReader, 'head'>,
  {
    category,
    streamPrefix,
    windowMax = sequencesAtOnce,
  }: { readonly category: string; readonly streamPrefix: string; readonly windowMax?: number },
): (after: number, limit: number) => CategoryRows {
  const beginning = `${streamPrefix}${category}-`;
  const bounds = [beginning, endOf(beginning)] as const;
  const selectCounts = connection.query<readonly [all: bigint, indexed: bigint, written: bigint | null]>(
    `SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM events WHERE stream >= ?1 AND stream < ?2),
       (SELECT sum(revision + 1) FROM streams WHERE stream >= ?1 AND stream < ?2)`,
  );
  // The plus signs keep SQLite from reading all rows in the order of their sequences.
  const selectSequences = connection.query<readonly [Buffer]>(
    `SELECT CAST(json_group_array(sequence) AS BLOB) FROM events
     WHERE stream >= ?1 AND stream < ?2 AND +sequence > ?3 AND +sequence <= ?4`,
  );
  const listed = 'FROM json_each(?) CROSS JOIN events ON sequence = value';
  const selectEntries = connection.query<readonly [Buffer]>(`SELECT ${entriesColumn} ${listed}`);
  const selectContents = connection.query<readonly [Buffer | null]>(`SELECT ${contentColumn} ${listed}`);
  let isVerified = false;
  /** The sequences of the category after `from`, up to `to`. */
  let window = { from: 0, to: 0, head: 0, sequences: new Float64Array() };

  return (after, limit) => {
    if (after < window.from || after >= window.to) window = lookUp(after);
    const { sequences, to, head } = window;
    const first = indexAfter(sequences, after);
    const last = Math.min(first + limit, sequences.length);
    const events: LogEvent[] = [];
    let at = first;
    let bytes = 0;
    while (at < last && bytes < logPageBytesMax) {
      const wanted = sequences.subarray(at, Math.min(at + rowsPerQuery, last));
      const entries = parseEntries(selectEntries.get(listOf(wanted))?.[0]);
      const wrong = wanted.findIndex((sequence, index) => entries[index]?.[0] !== sequence);
      if (wrong >= 0) throw damage(eventsFormat, `the event at sequence ${wanted[wrong]} is missing`);
      const taken = entries.slice(0, countToReach(entries, logPageBytesMax - bytes));
      const contents = selectContents.get(listOf(wanted.subarray(0, taken.length)))?.[0] ?? Buffer.alloc(0);
      events.push(...decodePage(taken, contents, streamPrefix).map(ofCategory));
      bytes += contents.length;
      at += taken.length;
    }
    const isEmpty = at === sequences.length;
    return {
      events,
      end: isEmpty ? to : (sequences[at - 1] ?? after),
      atHead: isEmpty && to === head,
      bytes,
    };
  };

  /** The checksum covers the stream's name in the content, and not the one in the index. */
  function ofCategory(event: LogEvent): LogEvent {
    if (event.stream.startsWith(`${category}-`)) return event;
    throw damage(eventsFormat, `the index of streams names another stream than the event ${event.id}`);
  }

  function lookUp(from: number): typeof window {
    connection.execute('BEGIN');
    try {
      const head = reader.head();
      assertInLog(from, head);
      if (!isVerified) verify(head);
      const to = Math.min(from + windowMax, head);
      const json = selectSequences.get(...bounds, from, to)?.[0];
      const sequences = Float64Array.from(JSON.parse(String(json)) as number[]).sort();
      return { from, to, head, sequences };
    } finally {
      connection.execute('ROLLBACK');
    }
  }

  /** Sequences are unique and begin at 1, so their number shows whether one of them is missing. */
  function verify(head: number): void {
    const [all, indexed, written] = selectCounts.get(...bounds) ?? [];
    if (Number(all) !== head) throw damage(eventsFormat, `${head - Number(all)} of its events are missing`);
    if (indexed !== (written ?? 0n))
      throw damage(eventsFormat, `events of the category ${category} are missing`);
    isVerified = true;
  }
}

function listOf(sequences: Float64Array): string {
  return `[${sequences.join()}]`;
}

/** Returns the index of the first number of an ascending list that is greater. */
function indexAfter(ascending: Float64Array, number: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((ascending[middle] ?? Infinity) > number) high = middle;
    else low = middle + 1;
  }
  return low;
}
