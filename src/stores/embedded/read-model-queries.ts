import type { JsonObject, JsonValue } from '../../event-sourcing/domain-event.js';
import type {
  Checkpoint,
  DocumentQuery,
  OrderedQuery,
  PartialSum,
  StoredDocument,
  SumQuery,
  VersionedRecord,
} from '../../event-sourcing/read-model-store.js';
import type { Connection, Parameter, Query } from './database.js';
import type { SizedDocument } from './document-cache.js';
import { damage } from './failures.js';
import { readModelsFormat } from './formats.js';

/** Several documents as one row: a value each makes them several times dearer. The bodies follow one another in bytes. */
type DocumentsRow = readonly [entries: Buffer, bodies: Buffer | null];
type DocumentEntry = readonly [id: string, revision: string, length: number | null];
const inOneRow = (select: string): string =>
  `SELECT CAST(json_group_array(json_array(id, CAST(revision AS TEXT), octet_length(body))) AS BLOB),
   CAST(group_concat(body, '') AS BLOB) FROM (${select})`;
/** Documents whose numbers are summed at once: 2 ms or so. */
const summedMax = 500;
const documentColumns = 'documents.id, documents.revision, documents.body';
/** The index entries lead, and give the order; the planner is not to turn the join round. */
const indexedDocuments = `index_entries CROSS JOIN documents ON documents.collection = index_entries.collection
   AND documents.id = index_entries.id`;
const collectionNumber = '(SELECT number FROM collections WHERE name = ?)';
const beforeAll = { value: '', id: '' };

/** Reads of read-models.db, synchronous, one statement each. */
export interface ReadModelQueries {
  get(collection: string, id: string): SizedDocument | null;
  getMany(collection: string, ids: readonly string[]): StoredDocument[];
  find(collection: string, query: DocumentQuery): StoredDocument[];
  findInOrder(collection: string, query: OrderedQuery): StoredDocument[];
  sum(collection: string, query: SumQuery): PartialSum;
  scan(collection: string, options: { readonly after?: string; readonly limit: number }): StoredDocument[];
  collections(): string[];
  checkpoint(collection: string): Checkpoint | null;
  record(name: string): VersionedRecord | null;
}

export function makeReadModelQueries(connection: Connection): ReadModelQueries {
  const selectDocument = connection.query<readonly [revision: bigint, body: Buffer | null]>(
    `SELECT revision, CAST(body AS BLOB) FROM documents WHERE collection = ${collectionNumber} AND id = ?`,
  );
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
    'SELECT CAST(name AS BLOB) FROM collections ORDER BY name',
  );
  const selectCheckpoint = connection.query<
    readonly [logId: Buffer, position: Buffer, fingerprint: Buffer | null]
  >(
    `SELECT CAST(log_id AS BLOB), CAST(position AS BLOB), CAST(fingerprint AS BLOB) FROM checkpoints WHERE collection = ${collectionNumber}`,
  );
  const selectRecord = connection.query<readonly [value: Buffer, version: bigint]>(
    'SELECT CAST(value AS BLOB), version FROM records WHERE name = ?',
  );
  const selectSum = connection.query<readonly [count: bigint, last: Buffer | null, sum: bigint]>(
    `SELECT count(*), CAST(max(id) AS BLOB), coalesce(sum(number), 0) FROM (
       SELECT index_entries.id, CASE json_type(body, ?1) WHEN 'integer' THEN json_extract(body, ?1) END AS number
       FROM ${indexedDocuments}
       WHERE index_entries.collection = (SELECT number FROM collections WHERE name = ?2)
         AND field = ?3 AND value = ?4 AND index_entries.id > ?5
       ORDER BY index_entries.id LIMIT ?6)`,
  );
  const selectInOrder = connection.query<DocumentsRow>(
    inOneRow(
      `SELECT ${documentColumns} FROM ${indexedDocuments}
       WHERE index_entries.collection = ${collectionNumber} AND field = ? AND (value, index_entries.id) > (?, ?)
       ORDER BY value, index_entries.id LIMIT ?`,
    ),
  );
  const pageQueries = new Map<string, Query<DocumentsRow>>();
  const knownIndexes = new Set<string>();

  return {
    get: (collection, id) => {
      const row = selectDocument.get(collection, id);
      if (row === undefined) return null;
      const [revision, body] = row;
      return { document: { id, revision, body: parseBody(body) }, bytes: body?.length ?? 0 };
    },
    getMany: (collection, ids) => toDocuments(selectMany.get(collection, JSON.stringify(ids))),
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
      return select(
        `${indexedDocuments} WHERE index_entries.collection = ${collectionNumber} AND field = ? AND value = ?`,
        [collection, where.field, where.equals],
        { ...page, order: 'index_entries.id' },
      );
    },
    findInOrder: (collection, { orderBy, after = beforeAll, limit }) => {
      assertIndexed(collection, orderBy);
      return toDocuments(selectInOrder.get(collection, orderBy, after.value, after.id, limit));
    },
    sum: (collection, { where, field, after = '' }) => {
      assertIndexed(collection, where.field);
      const path = `$.${JSON.stringify(field)}`;
      const row = selectSum.get(path, collection, where.field, where.equals, after, summedMax);
      const [count, last, sum] = row ?? [0n, null, 0n];
      return { sum, after: count < summedMax ? null : (last?.toString() ?? null) };
    },
    scan: (collection, { after, limit }) =>
      select(`documents WHERE collection = ${collectionNumber}`, [collection], { after, limit }),
    collections: () => selectNames.all().map(([name]) => name.toString()),
    checkpoint: (collection) => {
      const row = selectCheckpoint.get(collection);
      if (row === undefined) return null;
      const [logId, position, fingerprint] = row;
      return {
        logId: logId.toString(),
        position: position.toString(),
        ...(fingerprint === null ? {} : { fingerprint: fingerprint.toString() }),
      };
    },
    record: (name) => {
      const row = selectRecord.get(name);
      return row === undefined ? null : { value: parse(row[0]) as JsonValue, version: String(row[1]) };
    },
  };

  /** One page of documents, in order of id; the queries differ in text, so each is prepared when first needed. */
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

  /** A field without an index would be found nowhere; that is a fault of the program. */
  function assertIndexed(collection: string, field: string): void {
    const index = `${collection}/${field}`;
    if (knownIndexes.has(index)) return;
    if (selectIndex.get(collection, field) !== undefined) {
      knownIndexes.add(index);
      return;
    }
    if (!selectNames.all().some(([name]) => name.toString() === collection)) return;
    throw new TypeError(`${field} is not an index of ${collection}`);
  }
}

function toDocuments(row: DocumentsRow | undefined): StoredDocument[] {
  if (row === undefined) return [];
  const [entries, bodies] = row;
  let at = 0;
  return (parse(entries) as DocumentEntry[]).map(([id, revision, length]) => {
    const body = length === null ? null : (bodies?.subarray(at, at + length) ?? null);
    at += length ?? 0;
    return { id, revision: parseRevision(revision), body: parseBody(body) };
  });
}

function parseBody(body: Buffer | null): JsonObject | null {
  return body === null ? null : (parse(body) as JsonObject);
}

function parseRevision(text: string): bigint {
  try {
    return BigInt(text);
  } catch {
    throw damage(readModelsFormat, 'a revision is not a whole number any more');
  }
}

/** Everything that was written was JSON, of the kind that its column is for. @throws StoreDamaged when it is not any more */
function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    throw damage(readModelsFormat, 'what it holds is not JSON any more');
  }
}
