import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { StoreDamaged, StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import { type Connection, openConnection } from './database.js';
import { damage, sqliteCode } from './failures.js';
import { applicationId, type FileFormat } from './formats.js';

/** The number of 4 KiB pages at which SQLite copies the write-ahead log into the database. */
const checkpointPages = 4_000;

/**
 * The memory for pages of the read models, in KiB. With SQLite's 2 MiB, each write to a large index reads pages again. The
 * other files take mostly ascending writes.
 */
const readModelCacheKiB = 16 * 1024;

/**
 * Opens the only writing connection of a file, and creates or checks the schema. The cost does not depend on the size
 * of the file. @throws StoreDamaged, StoreUnavailable
 */
export function openWriter(path: string, format: FileFormat): Connection {
  assertWhole(path, format);
  const beside = whatIsBeside(path);
  const connection = openConnection(path);
  // The file holds its schema before SQLite begins to use a write-ahead log, so a copy of it alone is recognised.
  if (beside === 'new') createSchema(connection, format);
  const found = stampAndSchemaOf(connection);
  if (hasNoSchema(found)) {
    if (beside === 'nothing' && format.openFlagOf !== null) throw copiedAlone(format);
    createSchema(connection, format);
  } else checkFormat(format, found);
  // Only now, because it changes the file, which may be that of another program.
  configure(connection, path, format);
  if (beside === 'nothing' && hasOpenFlag(connection, format)) throw copiedAlone(format);
  return connection;
}

/** Tells whether a file has anything beside it that shows how far it was written. */
export function whatIsBeside(path: string): 'new' | 'nothing' | 'something' {
  if (sizeOf(`${path}-wal`) > 0) return 'something';
  if (sizeOf(path) === 0) return 'new';
  if (hasJournal(path)) return 'something';
  return existsSync(`${path}.mark`) ? 'something' : 'nothing';
}

/** A process that was killed while it created the schema leaves a journal, with which SQLite makes the file empty. */
function hasJournal(path: string): boolean {
  return sizeOf(`${path}-journal`) > 0;
}

function configure(connection: Connection, path: string, format: FileFormat): void {
  const [mode] = connection.query<readonly [string & Buffer]>('PRAGMA journal_mode = WAL').get() ?? [];
  if (String(mode) !== 'wal') {
    throw new StoreUnavailable(`${path} is on a file system without shared memory; use a local disk`);
  }
  connection.execute(`PRAGMA synchronous = ${format.synchronous}; PRAGMA cell_size_check = ON;
    PRAGMA wal_autocheckpoint = ${checkpointPages}; PRAGMA journal_size_limit = ${checkpointPages * 4_096}`);
  if (format.name === 'read-models') connection.execute(`PRAGMA cache_size = -${readModelCacheKiB}`);
  // Without it, the key of an erased person stays in the free bytes of a page for ever.
  if (format.name === 'state') connection.execute('PRAGMA secure_delete = ON');
}

function schemaOf(connection: Connection): readonly string[] {
  return connection
    .query<readonly [Buffer]>(
      "SELECT CAST(sql AS BLOB) FROM sqlite_schema WHERE sql IS NOT NULL AND substr(name, 1, 7) <> 'sqlite_' ORDER BY rowid",
    )
    .all()
    .map(([sql]) => sql.toString());
}

/**
 * Notes in the file itself that its newest data is in a write-ahead log, until `clearOpenFlag`. Returns false while a full disk has no
 * room for the note: the file can be read meanwhile.
 */
export function setOpenFlag(connection: Connection, format: FileFormat): boolean {
  if (format.openFlagOf === null || hasOpenFlag(connection, format)) return true;
  try {
    connection.execute(`UPDATE ${format.openFlagOf} SET open = 1; PRAGMA wal_checkpoint(PASSIVE)`);
    return true;
  } catch (error) {
    if (sqliteCode(error) === 'SQLITE_FULL') return false;
    throw error;
  }
}

/** Notes that the file holds all of its data; a checkpoint must follow. A full disk leaves the note as it is. */
export function clearOpenFlag(connection: Connection, format: FileFormat): void {
  if (format.openFlagOf === null) return;
  try {
    connection.execute(`UPDATE ${format.openFlagOf} SET open = 0`);
  } catch (error) {
    if (sqliteCode(error) === null) throw error;
  }
}

/**
 * Copies the write-ahead log into the file and empties it. Prepared statements keep the files open after `close`, so only a
 * checkpoint does. A full disk leaves the log as it is, and the next start reads it.
 */
export function emptyLog(connection: Connection): void {
  try {
    connection.execute('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    if (sqliteCode(error) === null) throw error;
  }
}

/** Tells whether a file notes that its newest data may be in a write-ahead log. */
export function hasOpenFlag(connection: Connection, { openFlagOf }: FileFormat): boolean {
  if (openFlagOf === null) return false;
  return connection.query<readonly [bigint]>(`SELECT open FROM ${openFlagOf}`).get()?.[0] === 1n;
}

/** Makes the error for a file that lacks the write-ahead log with its newest data. */
export function copiedAlone(format: FileFormat): StoreDamaged {
  const { fileName } = format;
  const found =
    `it was copied without its ${fileName}-wal and ${fileName}.mark while a service wrote it, so its last writes, or all ` +
    'of them, are missing';
  const { message } = damage(format, found);
  return new StoreDamaged(
    `${message} \`stowage backup\` copies a running service. ${format.withoutItsEnd ?? ''}`,
  );
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Compares the file's length with its header (SQLite file format, section 1.3: page size at byte 16, pages at byte 28).
 * After an unclean end the write-ahead log may hold the missing pages, or the journal removes the header. @throws StoreDamaged
 */
function assertWhole(path: string, format: FileFormat): void {
  const size = sizeOf(path);
  if (size === 0 || sizeOf(`${path}-wal`) > 0 || hasJournal(path)) return;
  const header = Buffer.alloc(100);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, header, 0, header.length, 0);
  } finally {
    closeSync(descriptor);
  }
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  if (size < header.readUInt32BE(28) * pageSize) throw damage(format, 'it is shorter than its header says');
}

/** Creates the schema of a format in an empty file. */
export function createSchema(connection: Connection, format: FileFormat): void {
  connection.execute('BEGIN IMMEDIATE');
  for (const sql of format.schema) connection.execute(sql);
  connection.execute(
    `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${format.version}; COMMIT`,
  );
}

/** Whose a file is, and its tables. */
interface StampAndSchema {
  readonly id: number;
  readonly version: number;
  readonly schema: readonly string[];
}

export function stampAndSchemaOf(connection: Connection): StampAndSchema {
  return {
    id: pragmaNumber(connection, 'application_id'),
    version: pragmaNumber(connection, 'user_version'),
    schema: schemaOf(connection),
  };
}

/** Tells whether a file has no schema yet: nothing has written it, or its first transaction did not commit. */
export function hasNoSchema({ id, version, schema }: StampAndSchema): boolean {
  return schema.length === 0 && id === 0 && version === 0;
}

/** @throws StoreDamaged with a sentence for a file of another program, of a newer release, or with another schema */
export function checkFormat(format: FileFormat, { id, version, schema }: StampAndSchema): void {
  const canBeRebuilt = format.withoutItsEnd === null;
  if (id !== applicationId) {
    throw new StoreDamaged(
      `${format.fileName} does not carry the stamp of this program: another one wrote it, or one from before release 1.0.0. ` +
        (canBeRebuilt
          ? `${format.remedy}.`
          : 'This program cannot read it. Keep the directory for the program that wrote it, and set DATA_DIR to an empty one.'),
    );
  }
  if (version > format.version) {
    throw new StoreDamaged(
      `${format.fileName} has format ${version}, this program knows up to ${format.version}. Run the newer version.` +
        (canBeRebuilt ? ` To continue with this version: ${format.remedy}.` : ''),
    );
  }
  if (version !== format.version || schema.join(';') !== format.schema.join(';')) {
    throw damage(format, 'its schema differs from the one that this program creates');
  }
}

function pragmaNumber(connection: Connection, name: string): number {
  return Number(connection.query<readonly [bigint]>(`PRAGMA ${name}`).get()?.[0] ?? 0);
}
