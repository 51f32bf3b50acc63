import type { Connection } from '../files/database.js';
import { damage } from '../files/failures.js';
import { stateFormat } from '../files/formats.js';
import type { FileWriter, Prepare } from './transactions.js';
import { crc32 } from 'node:zlib';

/** Returns the CRC-32 (ISO 3309) of all fields of a state record. */
export function stateChecksum(record: {
  readonly key: string;
  readonly value: string;
  readonly version: bigint;
  readonly expiresAtMs: number | null;
}): number {
  return crc32(`${record.version}/${record.expiresAtMs ?? 'never'}/${record.key}/${record.value}`);
}

/** A compare-and-set. A `value` of null removes the record. Times are milliseconds since the epoch. */
export type StateRequest = readonly [
  key: string,
  expected: string | null,
  value: string | null,
  expiresAtMs: number | null,
  nowMs: number,
];

/** The new version, `removed`, or null when refused. */
export type StateReply = string | null;

/** The number of expired records that one commit of other writes removes. */
const sweptRecords = 20;
/** It removes them this long after their end, as MongoDB does: a clock that is ahead for a moment removes none early. */
const sweptAfterMs = 3_600_000;

export function makeStateWriter(
  connection: Connection,
  prepare: Prepare,
): FileWriter<StateRequest, StateReply> {
  const selectCounter = connection.query<readonly [bigint]>('SELECT value FROM counter');
  const selectRecord = connection.query<readonly [version: bigint, expiresAt: bigint | null]>(
    'SELECT version, expires_at FROM records WHERE key = ?',
  );
  const upsertRecord = prepare(
    `INSERT INTO records VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value,
     version = excluded.version, expires_at = excluded.expires_at, checksum = excluded.checksum`,
  );
  const deleteRecord = prepare('DELETE FROM records WHERE key = ?');
  const sweep = prepare(
    `DELETE FROM records WHERE key IN
       (SELECT key FROM records WHERE expires_at <= ? ORDER BY expires_at LIMIT ${sweptRecords})`,
  );
  const updateCounter = prepare('UPDATE counter SET value = ?');
  if (selectCounter.get() === undefined) connection.statement('INSERT INTO counter (value) VALUES (0)')();
  let stored = readCounter();
  let counter = stored;
  let latestMs = 0;

  return { apply, beforeCommit, reload, end: () => Number(stored) };

  function apply([key, expected, value, expiresAtMs, nowMs]: StateRequest): StateReply {
    const [version, expiresAt] = selectRecord.get(key) ?? [null, null];
    // No maximum: a clock that was ahead for a moment would sweep records that have not expired, until the process ends.
    latestMs = nowMs;
    const expired = expiresAt !== null && expiresAt <= BigInt(nowMs);
    const current = version === null || expired ? null : String(version);
    if (current !== expected) return null;
    counter += 1n;
    if (value === null) {
      deleteRecord(key);
      return 'removed';
    }
    const checksum = stateChecksum({ key, value, version: counter, expiresAtMs });
    upsertRecord(key, value, counter, expiresAtMs, checksum);
    return String(counter);
  }

  function beforeCommit(): void {
    if (counter === stored) return;
    sweep(latestMs - sweptAfterMs);
    updateCounter(counter);
    stored = counter;
  }

  function reload(): 'there' | 'not there' {
    const expected = counter;
    stored = readCounter();
    counter = stored;
    return stored === expected ? 'there' : 'not there';
  }

  function readCounter(): bigint {
    const [value] = selectCounter.get() ?? [];
    if (value === undefined) throw damage(stateFormat, 'its counter is missing');
    return value;
  }
}
