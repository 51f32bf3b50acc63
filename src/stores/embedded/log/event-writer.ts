import type { Connection } from '../files/database.js';
import { decodeRow, eventChecksum, eventColumns, type EventRow, logChecksum } from './event-rows.js';
import { damage } from '../files/failures.js';
import { eventsFormat } from '../files/formats.js';
import type { FileWriter, Prepare } from '../writing/transactions.js';

/**
 * The stream with its prefix, the expected revision (-1: absent), an append that follows where this one is written, then the
 * id and the content of each event.
 */
export type AppendRequest = readonly [
  stream: string,
  expected: bigint,
  further: AppendRequest | null,
  ...idsAndContents: string[],
];

/**
 * The revision and sequence of the append's last event, and the sequence of the last event that followed; null when the stream is
 * not at the expected revision.
 */
export type AppendReply = readonly [revision: number, sequence: number, further: number | null] | null;

/**
 * Makes the writing side of events.db. A log that has no id yet gets `newLogId`.
 * @param stateEnd returns the version that state.db has durably reached; 0 where it is elsewhere
 */
export function makeEventWriter(
  connection: Connection,
  prepare: Prepare,
  newLogId: string,
  stateEnd: () => number = () => 0,
): FileWriter<AppendRequest, AppendReply> {
  const selectRevision = connection.query<readonly [bigint]>('SELECT revision FROM streams WHERE stream = ?');
  const selectRange = connection.query<EventRow>(
    `SELECT ${eventColumns} FROM events WHERE stream = ? AND revision BETWEEN ? AND ? ORDER BY revision`,
  );
  const insertEvent = prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?)');
  const beginStream = prepare('INSERT OR IGNORE INTO streams VALUES (?, ?)');
  const extendStream = prepare('UPDATE streams SET revision = ? WHERE stream = ? AND revision = ?');
  const updateHead = prepare('UPDATE log SET head = ?, checksum = ?, state_end = ?');
  if (connection.query('SELECT 1 FROM log').get() === undefined) {
    const insert = connection.statement('INSERT INTO log (log_id, head, checksum) VALUES (?, 0, ?)');
    insert(newLogId, logChecksum(newLogId, 0, 0));
  }
  let { logId, head, stateEnd: noted } = readLogRow(connection);
  let sequence = head;

  return { apply, beforeCommit, reload, end: () => head };

  function apply(request: AppendRequest): AppendReply {
    const [revision, last] = append(request) ?? [];
    if (revision === undefined || last === undefined) return null;
    return [revision, last, request[2] === null ? null : (append(request[2])?.[1] ?? null)];
  }

  function append(request: AppendRequest): readonly [revision: number, sequence: number] | null {
    const [stream, expected] = request;
    const last = expected + BigInt((request.length - 3) / 2);
    const moved = expected === -1n ? beginStream(stream, last) : extendStream(last, stream, expected);
    if (moved === 0) return whereWritten(request);
    let revision = Number(expected);
    for (let index = 4; index < request.length; index += 2) {
      const content = request[index] as string;
      revision += 1;
      sequence += 1;
      insertEvent(sequence, stream, revision, content, eventChecksum(content, sequence, revision));
    }
    return [revision, sequence];
  }

  /** Finds an append that was written before: the same ids at its revisions. Returns null when there is none. */
  function whereWritten([stream, expected, , ...idsAndContents]: AppendRequest): ReturnType<typeof append> {
    const current = selectRevision.get(stream)?.[0] ?? -1n;
    const ids = idsAndContents.filter((_, index) => index % 2 === 0);
    const last = expected + BigInt(ids.length);
    if (last > current) return null;
    const rows = selectRange.all(stream, expected + 1n, last);
    const sequenceOfLast = rows.at(-1)?.[0];
    if (rows.length !== ids.length || sequenceOfLast === undefined) {
      throw damage(eventsFormat, 'a stream has a gap');
    }
    return rows.every((row, index) => decodeRow(row).id === ids[index])
      ? [Number(last), Number(sequenceOfLast)]
      : null;
  }

  function beforeCommit(): void {
    if (sequence === head) return;
    // A data key is durable before the event that needs it. So the state of this moment, or a later one, is enough.
    noted = Math.max(noted, stateEnd());
    updateHead(sequence, logChecksum(logId, sequence, noted), noted);
    head = sequence;
  }

  function reload(): 'there' | 'not there' | 'cannot tell' {
    const expected = sequence;
    ({ logId, head, stateEnd: noted } = readLogRow(connection));
    sequence = head;
    return head === expected ? 'there' : 'not there';
  }
}

/** The log's own row: its id, the sequence of its last event, and the version of state.db that it has noted. */
export interface LogRow {
  readonly logId: string;
  readonly head: number;
  readonly stateEnd: number;
}

/** Reads the log's row. @throws StoreDamaged when the row, or the first or last event, is not as written */
export function readLogRow(connection: Connection): LogRow {
  const [id, end, checksum, noted] =
    connection
      .query<readonly [Buffer, bigint, bigint, bigint]>(
        'SELECT CAST(log_id AS BLOB), head, checksum, state_end FROM log',
      )
      .get() ?? [];
  const [logId, head, stateEnd] = [String(id), Number(end), Number(noted)];
  if (BigInt(logChecksum(logId, head, stateEnd)) !== checksum)
    throw damage(eventsFormat, 'its head does not match its checksum');
  for (const [order, expected] of [
    ['ASC', Math.min(head, 1)],
    ['DESC', head],
  ] as const) {
    const row = connection
      .query<EventRow>(`SELECT ${eventColumns} FROM events ORDER BY sequence ${order} LIMIT 1`)
      .get();
    if (Number(row?.[0] ?? 0) !== expected) throw damage(eventsFormat, `it should have ${head} events`);
    if (row !== undefined) decodeRow(row);
  }
  return { logId, head, stateEnd };
}
