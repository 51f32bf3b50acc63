import type {
  DocumentQuery,
  IdQuery,
  OrderedQuery,
  StoredDocument,
} from '../../../event-sourcing/ports/read-model-store.js';
import { recordsCollection } from '../../../event-sourcing/ports/records.js';
import type { Connection, Parameter, Query } from '../files/database.js';
import {
  type SizedDocument,
  type StoredCollection,
  collectionColumns,
  decodeCollection,
  decodeDocumentBody,
  makeSelectCollections,
} from './document-cache.js';
import { damage } from '../files/failures.js';
import { readModelsFormat } from '../files/formats.js';
import { asStored, indexValues } from './index-values.js';
import { assertAscending } from './read-model-scrub.js';

/** One row holds several documents, because a row for each is several times slower. Bodies are concatenated bytes. */
type DocumentsRow = readonly [entries: Buffer, bodies: Buffer | null];
type DocumentEntry = readonly [
  collection: number,
  id: string,
  revision: string,
  length: number | null,
  checksum: number,
  value: string | null,
];
const inOneRow = (select: string): string =>
  `SELECT CAST(json_group_array(json_array(collection, id, CAST(revision AS TEXT), octet_length(body), checksum, value))
   AS BLOB), CAST(group_concat(body, '') AS BLOB) FROM (${select})`;
const columnsOf = (value: 'value' | 'NULL AS value'): string =>
  `documents.collection, documents.id, documents.revision, documents.body, documents.checksum, ${value}`;
/** SQLite merges the two tables of `entries` by their order only where a page of them is a query of its columns. */
const ofEntries = (page: string, order: string, value: 'value' | 'NULL AS value' = 'NULL AS value'): string =>
  `SELECT ${columnsOf(value)} FROM (SELECT collection, value, id FROM entries WHERE ${page}) AS page
   CROSS JOIN documents USING (collection, id) ORDER BY ${order}`;
const collectionNumber = '(SELECT number FROM collections WHERE name = ?)';
const beforeAll = { value: '', id: '' };

/** Reads read-models.db synchronously, with one statement for each read. */
export type ReadModelQueries = ReturnType<typeof makeReadModelQueries>;

/**
 * A page of documents that an index led to is compared with them, so a changed index leaves at most documents out, which the
 * scrub finds. @throws StoreDamaged, as every query
 */
export function makeReadModelQueries(connection: Connection) {
  const selectMany = connection.query<DocumentsRow>(
    inOneRow(
      `SELECT ${columnsOf('NULL AS value')} FROM documents WHERE collection = ${collectionNumber}
       AND id IN (SELECT value FROM json_each(?))`,
    ),
  );
  const selectCollection = connection.query<StoredCollection>(
    `SELECT ${collectionColumns} FROM collections WHERE name = ?`,
  );
  const selectCollections = makeSelectCollections(connection);
  const selectIds = (following: string, order: 'ASC' | 'DESC'): Query<readonly [Buffer]> =>
    connection.query<readonly [Buffer]>(
      `SELECT CAST(json_group_array(id) AS BLOB) FROM (SELECT id FROM entries WHERE collection = ${collectionNumber}
       AND field = ? AND value = ? ${following} ORDER BY id ${order} LIMIT ?)`,
    );
  const selectIdsUp = selectIds('AND id > ?', 'ASC');
  const selectIdsDown = selectIds('', 'DESC');
  const selectIdsBefore = selectIds('AND id < ?', 'DESC');
  const selectInOrder = (following: string, order: 'ASC' | 'DESC'): Query<DocumentsRow> =>
    connection.query<DocumentsRow>(
      inOneRow(
        ofEntries(
          `collection = ${collectionNumber} AND field = ? ${following} ORDER BY value ${order}, id ${order} LIMIT ?`,
          `page.value ${order}, id ${order}`,
          'value',
        ),
      ),
    );
  const selectUp = selectInOrder('AND (value, id) > (?, ?)', 'ASC');
  const selectDown = selectInOrder('', 'DESC');
  const selectDownBefore = selectInOrder('AND (value, id) < (?, ?)', 'DESC');
  const pageQueries = new Map<string, Query<DocumentsRow>>();
  const knownIndexes = new Set<string>();
  selectCollections();

  return {
    getMany: (collection: string, ids: readonly string[]) =>
      toSized(selectMany.get(collection, JSON.stringify(ids))).map(({ sized }) => sized),
    find: (collection: string, { where, after, descending = false, limit }: DocumentQuery) => {
      const page = { after, descending, limit };
      if (where === undefined) {
        return select(`collection = ${collectionNumber} AND body IS NOT NULL`, [collection], page);
      }
      assertIndexed(collection, where.field);
      const found =
        'equals' in where
          ? select(
              `collection = ${collectionNumber} AND field = ? AND value = ?`,
              [collection, where.field, where.equals],
              page,
              ofEntries,
            )
          : select(
              `collection = ${collectionNumber} AND id IN (SELECT id FROM entries
               WHERE collection = ${collectionNumber} AND field = ? AND value IN (SELECT value FROM json_each(?)))`,
              [collection, collection, where.field, JSON.stringify(where.anyOf)],
              page,
            );
      assertHas(found, where);
      return found;
    },
    findInOrder: (collection: string, { orderBy, after, descending = false, limit }: OrderedQuery) => {
      assertIndexed(collection, orderBy);
      if (descending && after === undefined)
        return inOrder(selectDown.get(collection, orderBy, limit), orderBy, descending);
      const { value, id } = after ?? beforeAll;
      const query = descending ? selectDownBefore : selectUp;
      return inOrder(query.get(collection, orderBy, value, id, limit), orderBy, descending);
    },
    ids: (collection: string, { where, after, descending = false, limit }: IdQuery) => {
      assertIndexed(collection, where.field);
      const of = [collection, where.field, where.equals] as const;
      let row: readonly [Buffer] | undefined;
      if (!descending) row = selectIdsUp.get(...of, after ?? '', limit);
      else if (after === undefined) row = selectIdsDown.get(...of, limit);
      else row = selectIdsBefore.get(...of, after, limit);
      const ids = row === undefined ? [] : (parse(row[0]) as string[]);
      assertIdsFollow(ids, descending);
      return ids;
    },
    scan: (collection: string, { after, limit }: { readonly after?: string; readonly limit: number }) =>
      select(`collection = ${collectionNumber}`, [collection], { after, limit }),
    collections: () =>
      selectCollections()
        .flatMap(({ name }) => (name === null || name === recordsCollection ? [] : [name]))
        .sort(),
  };

  /** Reads one page of documents in order of id. The statements differ in text, so each is prepared on first use. */
  function select(
    condition: string,
    parameters: readonly string[],
    page: {
      readonly after: string | undefined;
      readonly limit: number;
      readonly descending?: boolean;
    },
    from = (selected: string, _order: string) =>
      `SELECT ${columnsOf('NULL AS value')} FROM documents WHERE ${selected}`,
  ): StoredDocument[] {
    const { after, limit, descending = false } = page;
    const following = after === undefined ? '' : `AND id ${descending ? '<' : '>'} ?`;
    const order = `id ${descending ? 'DESC' : 'ASC'}`;
    const sql = from(`${condition} ${following} ORDER BY ${order} LIMIT ?`, order);
    let query = pageQueries.get(sql);
    if (query === undefined) {
      query = connection.query<DocumentsRow>(inOneRow(sql));
      pageQueries.set(sql, query);
    }
    const all: Parameter[] = [...parameters, ...(after === undefined ? [] : [after]), limit];
    const found = toSized(query.get(...all)).map(({ sized }) => sized.document);
    assertIdsFollow(
      found.map(({ id }) => id),
      descending,
    );
    return found;
  }

  /** Throws for a field without an index: the query would find nothing, so the caller has a bug. */
  function assertIndexed(collection: string, field: string): void {
    const index = `${collection}/${field}`;
    if (knownIndexes.has(index)) return;
    const row = selectCollection.get(collection);
    if (row === undefined) return;
    if (!decodeCollection(row).fields.includes(field))
      throw new TypeError(`${field} is not an index of ${collection}`);
    knownIndexes.add(index);
  }
}

/** Returns documents with the values of the index that led to them. */
function toSized(
  row: DocumentsRow | undefined,
): { readonly sized: SizedDocument; readonly value: string | null }[] {
  if (row === undefined) return [];
  const [entries, bodies] = row;
  let at = 0;
  return (parse(entries) as DocumentEntry[]).map(([number, id, revision, length, checksum, value]) => {
    const body = length === null ? null : (bodies?.subarray(at, at + length) ?? null);
    at += length ?? 0;
    const decoded = decodeDocumentBody({ collection: String(number), id, revision, body }, checksum);
    const document = { id, revision: parseRevision(revision), body: decoded };
    return { sized: { document, bytes: length ?? 0 }, value };
  });
}

/** Checks that documents belong to the index entries that led to them. @throws StoreDamaged */
function assertHas(found: readonly StoredDocument[], where: NonNullable<DocumentQuery['where']>): void {
  if (!haveValue(found, where))
    throw damage(readModelsFormat, 'an index names a document that does not belong to it');
}

/** Returns whether documents belong to the index entries that led to them. */
export function haveValue(
  found: readonly StoredDocument[],
  where: NonNullable<DocumentQuery['where']>,
): boolean {
  const wanted = new Set(('equals' in where ? [where.equals] : where.anyOf).map(asStored));
  return found.every(({ body }) => {
    for (const value of indexValues(body, where.field)) if (wanted.has(asStored(value))) return true;
    return false;
  });
}

/** @throws StoreDamaged when an id is there twice, or out of its order */
function assertIdsFollow(ids: readonly string[], descending: boolean): void {
  const keys = ids.map((id) => [id]);
  assertAscending(descending ? keys.reverse() : keys);
}

/** Returns documents that an index led to in its order, after a look at their values. @throws StoreDamaged */
function inOrder(row: DocumentsRow | undefined, field: string, descending: boolean): StoredDocument[] {
  const found = toSized(row).map(({ sized, value }) => ({ document: sized.document, value: value ?? '' }));
  const keys = found.map(({ document, value }) => [value, document.id]);
  assertAscending(descending ? keys.reverse() : keys);
  for (const { document, value } of found) assertHas([document], { field, equals: value });
  return found.map(({ document }) => document);
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
