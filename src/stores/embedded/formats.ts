/** One SQLite file of a data directory: how it is written, what it holds, and what to do when it is damaged. */
export interface FileFormat {
  readonly name: 'events' | 'read-models' | 'state';
  readonly fileName: string;
  /** FULL syncs the write-ahead log before a commit returns; NORMAL may lose the last commits to a power cut. */
  readonly synchronous: 'FULL' | 'NORMAL';
  /** Raised with every change of `schema`. */
  readonly version: number;
  readonly schema: readonly string[];
  /** What turns a file of the version before into one of the next, by the older version. */
  readonly upgrades?: Readonly<Record<number, string>>;
  /** A sentence for whoever finds the file damaged. */
  readonly remedy: string;
  /** What to do where its end is lost for good; null: it can be built anew, and no mark of it is kept. */
  readonly withoutItsEnd: string | null;
}

/** "STWG": marks a SQLite file as ours (`PRAGMA application_id`). */
export const applicationId = 0x53545747;

/**
 * The log. `content` is the event as JSON; `checksum` covers it and the sequence. `streams` and `log` repeat where a
 * stream and the log end, so that a damaged index cannot pass for a shorter one.
 */
export const eventsFormat: FileFormat = {
  name: 'events',
  fileName: 'events.db',
  synchronous: 'FULL',
  version: 1,
  schema: [
    'CREATE TABLE log (log_id TEXT NOT NULL, head INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT',
    'CREATE TABLE streams (stream TEXT PRIMARY KEY, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID',
    `CREATE TABLE events (sequence INTEGER PRIMARY KEY, stream TEXT NOT NULL, revision INTEGER NOT NULL,
      content TEXT NOT NULL, checksum INTEGER NOT NULL, UNIQUE (stream, revision)) STRICT`,
  ],
  remedy: 'Stop the service and restore events.db from a backup',
  withoutItsEnd: 'delete events.db.mark and read-models.db',
};

/** Read models. A collection's number is never used again, so what a dropped one left behind is out of sight at once. */
export const readModelsFormat: FileFormat = {
  name: 'read-models',
  fileName: 'read-models.db',
  synchronous: 'NORMAL',
  version: 2,
  schema: [
    'CREATE TABLE collections (number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT',
    'CREATE TABLE dropped (number INTEGER PRIMARY KEY) STRICT',
    'CREATE TABLE indexes (collection INTEGER, field TEXT, PRIMARY KEY (collection, field)) STRICT, WITHOUT ROWID',
    `CREATE TABLE documents (collection INTEGER NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL, body TEXT,
      UNIQUE (collection, id)) STRICT`,
    `CREATE TABLE index_entries (collection INTEGER, field TEXT, value TEXT, id TEXT,
      PRIMARY KEY (collection, field, value, id)) STRICT, WITHOUT ROWID`,
    // As SQLite spells it after the upgrade.
    'CREATE TABLE checkpoints (collection INTEGER PRIMARY KEY, log_id TEXT NOT NULL, position TEXT NOT NULL, fingerprint TEXT) STRICT',
    'CREATE TABLE records (name TEXT PRIMARY KEY, value TEXT NOT NULL, version INTEGER NOT NULL) STRICT, WITHOUT ROWID',
  ],
  upgrades: { 1: 'ALTER TABLE checkpoints ADD COLUMN fingerprint TEXT' },
  remedy: 'Stop the service and delete read-models.db; the next start builds it anew from the log',
  withoutItsEnd: null,
};

/** State records. `counter` gives versions, which are never used twice. */
export const stateFormat: FileFormat = {
  name: 'state',
  fileName: 'state.db',
  synchronous: 'FULL',
  version: 1,
  schema: [
    'CREATE TABLE counter (value INTEGER NOT NULL) STRICT',
    `CREATE TABLE records (key TEXT PRIMARY KEY, value TEXT NOT NULL, version INTEGER NOT NULL, expires_at INTEGER,
      checksum INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    'CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL',
  ],
  remedy: 'Stop the service and restore state.db from a backup',
  withoutItsEnd: 'delete state.db.mark',
};
