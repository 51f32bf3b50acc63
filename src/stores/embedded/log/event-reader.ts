import type { LogEvent, StoredEvent } from '../../../event-sourcing/ports/domain-event.js';
import { StoreDamaged } from '../../../event-sourcing/ports/errors.js';
import { logPageBytesMax } from '../../../event-sourcing/ports/event-store.js';
import type { Connection } from '../files/database.js';
import {
  contentColumn,
  decodePage,
  decodeRow,
  entriesColumn,
  type EventRow,
  parseEntries,
  countToReach,
} from './event-rows.js';
import { damage } from '../files/failures.js';
import { eventsFormat } from '../files/formats.js';

/** More rows at once cost more for each, because their events leave the young part of the heap. */
export const rowsPerQuery = 100;

/** Reads events.db synchronously. Inconsistent rows are StoreDamaged; a read never returns fewer events instead. */
export type EventReader = ReturnType<typeof makeEventReader>;

type NoEvent = readonly [null, null, null, null];

export function makeEventReader(connection: Connection) {
  const selectLog = connection.query<readonly [Buffer, bigint]>(
    'SELECT CAST(log_id AS BLOB), state_end FROM log',
  );
  const selectHead = connection.query<readonly [bigint]>(
    // A max() with a HAVING clause would read the whole table.
    'SELECT sequence FROM events ORDER BY sequence DESC LIMIT 1',
  );
  // A range in place of LIMIT needs no inner query, which would copy the content of every row.
  const inRange = 'FROM events WHERE sequence > ?1 AND sequence <= ?2';
  const selectEntries = connection.query<readonly [Buffer]>(`SELECT ${entriesColumn} ${inRange}`);
  const selectContents = connection.query<readonly [Buffer | null]>(`SELECT ${contentColumn} ${inRange}`);
  // One statement reads the stream and its events, so that both come from one snapshot.
  const selectStream = connection.query<readonly [last: bigint, ...(EventRow | NoEvent)]>(
    `SELECT streams.revision, sequence, events.revision, CAST(content AS BLOB), checksum
     FROM streams LEFT JOIN events ON events.stream = streams.stream AND events.revision >= ?2
     WHERE streams.stream = ?1 ORDER BY events.revision LIMIT ?3`,
  );
  const selectAny = connection.query('SELECT 1 FROM events WHERE stream = ? LIMIT 1');
  let known = 0;
  mustHold(head());

  const [id, noted] = selectLog.get() ?? [];
  /** The version of state.db that the log had noted when it was opened. */
  const stateEnd = Number(noted ?? 0n);
  return { logId: String(id), stateEnd, head, readStream, readLog, mustHold };

  /** Records that the log reached this sequence. From then on a shorter log is damaged. */
  function mustHold(sequence: number): void {
    known = Math.max(known, sequence);
  }

  /** Returns the sequence of the last event, 0 when there is none. */
  function head(): number {
    const last = Number(selectHead.get()?.[0] ?? 0);
    if (last < known) throw damage(eventsFormat, `its last ${known - last} events are missing`);
    return last;
  }

  /** Reads events of one stream; the name includes the prefix. */
  function readStream(stream: string, from: bigint, limit: number): StoredEvent[] {
    if (limit <= 0 || from > BigInt(Number.MAX_SAFE_INTEGER)) return [];
    let rows = selectStream.all(stream, from, limit);
    if (rows[0] === undefined) {
      if (selectAny.get(stream) === undefined) return [];
      // A commit between the two statements may have begun the stream; a second read then finds it.
      rows = selectStream.all(stream, from, limit);
      if (rows[0] === undefined) throw gap(stream);
    }
    const [last] = rows[0];
    // Where the stream ends before `from`, the left join returns one row without an event.
    const events = rows.flatMap(([, ...row]) => (row[0] === null ? [] : [decodeRow(row)]));
    const wrong = events.some(
      (event, index) => event.stream !== stream || event.revision !== from + BigInt(index),
    );
    const end = from + BigInt(events.length) - 1n;
    if (wrong || (events.length < limit && end < last)) throw gap(stream);
    return events;
  }

  /** Reads events after a sequence from streams with the prefix. `end` is the last sequence read of any stream. */
  function readLog(after: number, limit: number, streamPrefix: string) {
    const last = head();
    assertInLog(after, last);
    const events: LogEvent[] = [];
    let end = after;
    let bytes = 0;
    while (end - after < limit && bytes < logPageBytesMax && end < last) {
      const wanted = Math.min(rowsPerQuery, limit - (end - after), last - end);
      const entries = parseEntries(selectEntries.get(end, end + wanted)?.[0]);
      // Sequences are unique, so their number shows whether one of them is missing.
      if (entries.length !== wanted || entries.at(-1)?.[0] !== end + wanted) throw missing(end + 1);
      const taken = entries.slice(0, countToReach(entries, logPageBytesMax - bytes));
      const contents = selectContents.get(end, end + taken.length)?.[0] ?? Buffer.alloc(0);
      events.push(...decodePage(taken, contents, streamPrefix));
      end += taken.length;
      bytes += contents.length;
    }
    return { events, end, atHead: end >= last, bytes };
  }

  function missing(sequence: number): StoreDamaged {
    return damage(eventsFormat, `an event at sequence ${sequence}, or soon after it, is missing`);
  }

  function gap(stream: string): StoreDamaged {
    return damage(eventsFormat, `events of the stream ${stream} are missing`);
  }
}

/** Refuses a position beyond the end of the log: the read models were built from a newer log. @throws StoreDamaged */
export function assertInLog(position: number, last: number): void {
  if (position <= last) return;
  throw new StoreDamaged(
    `events.db ends at ${last}, but a reader has read up to ${position}: it was replaced by an older one. ` +
      'Restore its newest backup, or stop the service and delete read-models.db; the next start builds it again.',
  );
}

/** Returns the first text that follows all texts with the beginning, in the order of bytes. */
export function endOf(beginning: string): string {
  return beginning.slice(0, -1) + String.fromCharCode(beginning.charCodeAt(beginning.length - 1) + 1);
}
