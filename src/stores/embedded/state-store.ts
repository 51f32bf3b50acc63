import type { JsonValue } from '../../event-sourcing/ports/domain-event.js';
import type { StateRecord, StateStore } from '../../event-sourcing/ports/state-store.js';
import type { EmbeddedContext } from './context.js';
import type { Connection } from './database.js';
import { damage } from './failures.js';
import { stateFormat } from './formats.js';
import { openFile } from './open-file.js';
import { stateChecksum } from './state-rows.js';
import type { StateReply, StateRequest } from './state-writer.js';

type StateRow = readonly [
  key: Buffer,
  value: Buffer,
  version: bigint,
  expiresAtMs: bigint | null,
  checksum: bigint,
];
const columns = 'CAST(key AS BLOB), CAST(value AS BLOB), version, expires_at, checksum';

/** The last code point of Unicode. Every key with a prefix sorts before the prefix followed by this character. */
const lastCharacter = '\u{10ffff}';

/** Opens the StateStore port over state.db. @throws StoreDamaged, StoreUnavailable */
export async function openStateStore(context: EmbeddedContext): Promise<StateStore> {
  const { clock } = context;
  const { writer, queries, answer, close } = await openFile<StateRequest, StateReply, StateQueries>(
    context,
    stateFormat,
    { makeQueries, onSettled: () => undefined },
  );

  return {
    get: (key) =>
      answer(() => {
        const row = queries.record.get(key);
        const record = row === undefined ? null : decode(row);
        return record?.expiresAt && record.expiresAt <= clock.now() ? null : record;
      }),
    compareAndSet: (key, expected, value, { expiresAt } = {}) => {
      const json = value === null ? null : JSON.stringify(value);
      const request = [key, expected, json, expiresAt?.getTime() ?? null, clock.now().getTime()] as const;
      return writer.write(request, key.length + (json?.length ?? 0));
    },
    list: (prefix, { after = '', limit }) =>
      answer(() =>
        queries.records
          .all(laterKey(prefix, after), after, prefix + lastCharacter, clock.now().getTime(), limit)
          .map(decode),
      ),
    ping: () =>
      answer(() => {
        queries.counter.get();
      }),
    close,
  };
}

type StateQueries = ReturnType<typeof makeQueries>;

function makeQueries(connection: Connection) {
  return {
    record: connection.query<StateRow>(`SELECT ${columns} FROM records WHERE key = ?`),
    records: connection.query<StateRow>(
      `SELECT ${columns} FROM records WHERE key >= ? AND key <> ? AND key < ?
       AND (expires_at IS NULL OR expires_at > ?) ORDER BY key LIMIT ?`,
    ),
    counter: connection.query('SELECT value FROM counter'),
  };
}

/** Returns the greater of two keys. Compares bytes, as SQLite does. */
function laterKey(one: string, other: string): string {
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0 ? other : one;
}

function decode([keyBytes, valueBytes, version, expires, checksum]: StateRow): StateRecord {
  const [key, value] = [keyBytes.toString(), valueBytes.toString()];
  const expiresAtMs = expires === null ? null : Number(expires);
  if (BigInt(stateChecksum({ key, value, version, expiresAtMs })) !== checksum) {
    throw damage(stateFormat, 'a record does not match its checksum');
  }
  return {
    key,
    value: JSON.parse(value) as JsonValue,
    version: String(version),
    expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs),
  };
}
