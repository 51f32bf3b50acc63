import { setImmediate } from 'node:timers/promises';
import type { JsonValue } from '../../../event-sourcing/ports/domain-event.js';
import type { StateRecord, StateStore } from '../../../event-sourcing/ports/state-store.js';
import { type EmbeddedContext, openFile } from '../files/open-file.js';
import type { Connection } from '../files/database.js';
import { damage } from '../files/failures.js';
import { stateFormat } from '../files/formats.js';
import { type StateReply, type StateRequest, stateChecksum } from './state-writer.js';

export type StateRow = readonly [
  key: Buffer,
  value: Buffer,
  version: bigint,
  expiresAtMs: bigint | null,
  checksum: bigint,
];
export const stateColumns = 'CAST(key AS BLOB), CAST(value AS BLOB), version, expires_at, checksum';

/** The check of all records takes 200 records, about 1 ms, and then a pause for requests. */
const checkedAtOnce = 200;
const checkPauseMs = 5;

/** The last code point of Unicode. Every key with a prefix sorts before the prefix followed by this character. */
const lastCharacter = '\u{10ffff}';

/** Opens the StateStore port over state.db. `end` is the version that the file has reached. @throws StoreDamaged, StoreUnavailable */
export async function openStateStore(
  context: EmbeddedContext,
): Promise<StateStore & { readonly end: number }> {
  const { clock } = context;
  const { writer, queries, answer, close } = await openFile<StateRequest, StateReply, StateQueries>(
    context,
    stateFormat,
    { makeQueries, onSettled: () => undefined },
  );

  const stopCheck = checkRecords((after) =>
    answer(() => {
      const rows = queries.rowsAfter.all(after, checkedAtOnce);
      return rows.map(decodeStateRow).at(-1)?.key ?? null;
    }),
  );

  return {
    get: (key) =>
      answer(() => {
        const row = queries.record.get(key);
        const record = row === undefined ? null : decodeStateRow(row);
        return record?.expiresAt && record.expiresAt <= clock.now() ? null : record;
      }),
    compareAndSet: (key, expected, value, { expiresAt } = {}) => {
      const json = value === null ? null : JSON.stringify(value);
      const request = [key, expected, json, expiresAt?.getTime() ?? null, clock.now().getTime()] as const;
      return writer.write(request, key.length + (json?.length ?? 0));
    },
    list: async (prefix, { after = '', limit }) => {
      const page = await answer(() =>
        queries.records
          .all(laterKey(prefix, after), after, prefix + lastCharacter, clock.now().getTime(), limit)
          .map(decodeStateRow),
      );
      // As in the scan of read models.
      if (page.length === limit) await setImmediate();
      return page;
    },
    ping: () =>
      answer(() => {
        queries.counter.get();
      }),
    end: Number(queries.counter.get()?.[0]),
    close: async () => {
      stopCheck();
      await close();
    },
  };
}

type StateQueries = ReturnType<typeof makeQueries>;

function makeQueries(connection: Connection) {
  return {
    record: connection.query<StateRow>(`SELECT ${stateColumns} FROM records WHERE key = ?`),
    records: connection.query<StateRow>(
      `SELECT ${stateColumns} FROM records WHERE key >= ? AND key <> ? AND key < ?
       AND (expires_at IS NULL OR expires_at > ?) ORDER BY key LIMIT ?`,
    ),
    rowsAfter: connection.query<StateRow>(
      `SELECT ${stateColumns} FROM records WHERE key > ? ORDER BY key LIMIT ?`,
    ),
    counter: connection.query<readonly [bigint]>('SELECT value FROM counter'),
  };
}

/**
 * Reads all records once, so that a damaged one ends the process soon after its start. A record whose key was changed
 * would otherwise look absent. `next` reads a part after a key; damage in it ends the use of the file.
 * @returns the function that stops the reading
 */
function checkRecords(next: (after: string) => Promise<string | null>): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const goOn = (after: string): void => {
    if (isStopped) return;
    timer = setTimeout(() => {
      next(after).then(
        (last) => {
          if (last !== null) goOn(last);
        },
        // `answer` has reported damage. A closed file needs no check.
        () => undefined,
      );
    }, checkPauseMs).unref();
  };
  goOn('');
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Returns the greater of two keys. Compares bytes, as SQLite does. */
function laterKey(one: string, other: string): string {
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0 ? other : one;
}

/** Decodes a record. @throws StoreDamaged when it differs from the written one */
export function decodeStateRow([keyBytes, valueBytes, version, expires, checksum]: StateRow): StateRecord {
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
