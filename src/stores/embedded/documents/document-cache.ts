import { LRUCache } from 'lru-cache';
import { objectBytesPerJsonByte } from '../../../kit/lru.js';
import type { StoredDocument } from '../../../event-sourcing/ports/read-model-store.js';
import { crc32 } from 'node:zlib';
import type { JsonObject } from '../../../event-sourcing/ports/domain-event.js';
import type { Connection } from '../files/database.js';
import { damage } from '../files/failures.js';
import { readModelsFormat } from '../files/formats.js';

/** The parts of a document that its checksum covers. `collection` is its number. `body` is JSON; null: a tombstone. */
interface DocumentParts {
  readonly collection: bigint | string;
  readonly id: string;
  readonly revision: bigint | string;
  readonly body: Buffer | string | null;
}

/** Returns the CRC-32 (ISO 3309) of a document. */
export function documentChecksum({ collection, id, revision, body }: DocumentParts): number {
  return crc32(body ?? '', crc32(`${collection}/${id}/${revision}/${body === null ? 'gone' : 'body'}/`));
}

/** Parses a body after its checksum. @throws StoreDamaged when the document differs from the written one */
export function decodeDocumentBody(parts: DocumentParts, checksum: bigint | number): JsonObject | null {
  if (BigInt(documentChecksum(parts)) !== BigInt(checksum)) {
    throw damage(readModelsFormat, 'a document differs from the one that was written');
  }
  // The checksum proves that the writer encoded this body.
  return parts.body === null ? null : (JSON.parse(parts.body.toString()) as JsonObject);
}

interface CollectionRow {
  readonly number: bigint;
  /** Null: the collection was dropped, and its documents go with later writes. */
  readonly name: string | null;
  /** The paths that are indexes. */
  readonly fields: readonly string[];
}

/** What a query of `collectionColumns` returns. */
export type StoredCollection = readonly [
  number: bigint,
  name: Buffer | null,
  fields: Buffer,
  checksum: bigint,
];
export const collectionColumns = 'number, CAST(name AS BLOB), CAST(fields AS BLOB), checksum';

/** Returns the columns `name`, `fields` and `checksum` of a collection. */
export function encodeCollection({ number, name, fields }: CollectionRow) {
  const json = JSON.stringify(fields);
  return [name, json, collectionChecksum(number, name, json)] as const;
}

function collectionChecksum(number: bigint, name: Buffer | string | null, fields: Buffer | string): number {
  return crc32(fields, crc32(name ?? '', crc32(`${number}/${name === null ? 'dropped' : 'named'}/`)));
}

/** @throws StoreDamaged when the row differs from the written one */
export function decodeCollection([number, name, fields, checksum]: StoredCollection): CollectionRow {
  if (BigInt(collectionChecksum(number, name, fields)) !== checksum) {
    throw damage(readModelsFormat, 'a collection has another name or other indexes than were written');
  }
  return {
    number,
    name: name?.toString() ?? null,
    fields: JSON.parse(fields.toString()) as string[],
  };
}

/**
 * Makes the function that returns all collections, and checks them: a name that has changed would hide the documents of a view,
 * whose checkpoint says that they are there. @throws StoreDamaged
 */
export function makeSelectCollections(connection: Connection): () => readonly CollectionRow[] {
  const selectAll = connection.query<StoredCollection>(
    `SELECT ${collectionColumns} FROM collections NOT INDEXED ORDER BY number`,
  );
  const selectNumber = connection.query<readonly [number: bigint]>(
    'SELECT number FROM collections INDEXED BY sqlite_autoindex_collections_1 WHERE name = ?',
  );
  return () =>
    selectAll.all().map((row) => {
      const collection = decodeCollection(row);
      const { name, number } = collection;
      if (name !== null && selectNumber.get(name)?.[0] !== number)
        throw damage(readModelsFormat, 'an index lacks a collection');
      return collection;
    });
}

/** A document and the length of its stored text in bytes. */
export interface SizedDocument {
  readonly document: StoredDocument;
  readonly bytes: number;
}

const bytesMax = 32 * 1024 * 1024;
/** The estimated memory of an entry beside the body. */
const overheadBytes = 200;
const absent = Symbol('absent');

/**
 * Makes a cache of parsed documents that were read or written recently, and of ids without a document. Only this process writes,
 * so a cached document is stale at most until the commit that changed it is acknowledged.
 */
export function makeDocumentCache() {
  const cache = new LRUCache<string, StoredDocument | typeof absent>({ maxSize: bytesMax });
  const keyOf = (collection: string, id: string): string => `${collection}/${id}`;
  const written = (collection: string, { document, bytes }: SizedDocument): void => {
    cache.set(keyOf(collection, document.id), document, {
      size: objectBytesPerJsonByte * bytes + overheadBytes,
    });
  };
  return {
    /** Returns the documents that exist, in the order of `ids`. It calls `read` for those that it does not know. */
    getMany: (
      collection: string,
      ids: readonly string[],
      read: (unknown: readonly string[]) => readonly SizedDocument[],
    ): StoredDocument[] => {
      const unique = ids.length > 1 ? [...new Set(ids)] : ids;
      const found = unique.map((id) => cache.get(keyOf(collection, id)));
      if (found.includes(undefined)) {
        const unknown = unique.filter((_, index) => found[index] === undefined);
        const fresh = new Map(read(unknown).map((each) => [each.document.id, each]));
        for (const [index, id] of unique.entries()) {
          if (found[index] !== undefined) continue;
          const each = fresh.get(id);
          if (each === undefined) cache.set(keyOf(collection, id), absent, { size: overheadBytes });
          else written(collection, each);
          found[index] = each?.document;
        }
      }
      return found.filter((known) => typeof known === 'object');
    },
    /** Returns a document, null where there is none; undefined where the cache does not know it. */
    known: (collection: string, id: string): StoredDocument | null | undefined => {
      const found = cache.peek(keyOf(collection, id));
      return found === absent ? null : found;
    },
    /** Caches a document that a commit has written. The caller calls it before it acknowledges the commit. */
    written,
    /** Removes a document that a commit may have changed. The caller calls it before it acknowledges the commit. */
    forget: (collection: string, id: string) => cache.delete(keyOf(collection, id)),
    forgetAll: () => cache.clear(),
  };
}
