import type { Connection, Query } from '../files/database.js';
import { damage } from '../files/failures.js';
import { readModelsFormat } from '../files/formats.js';
import { decodeDocumentBody, makeSelectCollections } from './document-cache.js';
import { indexValues } from './index-values.js';

/** The rows of one slice: about 15 ms of work. */
const slice = { documents: 500, keys: 5_000 };

/** The columns of an index. */
type Key = readonly (number | string)[];

/**
 * Checks read-models.db slice by slice: the names of collections, the documents against their checksums, that the indexes have
 * their entries, and the order of the indexes. A read finds damage of what it returns, but not what a damaged index leaves out.
 * Each step checks a slice. @throws StoreDamaged
 */
export function* checkReadModels(connection: Connection): Generator<void, void> {
  const selectCollections = makeSelectCollections(connection);
  const selectDocuments = connection.query<
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
     WHERE rowid > ? ORDER BY rowid LIMIT ${slice.documents}`,
  );
  // The index by which a document is found. It holds the row, so the query does not read the table.
  const countPlaces = connection.query<readonly [count: bigint]>(
    `SELECT count(*) FROM json_each(?) AS wanted CROSS JOIN documents INDEXED BY sqlite_autoindex_documents_1
     ON collection = wanted.value ->> 0 AND documents.id = wanted.value ->> 1 AND documents.rowid = wanted.value ->> 2`,
  );
  const countEntries = connection.query<readonly [count: bigint]>(
    `SELECT count(*) FROM json_each(?) AS wanted CROSS JOIN index_entries AS entries ON entries.collection = wanted.value ->> 0
     AND field = wanted.value ->> 1 AND entries.value = wanted.value ->> 2 AND entries.id = wanted.value ->> 3`,
  );
  // They have no index, so a look for each entry of a slice would read all of them each time.
  const selectNewEntries = connection.query<readonly [keys: Buffer]>(
    'SELECT CAST(json_group_array(json_array(collection, field, value, id)) AS BLOB) FROM new_entries',
  );
  // One row for all keys of a slice: a row of a result costs far more than a step of the index.
  const selectKeys = (columns: string, table: string, marks: string): Query<readonly [keys: Buffer]> =>
    connection.query(
      `SELECT CAST(json_group_array(json_array(${columns})) AS BLOB) FROM (SELECT ${columns} FROM ${table}
       WHERE (${columns}) > (${marks}) ORDER BY ${columns} LIMIT ${slice.keys})`,
    );
  const places = 'documents INDEXED BY sqlite_autoindex_documents_1';
  const indexes = [
    { select: selectKeys('collection, id', places, '?, ?'), first: [0, ''] },
    {
      select: selectKeys('collection, field, value, id', 'index_entries', '?, ?, ?, ?'),
      first: [0, '', '', ''],
    },
  ];

  for (let after: bigint | undefined = 0n; after !== undefined; yield) {
    const begun: bigint = after;
    after = inOneState(() => checkDocuments(begun));
  }
  for (const { select, first } of indexes) {
    for (let after: Key | undefined = first; after !== undefined; yield) {
      const keys = readKeys(select.get(...after));
      assertAscending([after, ...keys]);
      after = keys.length < slice.keys ? undefined : keys.at(-1);
    }
  }

  /** Returns the row after which the next slice begins; undefined at the end. */
  function checkDocuments(after: bigint): bigint | undefined {
    const fieldsOf = new Map(selectCollections().map(({ number, fields }) => [number, fields]));
    const rows = selectDocuments.all(after);
    // One statement for all: a statement costs far more than a look into an index.
    const [wanted, entries]: [Key[], Key[]] = [[], []];
    for (const [rowid, collection, idBytes, revision, bytes, checksum] of rows) {
      const id = idBytes.toString();
      const body = decodeDocumentBody({ collection, id, revision, body: bytes }, checksum);
      const fields = fieldsOf.get(collection);
      if (fields === undefined) throw damage(readModelsFormat, 'a collection is missing');
      const number = Number(collection);
      wanted.push([number, id, Number(rowid)]);
      for (const field of fields)
        for (const value of indexValues(body, field)) entries.push([number, field, value.toWellFormed(), id]);
    }
    assertCount(countPlaces, wanted);
    const newEntries = new Set(readKeys(selectNewEntries.get()).map(textOfKey));
    assertCount(
      countEntries,
      entries.filter((key) => !newEntries.has(textOfKey(key))),
    );
    return rows.length < slice.documents ? undefined : rows.at(-1)?.[0];
  }

  /** All statements of the slice see one state, while the writing thread may commit another. */
  function inOneState<Result>(check: () => Result): Result {
    connection.execute('BEGIN');
    try {
      return check();
    } finally {
      connection.execute('COMMIT');
    }
  }
}

function readKeys(row: readonly [keys: Buffer] | undefined): Key[] {
  return JSON.parse(String(row?.[0])) as Key[];
}

function textOfKey(key: Key): string {
  return JSON.stringify(key);
}

/** @throws StoreDamaged when an index lacks one of the wanted keys */
function assertCount(query: Query<readonly [count: bigint]>, wanted: readonly Key[]): void {
  if (query.get(JSON.stringify(wanted))?.[0] !== BigInt(wanted.length))
    throw damage(readModelsFormat, 'an index lacks a document');
}

/** Checks that keys follow each other, byte by byte as SQLite compares them. @throws StoreDamaged */
export function assertAscending(keys: readonly Key[]): void {
  for (const [n, key] of keys.entries()) {
    const before = keys[n - 1];
    if (before !== undefined && compareKeys(before, key) >= 0)
      throw damage(readModelsFormat, 'an index is out of its order');
  }
}

function compareKeys(one: Key, other: Key): number {
  const at = one.findIndex((part, n) => part !== other[n]);
  const [part, against] = [one[at], other[at]];
  if (typeof part === 'number' && typeof against === 'number') return part - against;
  return Buffer.compare(Buffer.from(String(part)), Buffer.from(String(against)));
}
