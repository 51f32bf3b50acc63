import type { Connection, Parameter, Query } from '../files/database.js';
import { damage } from '../files/failures.js';
import { readModelsFormat } from '../files/formats.js';
import { decodeDocumentBody, makeSelectCollections } from './document-cache.js';
import { indexValues } from './index-values.js';

/** What one slice reads at most: about 0.1 s of work. A slice begins no document after so many bytes of bodies. */
const slice = { documents: 2_000, bytes: 8 * 1024 * 1024, keys: 5_000 };

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
     WHERE rowid > ?1 AND rowid <= (SELECT max(rowid) FROM (SELECT rowid, ifnull(octet_length(body), 0) AS bytes,
       sum(ifnull(octet_length(body), 0)) OVER (ORDER BY rowid) AS total FROM documents
       WHERE rowid > ?1 ORDER BY rowid LIMIT ${slice.documents}) WHERE total - bytes < ${slice.bytes})
     ORDER BY rowid`,
  );
  // One text holds what is looked up: a bound parameter, or a look into JSON, costs more than a step of the index.
  // The index by which a document is found holds the row, so the query does not read the table.
  const countDocuments = connection.query<readonly [count: bigint]>(
    `SELECT count(*) FROM json_each(?) AS wanted CROSS JOIN documents INDEXED BY sqlite_autoindex_documents_1
     ON collection = ? AND documents.id = wanted.key AND documents.rowid = wanted.value`,
  );
  const countEntries = connection.query<readonly [count: bigint]>(
    `SELECT count(*) FROM json_each(?) AS wanted CROSS JOIN index_entries AS entries ON entries.collection = ?
     AND field = ? AND entries.value = wanted.key AND entries.id = wanted.value`,
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
    // What the indexes must have, as members of a JSON object: each document of a collection, and each entry of a field.
    const wanted = new Map(
      selectCollections().map(({ number, fields }) => {
        const entries = fields.map((field) => ({ field, members: [] as string[] }));
        return [number, { documents: [] as string[], entries }];
      }),
    );
    const rows = selectDocuments.all(after);
    const newEntries = new Set(readKeys(selectNewEntries.get()).map(textOfKey));
    for (const [rowid, collection, idBytes, revision, bytes, checksum] of rows) {
      const id = idBytes.toString();
      const body = decodeDocumentBody({ collection, id, revision, body: bytes }, checksum);
      const of = wanted.get(collection);
      if (of === undefined) throw damage(readModelsFormat, 'a collection is missing');
      const key = JSON.stringify(id);
      of.documents.push(`${key}:${rowid}`);
      for (const { field, members } of of.entries) {
        for (const found of indexValues(body, field)) {
          const value = found.toWellFormed();
          const isNew =
            newEntries.size > 0 && newEntries.has(textOfKey([Number(collection), field, value, id]));
          if (!isNew) members.push(`${JSON.stringify(value)}:${key}`);
        }
      }
    }
    for (const [number, { documents, entries }] of wanted) {
      assertHas(countDocuments, documents, number);
      for (const { field, members } of entries) assertHas(countEntries, members, number, field);
    }
    return rows.at(-1)?.[0];
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

/** Neighbours of the index lie in one page, so it is asked in its order. @throws StoreDamaged when it lacks one of the members */
function assertHas(
  count: Query<readonly [count: bigint]>,
  members: readonly string[],
  ...of: readonly Parameter[]
): void {
  if (
    members.length > 0 &&
    count.get(`{${members.toSorted().join()}}`, ...of)?.[0] !== BigInt(members.length)
  )
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
