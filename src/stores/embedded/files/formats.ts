/** The format of one SQLite file of a data directory: its durability, its schema, and the remedy when it is damaged. */
export interface FileFormat {
  readonly name: 'events' | 'read-models' | 'state';
  readonly fileName: string;
  /** FULL syncs the write-ahead log before a commit returns. NORMAL may lose the last commits to a power cut. */
  readonly synchronous: 'FULL' | 'NORMAL';
  /** The version of `schema`; every change of `schema` increments it. */
  readonly version: number;
  readonly schema: readonly string[];
  /** A sentence for the operator of a damaged file. */
  readonly remedy: string;
  /**
   * What to do when no backup has the lost end, as sentences. Null: the file can be built again, and it has no mark.
   */
  readonly withoutItsEnd: string | null;
  /**
   * The table whose column `open` is 1 while a process writes the file. A copy of the file alone shows by it that the
   * rest of its data is in a `-wal` file. Null for a file without a mark.
   */
  readonly openFlagOf: 'log' | 'counter' | null;
}

/** "STOW": stamps a SQLite file as one of this service (`PRAGMA application_id`): src/stores/README.md#the-stamp. */
export const applicationId = 0x53544f57;

/**
 * `checksum` covers content and sequence. `streams` and `log` repeat the ends, so a damaged index hides no event.
 * `state_end` is the version that state.db had reached at the last append, so an older state.db is noticed.
 */
export const eventsFormat: FileFormat = {
  name: 'events',
  fileName: 'events.db',
  synchronous: 'FULL',
  version: 1,
  schema: [
    `CREATE TABLE log (log_id TEXT NOT NULL, head INTEGER NOT NULL, checksum INTEGER NOT NULL,
      state_end INTEGER NOT NULL DEFAULT 0, open INTEGER NOT NULL DEFAULT 0) STRICT`,
    'CREATE TABLE streams (stream TEXT PRIMARY KEY, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID',
    `CREATE TABLE events (sequence INTEGER PRIMARY KEY, stream TEXT NOT NULL, revision INTEGER NOT NULL,
      content TEXT NOT NULL, checksum INTEGER NOT NULL, UNIQUE (stream, revision)) STRICT`,
  ],
  remedy: 'Stop the service and restore events.db from a backup',
  withoutItsEnd:
    'Without a newer backup: empty events.db.mark (leave the empty file) and delete read-models.db to continue without ' +
    'the missing data.',
  openFlagOf: 'log',
};

/** `checksum` covers the whole row. A document tells what its index entries are. */
export const readModelsFormat: FileFormat = {
  name: 'read-models',
  fileName: 'read-models.db',
  synchronous: 'NORMAL',
  version: 1,
  // A dropped collection keeps its row, without a name, up to its last document, so that no other gets its number before.
  schema: [
    `CREATE TABLE collections (number INTEGER PRIMARY KEY, name TEXT UNIQUE, fields TEXT NOT NULL,
        checksum INTEGER NOT NULL) STRICT`,
    `CREATE TABLE documents (collection INTEGER NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL, body TEXT,
        checksum INTEGER NOT NULL, UNIQUE (collection, id)) STRICT`,
    `CREATE TABLE index_entries (collection INTEGER, field TEXT, value TEXT, id TEXT,
        PRIMARY KEY (collection, field, value, id)) STRICT, WITHOUT ROWID`,
    // The newest entries in the order of their commits, which share a page. The writer moves them on, many at a time.
    'CREATE TABLE new_entries (collection INTEGER, field TEXT, value TEXT, id TEXT) STRICT',
    'CREATE VIEW entries AS SELECT * FROM index_entries UNION ALL SELECT * FROM new_entries',
  ],
  remedy: 'Stop the service and delete read-models.db; the next start builds it again from the log',
  withoutItsEnd: null,
  openFlagOf: null,
};

/** State records. `counter` is the source of versions; no version is used twice. */
export const stateFormat: FileFormat = {
  name: 'state',
  fileName: 'state.db',
  synchronous: 'FULL',
  version: 1,
  schema: [
    'CREATE TABLE counter (value INTEGER NOT NULL, open INTEGER NOT NULL DEFAULT 0) STRICT',
    `CREATE TABLE records (key TEXT PRIMARY KEY, value TEXT NOT NULL, version INTEGER NOT NULL, expires_at INTEGER,
      checksum INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    'CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL',
  ],
  remedy: 'Stop the service and restore state.db from a backup',
  withoutItsEnd:
    'The missing data may contain data keys, without which accounts, storages and shares cannot be used. Restore ' +
    'events.db and state.db from one backup.',
  openFlagOf: 'counter',
};
