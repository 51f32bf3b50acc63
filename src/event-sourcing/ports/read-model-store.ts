import { type JsonObject, isList, type JsonValue } from './domain-event.js';
import { DocumentTooLarge } from './errors.js';

/**
 * A read-model document: the fold of exactly one stream up to `revision`. A null `body` is a tombstone, or a document
 * that shows nothing yet. It stays stored, so that a replay cannot resurrect the document.
 */
export interface StoredDocument {
  readonly id: string;
  readonly revision: bigint;
  readonly body: JsonObject | null;
}

/**
 * A guarded write. An incremental fold names the revision that it was folded from, and applies only to that stored
 * revision. A fold of the whole stream applies where nothing or a lower revision is stored.
 */
export interface DocumentWrite {
  readonly document: StoredDocument;
  readonly foldedFrom: bigint | 'whole-stream';
}

export type WriteOutcome = 'applied' | 'refused';

interface IndexedValue {
  readonly field: string;
  readonly equals: string;
}

/**
 * Selects documents in order of id, without tombstones. `where` names an index of the collection. With `anyOf`, a document
 * must have one of the values.
 */
export interface DocumentQuery {
  readonly where?: IndexedValue | { readonly field: string; readonly anyOf: readonly string[] };
  readonly after?: string;
  readonly descending?: boolean;
  readonly limit: number;
}

/**
 * Selects documents in order of an indexed field, then of id. Omits tombstones and documents without a string in the
 * field. A document has at most one string there.
 */
export interface OrderedQuery {
  readonly orderBy: string;
  /** Selects only documents after this value and id, in the order of the query. */
  readonly after?: { readonly value: string; readonly id: string };
  readonly descending?: boolean;
  readonly limit: number;
}

/** Selects by one value of an index, in order of id. */
export interface IdQuery extends Omit<DocumentQuery, 'where'> {
  readonly where: IndexedValue;
}

/** Selects ids in another collection. */
export type SelectingQuery = IdQuery & { readonly from: string };

/** The selected ids in order, and the documents that exist under them, in any order. */
export interface SelectedDocuments {
  readonly ids: readonly string[];
  readonly documents: readonly StoredDocument[];
}

/** Names one document of one collection. */
export interface DocumentName {
  readonly collection: string;
  readonly id: string;
}

/**
 * Stores documents, those of `records.ts` included. All of it can be rebuilt from the log.
 * Every call ends within its limit with a result or StoreUnavailable: reads 2 s, writes 5 s, the creation of indexes 60 s.
 * Under overload a read may wait for 2 s before.
 * A call with many documents has the limit for each part of them that one command of the server takes.
 * Nothing changes a document that was written or read: an adapter may keep it, and callers share it.
 */
export interface ReadModelStore {
  /** Creates a collection and its indexes (dotted paths of strings; an array indexes each element). Idempotent. */
  ensureCollection(collection: string, indexes: readonly string[]): Promise<void>;
  /** Removes a collection. Idempotent. */
  dropCollection(collection: string): Promise<void>;
  /** Returns the names of all collections but that of `records.ts`. */
  collections(): Promise<readonly string[]>;

  /** Returns the document, tombstones included; null when the collection has none of the stream. */
  get(collection: string, id: string): Promise<StoredDocument | null>;
  /**
   * Reads one document of each name in one call, tombstones included. Returns them in the order of the names; null
   * where a collection has none of the stream.
   */
  getEach(names: readonly DocumentName[]): Promise<readonly (StoredDocument | null)[]>;
  /** Returns the documents that exist, tombstones included, in any order. */
  getMany(collection: string, ids: readonly string[]): Promise<readonly StoredDocument[]>;
  find(collection: string, query: DocumentQuery): Promise<readonly StoredDocument[]>;
  findInOrder(collection: string, query: OrderedQuery): Promise<readonly StoredDocument[]>;
  /** Returns the ids of the documents that `find` returns, in their order. */
  ids(collection: string, query: IdQuery): Promise<readonly string[]>;
  /**
   * Returns the ids that `ids` returns for the collection `from`, with the documents of `collection` under these ids, in one
   * call to the store. Absent where no network is between process and store, because two calls cost little there.
   */
  readonly getSelected?: (collection: string, query: SelectingQuery) => Promise<SelectedDocuments>;
  /** Returns documents in order of id, tombstones included. */
  scan(
    collection: string,
    options: { readonly after?: string; readonly limit: number },
  ): Promise<readonly StoredDocument[]>;
  /**
   * Applies each write under its guard. Returns the outcomes in the order of the writes. A call names a document once.
   * @throws StoreUnavailable: some of the writes may have applied, or may apply later; DocumentTooLarge: none was applied
   */
  write(collection: string, writes: readonly DocumentWrite[]): Promise<readonly WriteOutcome[]>;
  /**
   * Returns a token for caches in a process. It differs after a change of the collection by any process. Null where the
   * store needs a query to know.
   */
  changeToken(collection: string): string | null;

  close(): Promise<void>;
}

/**
 * The limit of a document's body, in bytes as `documentBytes` counts them. MongoDB stores at most 16 MiB; the rest is for
 * the other fields and for encoded keys. A command that would make a larger document must refuse: no view can show it.
 */
export const maxDocumentBytes = 12 * 1024 * 1024;

/**
 * Returns the size of a body in BSON (bsonspec.org, version 1.1), with 8 bytes for each number. Every store counts in this
 * way, so that all of them accept the same documents.
 */
export function documentBytes(body: JsonObject | null): number {
  return body === null ? 0 : objectBytes(body);
}

/** Returns the size of the document's body. @throws DocumentTooLarge */
export function assertDocumentFits({
  id,
  body,
}: {
  readonly id: string;
  readonly body: JsonObject | null;
}): number {
  const bytes = documentBytes(body);
  if (bytes <= maxDocumentBytes) return bytes;
  throw new DocumentTooLarge(
    `the document ${id} has ${bytes} bytes, and a document may have ${maxDocumentBytes}; nothing was written`,
  );
}

/** A type byte and the NUL of the key come before each value; 4 bytes of length and a NUL enclose an object. */
function objectBytes(object: JsonObject): number {
  let bytes = 5;
  for (const key in object) {
    if (!Object.hasOwn(object, key)) continue;
    const value = object[key];
    if (value !== undefined) bytes += 2 + Buffer.byteLength(key) + valueBytes(value);
  }
  return bytes;
}

function valueBytes(value: JsonValue): number {
  if (typeof value === 'string') return 5 + Buffer.byteLength(value);
  if (typeof value === 'number') return 8;
  if (typeof value === 'boolean') return 1;
  if (value === null) return 0;
  if (!isList(value)) return objectBytes(value);
  // The keys of a list are its indexes.
  return value.reduce<number>(
    (bytes, element, index) => bytes + 2 + String(index).length + valueBytes(element),
    5,
  );
}

// `Array.isArray` does not narrow a union with readonly arrays.
