import { setTimeout } from 'node:timers/promises';
import { StoreDamaged, StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import type { Connection } from '../files/database.js';
import { decodeDocumentBody } from './document-rows.js';
import { damage } from '../files/failures.js';
import { readModelsFormat } from '../files/formats.js';
import { indexValues } from './index-values.js';

/** Documents of one slice: about 2 ms of work, which blocks the thread. */
const sliceDocuments = 100;
const firstMs = 1_000;
const sliceMs = 100;
const roundMs = 24 * 3_600_000;
const retryMs = 60_000;

/**
 * Makes the function that checks a slice of the documents against their checksums, and that the indexes have their entries. A
 * read finds damage of what it returns, but not what a damaged index leaves out of a list.
 * @returns a function that takes the row after which the slice begins, and returns its last row; null at the end.
 * It throws StoreDamaged
 */
export function makeCheckSlice(connection: Connection): (after: bigint) => bigint | null {
  const selectSlice = connection.query<
    readonly [
      rowid: bigint,
      collection: bigint,
      id: Buffer,
      revision: bigint,
      body: Buffer | null,
      checksum: bigint,
    ]
  >(
    `SELECT rowid, collection, CAST(id AS BLOB), revision, CAST(body AS BLOB), checksum FROM documents
     WHERE rowid > ? ORDER BY rowid LIMIT ${sliceDocuments}`,
  );
  const selectFields = connection.query<readonly [field: Buffer]>(
    `SELECT CAST(field AS BLOB) FROM indexes JOIN collections ON number = collection WHERE collection = ?`,
  );
  // The index by which a document is found. It holds the row, so the query does not read the table.
  const selectPlace = connection.query<readonly [rowid: bigint]>(
    'SELECT rowid FROM documents INDEXED BY sqlite_autoindex_documents_1 WHERE collection = ? AND id = ?',
  );
  const selectEntry = connection.query(
    'SELECT 1 FROM index_entries WHERE collection = ? AND field = ? AND value = ? AND id = ?',
  );
  return (after) => {
    // All statements of the slice see one state, while the writing thread may commit another.
    connection.execute('BEGIN');
    try {
      return check(after);
    } finally {
      connection.execute('COMMIT');
    }
  };

  function check(after: bigint): bigint | null {
    const rows = selectSlice.all(after);
    const fieldsOf = new Map<bigint, readonly string[]>();
    for (const [rowid, collection, idBytes, revision, bytes, checksum] of rows) {
      const id = idBytes.toString();
      const body = decodeDocumentBody({ id, revision, body: bytes }, checksum);
      if (selectPlace.get(collection, id)?.[0] !== rowid) throw lacking();
      const fields =
        fieldsOf.get(collection) ?? selectFields.all(collection).map(([bytes]) => bytes.toString());
      fieldsOf.set(collection, fields);
      for (const field of fields) {
        for (const value of indexValues(body, field)) {
          if (selectEntry.get(collection, field, value, id) === undefined) throw lacking();
        }
      }
    }
    return rows.length < sliceDocuments ? null : (rows.at(-1)?.[0] ?? null);
  }

  function lacking(): StoreDamaged {
    return damage(readModelsFormat, 'an index lacks a document');
  }
}

/**
 * Checks all documents after the start and once a day, slice by slice. Damage ends the use of the file, as in a read.
 * @returns a function that ends the checks
 */
export function startScrub(checkSlice: (after: bigint) => Promise<bigint | null>): () => void {
  const ending = new AbortController();
  const pause = (ms: number): Promise<unknown> =>
    // An abort ends the loop.
    setTimeout(ms, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
  void run();
  return () => {
    ending.abort();
  };

  async function run(): Promise<void> {
    await pause(firstMs);
    for (let after = 0n; !ending.signal.aborted;) {
      try {
        const next = await checkSlice(after);
        after = next ?? 0n;
        await pause(next === null ? roundMs : sliceMs);
      } catch (error) {
        // The file has reported its damage, and nothing uses it any more.
        if (error instanceof StoreDamaged) return;
        if (!(error instanceof StoreUnavailable)) throw error;
        await pause(retryMs);
      }
    }
  }
}
