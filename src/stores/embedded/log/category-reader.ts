import type { LogEvent } from '../../../event-sourcing/ports/domain-event.js';
import { logPageBytesMax } from '../../../event-sourcing/ports/event-store.js';
import type { Connection } from '../files/database.js';
import { assertHeld, endOf, type EventReader, rowsPerQuery } from './event-reader.js';
import { contentColumn, decodePage, entriesColumn, parseEntries, countToReach } from './event-rows.js';
import { damage } from '../files/failures.js';
import { eventsFormat } from '../files/formats.js';

/** Sequences are looked up for so many events of the log at once: 8 MiB of memory. */
const sequencesAtOnce = 1_000_000;

/** Events of one category, in the order of the log. `end` is the last sequence that the page passed, of any stream. */
export interface CategoryRows {
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
      assertHeld(from, head);
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
