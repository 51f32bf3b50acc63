import type { JsonObject } from '../../../event-sourcing/ports/domain-event.js';
import type {
  DocumentQuery,
  IdQuery,
  OrderedQuery,
  StoredDocument,
} from '../../../event-sourcing/ports/read-model-store.js';
import { recordsCollection } from '../../../event-sourcing/ports/records.js';
import type { Connection, Parameter, Query } from '../files/database.js';
import type { SizedDocument } from './document-cache.js';
import { decodeDocumentBody } from './document-rows.js';
import { damage } from '../files/failures.js';
import { readModelsFormat } from '../files/formats.js';
import { indexValues } from './index-values.js';
import { makeCheckSlice } from './read-model-scrub.js';

/** One row holds several documents, because a row for each is several times slower. Bodies are concatenated bytes. */
type DocumentsRow = readonly [entries: Buffer, bodies: Buffer | null];
type DocumentEntry = readonly [id: string, revision: string, length: number | null, checksum: number];
const inOneRow = (select: string): string =>
  `SELECT CAST(json_group_array(json_array(id, CAST(revision AS TEXT), octet_length(body), checksum)) AS BLOB),
   CAST(group_concat(body, '') AS BLOB) FROM (${select})`;
const documentColumns = 'documents.id, documents.revision, documents.body, documents.checksum';
/** CROSS JOIN keeps index_entries the outer table, whose order the result has. The planner may swap another join. */
const indexedDocuments = `index_entries CROSS JOIN documents ON documents.collection = index_entries.collection
   AND documents.id = index_entries.id`;
const collectionNumber = '(SELECT number FROM collections WHERE name = ?)';
const beforeAll = { value: '', id: '' };

/** Reads read-models.db synchronously, with one statement for each read. */
export interface ReadModelQueries {
  getMany(collection: string, ids: readonly string[]): SizedDocument[];
  find(collection: string, query: DocumentQuery): StoredDocument[];
  findInOrder(collection: string, query: OrderedQuery): StoredDocument[];
  ids(collection: string, query: IdQuery): string[];
  scan(collection: string, options: { readonly after?: string; readonly limit: number }): StoredDocument[];
  collections(): string[];
  /** Checks a slice of the documents: `makeCheckSlice`. */
  readonly checkSlice: (after: bigint) => bigint | null;
}

export function makeReadModelQueries(connection: Connection): ReadModelQueries {
  const selectMany = connection.query<DocumentsRow>(
    inOneRow(
      `SELECT ${documentColumns} FROM documents WHERE collection = ${collectionNumber}
       AND id IN (SELECT value FROM json_each(?))`,
    ),
  );
  const selectIndex = connection.query(
    `SELECT 1 FROM indexes WHERE collection = ${collectionNumber} AND field = ?`,
  );
  const selectNames = connection.query<readonly [Buffer]>(
    'SELECT CAST(name AS BLOB) FROM collections WHERE name <> ? ORDER BY name',
  );
  const selectIds = (following: string, order: 'ASC' | 'DESC'): Query<readonly [Buffer]> =>
    connection.query<readonly [Buffer]>(
      `SELECT CAST(id AS BLOB) FROM index_entries WHERE collection = ${collectionNumber} AND field = ?
       AND value = ? ${following} ORDER BY id ${order} LIMIT ?`,
    );
  const selectIdsUp = selectIds('AND id > ?', 'ASC');
  const selectIdsDown = selectIds('', 'DESC');
  const selectIdsBefore = selectIds('AND id < ?', 'DESC');
  const selectInOrder = (following: string, order: 'ASC' | 'DESC'): Query<DocumentsRow> =>
    connection.query<DocumentsRow>(
      inOneRow(
        `SELECT ${documentColumns} FROM ${indexedDocuments}
         WHERE index_entries.collection = ${collectionNumber} AND field = ? ${following}
         ORDER BY value ${order}, index_entries.id ${order} LIMIT ?`,
      ),
    );
  const selectUp = selectInOrder('AND (value, index_entries.id) > (?, ?)', 'ASC');
  const selectDown = selectInOrder('', 'DESC');
  const selectDownBefore = selectInOrder('AND (value, index_entries.id) < (?, ?)', 'DESC');
  const pageQueries = new Map<string, Query<DocumentsRow>>();
  const knownIndexes = new Set<string>();

  return {
    getMany: (collection, ids) => toSized(selectMany.get(collection, JSON.stringify(ids))),
    find: (collection, { where, after, descending = false, limit }) => {
      const page = { after, descending, limit };
      if (where === undefined) {
        return select(
          `documents WHERE collection = ${collectionNumber} AND body IS NOT NULL`,
          [collection],
          page,
        );
      }
      assertIndexed(collection, where.field);
      const found =
        'equals' in where
          ? select(
              `${indexedDocuments} WHERE index_entries.collection = ${collectionNumber} AND field = ? AND value = ?`,
              [collection, where.field, where.equals],
              { ...page, order: 'index_entries.id' },
            )
          : select(
              `documents WHERE collection = ${collectionNumber} AND id IN (SELECT id FROM index_entries
               WHERE collection = ${collectionNumber} AND field = ? AND value IN (SELECT value FROM json_each(?)))`,
              [collection, collection, where.field, JSON.stringify(where.anyOf)],
              page,
            );
      for (const { body } of found) assertHas(body, where);
      return found;
    },
    findInOrder: (collection, { orderBy, after, descending = false, limit }) => {
      assertIndexed(collection, orderBy);
      if (descending && after === undefined)
        return inOrder(toDocuments(selectDown.get(collection, orderBy, limit)), orderBy, descending);
      const { value, id } = after ?? beforeAll;
      const query = descending ? selectDownBefore : selectUp;
      return inOrder(toDocuments(query.get(collection, orderBy, value, id, limit)), orderBy, descending);
    },
    ids: (collection, { where, after, descending = false, limit }) => {
      assertIndexed(collection, where.field);
      const of = [collection, where.field, where.equals] as const;
      let rows: (readonly [Buffer])[];
      if (!descending) rows = selectIdsUp.all(...of, after ?? '', limit);
      else if (after === undefined) rows = selectIdsDown.all(...of, limit);
      else rows = selectIdsBefore.all(...of, after, limit);
      return rows.map(([id]) => id.toString());
    },
    scan: (collection, { after, limit }) =>
      select(`documents WHERE collection = ${collectionNumber}`, [collection], { after, limit }),
    collections: () => selectNames.all(recordsCollection).map(([name]) => name.toString()),
    checkSlice: makeCheckSlice(connection),
  };

  /** Reads one page of documents in order of id. The statements differ in text, so each is prepared on first use. */
  function select(
    source: string,
    parameters: readonly string[],
    page: {
      readonly after: string | undefined;
      readonly limit: number;
      readonly descending?: boolean;
      readonly order?: string;
    },
  ): StoredDocument[] {
    const { after, limit, descending = false, order = 'documents.id' } = page;
    const following = after === undefined ? '' : `AND ${order} ${descending ? '<' : '>'} ?`;
    const sql = `SELECT ${documentColumns} FROM ${source} ${following} ORDER BY ${order} ${descending ? 'DESC' : 'ASC'} LIMIT ?`;
    let query = pageQueries.get(sql);
    if (query === undefined) {
      query = connection.query<DocumentsRow>(inOneRow(sql));
      pageQueries.set(sql, query);
    }
    const all: Parameter[] = [...parameters, ...(after === undefined ? [] : [after]), limit];
    return toDocuments(query.get(...all));
  }

  /** Throws for a field without an index: the query would find nothing, so the caller has a bug. */
  function assertIndexed(collection: string, field: string): void {
    const index = `${collection}/${field}`;
    if (knownIndexes.has(index)) return;
    if (selectIndex.get(collection, field) !== undefined) {
      knownIndexes.add(index);
      return;
    }
    if (!selectNames.all(recordsCollection).some(([name]) => name.toString() === collection)) return;
    throw new TypeError(`${field} is not an index of ${collection}`);
  }
}

function toDocuments(row: DocumentsRow | undefined): StoredDocument[] {
  return toSized(row).map(({ document }) => document);
}

function toSized(row: DocumentsRow | undefined): SizedDocument[] {
  if (row === undefined) return [];
  const [entries, bodies] = row;
  let at = 0;
  return (parse(entries) as DocumentEntry[]).map(([id, revision, length, checksum]) => {
    const body = length === null ? null : (bodies?.subarray(at, at + length) ?? null);
    at += length ?? 0;
    const decoded = decodeDocumentBody({ id, revision, body }, checksum);
    return { document: { id, revision: parseRevision(revision), body: decoded }, bytes: length ?? 0 };
  });
}

/** Checks that a document belongs to the index entry that led to it. @throws StoreDamaged */
function assertHas(body: JsonObject | null, where: NonNullable<DocumentQuery['where']>): void {
  const values = indexValues(body, where.field);
  if (!('equals' in where ? [where.equals] : where.anyOf).some((value) => values.has(value))) {
    throw damage(readModelsFormat, 'an index names a document that does not belong to it');
  }
}

/** Returns documents that an index led to in its order, after a look at their values. @throws StoreDamaged */
function inOrder(found: StoredDocument[], field: string, descending: boolean): StoredDocument[] {
  let before = Buffer.alloc(0);
  for (const { body } of descending ? found.toReversed() : found) {
    // SQLite compares the bytes. A document with several values stands at each of them.
    const [next] = [...indexValues(body, field)]
      .map((value) => Buffer.from(value))
      .filter((value) => value.compare(before) >= 0)
      .sort((one, other) => one.compare(other));
    if (next === undefined) throw damage(readModelsFormat, 'an index names a document out of its order');
    before = next;
  }
  return found;
}

function parseRevision(text: string): bigint {
  try {
    return BigInt(text);
  } catch {
    throw damage(readModelsFormat, 'a revision is not a whole number');
  }
}

/** Parses JSON, whose type its column determines. @throws StoreDamaged when the text is not JSON */
function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    throw damage(readModelsFormat, 'a stored value is not JSON');
  }
}
