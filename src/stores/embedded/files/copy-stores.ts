import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import type { JsonValue, Position } from '../../../event-sourcing/ports/domain-event.js';
import { type Connection, openConnection, openReader } from './database.js';
import { decodeRow, logChecksum, positionOf } from '../log/event-rows.js';
import type { LogRow } from '../log/event-writer.js';
import { damage, readErrorOf, checked } from './failures.js';
import { eventsFormat, type FileFormat, stateFormat } from './formats.js';
import { readHighWaterMark, shortened } from './high-water-mark.js';
import {
  checkFormat,
  stampAndSchemaOf,
  copiedAlone,
  createSchema,
  hasNoSchema,
  hasOpenFlag,
  whatIsBeside,
} from './prepare-file.js';
import { decodeStateRow, stateColumns, type StateRow } from '../writing/state-store.js';

/** The files that a copy makes. */
export const copiedFiles: readonly string[] = [eventsFormat.fileName, stateFormat.fileName];

/** Log and state of one moment, as after a crash at that moment. */
interface StoresCopy<Beside> {
  readonly logId: string;
  /** The position of the last event; null for an empty log. */
  readonly position: Position | null;
  readonly events: number;
  readonly records: number;
  /** The version of the state. It only grows. */
  readonly stateVersion: number;
  /** What the caller read at the same moment. */
  readonly beside: Beside;
}

const rowsAtOnce = 100;
/** A busy service commits every few milliseconds, and the moment takes less than one. */
const momentTriesMax = 5_000;

/**
 * Copies events.db and state.db of a data directory into new files, also while a service writes them. It chooses a moment
 * at which no event is appended, and holds the state of that moment in a read transaction. Events never change, so they
 * are read afterwards, in short reads. Every row is checked. The copies are complete without another file. Files that end
 * before their marks, or without what stood beside them, are refused.
 * @param options.readBeside reads what must be of the same moment; it is equal before and after the moment
 * @throws StoreUnavailable, StoreDamaged
 */
export async function copyStores<Beside>(options: {
  readonly directory: string;
  readonly target: string;
  readonly readBeside: () => Beside;
  readonly isSame: (one: Beside, other: Beside) => boolean;
  /** Is called when the moment is chosen. Later writes to the directory do not change the copy. */
  readonly onMoment: () => void;
  /** Rows that are copied, and rows in all. */
  readonly onProgress: (done: number, all: number) => void;
}): Promise<StoresCopy<Beside>> {
  const { directory, target, readBeside, isSame, onMoment, onProgress } = options;
  const { state, events } = openSources(directory);
  try {
    const { log, version, records, beside } = await moment();
    onMoment();
    const all = log.head + records;
    const done = { rows: 0 };
    const advance = async (rows: number): Promise<void> => {
      done.rows += rows;
      onProgress(done.rows, all);
      await nextTurn();
    };
    await copyState(state, join(target, stateFormat.fileName), { version, advance });
    state.execute('ROLLBACK');
    await copyEvents(events, join(target, eventsFormat.fileName), { log, advance });
    return {
      logId: log.logId,
      position: log.head === 0 ? null : positionOf(log.head),
      events: log.head,
      records,
      stateVersion: version,
      beside,
    };
  } finally {
    state.close();
    events.close();
  }

  async function moment(): Promise<{ log: LogRow; version: number; records: number; beside: Beside }> {
    const selectLog = events.query<readonly [Buffer, bigint, bigint, bigint]>(
      'SELECT CAST(log_id AS BLOB), head, checksum, state_end FROM log',
    );
    const readLog = (): LogRow => {
      const [id, head, checksum, noted] = selectLog.get() ?? [];
      const row = { logId: String(id), head: Number(head), stateEnd: Number(noted) };
      if (BigInt(logChecksum(row.logId, row.head, row.stateEnd)) === checksum) return row;
      throw damage(eventsFormat, 'its head does not match its checksum');
    };
    const selectVersion = state.query<readonly [bigint]>('SELECT value FROM counter');
    for (let tries = 0; tries < momentTriesMax; tries += 1) {
      // A mark follows its commit, so rows that are read after the mark are never behind it.
      const marked = { log: markOf(eventsFormat), state: markOf(stateFormat) };
      const beside = readBeside();
      const log = checked(eventsFormat, readLog);
      // The first read of the transaction chooses its snapshot.
      state.execute('BEGIN');
      const version = Number(selectVersion.get()?.[0] ?? 0n);
      if (readLog().head === log.head && isSame(beside, readBeside())) {
        if (log.head < marked.log) throw shortened(eventsFormat, log.head, marked.log);
        const stateEnd = Math.max(marked.state, log.stateEnd);
        if (version < stateEnd) throw shortened(stateFormat, version, stateEnd);
        const records = Number(state.query<readonly [bigint]>('SELECT count(*) FROM records').get()?.[0]);
        return { log, version, records, beside };
      }
      state.execute('ROLLBACK');
      await wait(1);
    }
    throw new StoreUnavailable('the service writes without a pause; try again when it is less busy');
  }

  function markOf(format: FileFormat): number {
    return readHighWaterMark(`${join(directory, format.fileName)}.mark`, format);
  }
}

function openSources(directory: string): { readonly state: Connection; readonly events: Connection } {
  const state = openSource(directory, stateFormat);
  try {
    return { state, events: openSource(directory, eventsFormat) };
  } catch (error) {
    state.close();
    throw error;
  }
}

type Advance = (rows: number) => Promise<void>;

async function copyState(
  source: Connection,
  path: string,
  { version, advance }: { readonly version: number; readonly advance: Advance },
): Promise<void> {
  const copy = openCopy(path, stateFormat);
  const insert = copy.statement('INSERT INTO records VALUES (?, ?, ?, ?, ?)');
  const select = source.query<StateRow>(
    `SELECT ${stateColumns} FROM records WHERE key > ? ORDER BY key LIMIT ${rowsAtOnce}`,
  );
  for (let after = ''; ;) {
    const rows = checked(stateFormat, () => {
      const read = select.all(after);
      for (const row of read) decodeStateRow(row);
      return read;
    });
    if (rows.length === 0) break;
    copy.execute('BEGIN');
    for (const [key, value, rowVersion, expiresAt, checksum] of rows) {
      after = key.toString();
      insert(after, value.toString(), rowVersion, expiresAt, checksum);
    }
    copy.execute('COMMIT');
    await advance(rows.length);
  }
  copy.statement('INSERT INTO counter (value) VALUES (?)')(version);
  copy.close();
}

type SourceEvent = readonly [
  sequence: bigint,
  stream: Buffer,
  revision: bigint,
  content: Buffer,
  checksum: bigint,
];

async function copyEvents(
  source: Connection,
  path: string,
  { log, advance }: { readonly log: LogRow; readonly advance: Advance },
): Promise<void> {
  const copy = openCopy(path, eventsFormat);
  const insert = copy.statement('INSERT INTO events VALUES (?, ?, ?, ?, ?)');
  const select = source.query<SourceEvent>(
    `SELECT sequence, CAST(stream AS BLOB), revision, CAST(content AS BLOB), checksum FROM events
     WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ${rowsAtOnce}`,
  );
  for (let after = 0; after < log.head;) {
    const rows = checked(eventsFormat, () => {
      const read = select.all(after, log.head);
      if (read.length === 0) throw damage(eventsFormat, `the event at sequence ${after + 1} is missing`);
      for (const [index, [sequence, , revision, content, checksum]] of read.entries()) {
        const expected = after + index + 1;
        if (Number(sequence) !== expected) {
          throw damage(eventsFormat, `the event at sequence ${expected} is missing`);
        }
        decodeRow([sequence, revision, content, checksum]);
      }
      return read;
    });
    copy.execute('BEGIN');
    for (const [sequence, stream, revision, content, checksum] of rows) {
      insert(sequence, stream.toString(), revision, content.toString(), checksum);
    }
    copy.execute('COMMIT');
    after += rows.length;
    await advance(rows.length);
  }
  copy.execute('INSERT INTO streams SELECT stream, max(revision) FROM events GROUP BY stream');
  const gaps = copy.query<readonly [bigint]>(
    'SELECT count(*) FROM (SELECT 1 FROM events GROUP BY stream HAVING count(*) <> max(revision) + 1)',
  );
  if (gaps.get()?.[0] !== 0n) throw damage(eventsFormat, 'a stream has a gap');
  copy.statement('INSERT INTO log (log_id, head, checksum, state_end) VALUES (?, ?, ?, ?)')(
    ...[log.logId, log.head, logChecksum(log.logId, log.head, log.stateEnd), log.stateEnd],
  );
  copy.close();
}

/**
 * Opens a file of a data directory for reading. @throws StoreUnavailable when it is absent or empty; StoreDamaged when
 * another program wrote it, or it was copied without its write-ahead log
 */
export function openSource(directory: string, format: FileFormat): Connection {
  const path = join(directory, format.fileName);
  if (!existsSync(path)) {
    throw new StoreUnavailable(`${path} does not exist; DATA_DIR must name the directory of a service`);
  }
  const beside = whatIsBeside(path);
  const connection = openReader(path);
  try {
    const found = stampAndSchemaOf(connection);
    if (hasNoSchema(found)) {
      throw new StoreUnavailable(`${path} is empty; start the service once, which begins it`);
    }
    checkFormat(format, found);
    if (beside === 'nothing' && hasOpenFlag(connection, format)) throw copiedAlone(format);
    return connection;
  } catch (error) {
    connection.close();
    throw readErrorOf(error, format);
  }
}

/** Opens a new file that needs no other file beside it. The caller syncs it, so SQLite does not. */
function openCopy(path: string, format: FileFormat): Connection {
  const copy = openConnection(path);
  copy.execute('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  createSchema(copy, format);
  return copy;
}

/** Reads one record of a copied state.db; null when it is absent. @throws StoreDamaged, StoreUnavailable */
export function readCopiedRecord(directory: string, key: string): JsonValue {
  const connection = openSource(directory, stateFormat);
  try {
    const row = connection.query<StateRow>(`SELECT ${stateColumns} FROM records WHERE key = ?`).get(key);
    return row === undefined ? null : decodeStateRow(row).value;
  } finally {
    connection.close();
  }
}
