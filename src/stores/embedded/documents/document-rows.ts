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

export interface CollectionRow {
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
  const selectPlace = connection.query<readonly [number: bigint]>(
    'SELECT number FROM collections INDEXED BY sqlite_autoindex_collections_1 WHERE name = ?',
  );
  return () =>
    selectAll.all().map((row) => {
      const collection = decodeCollection(row);
      const { name, number } = collection;
      if (name !== null && selectPlace.get(name)?.[0] !== number)
        throw damage(readModelsFormat, 'an index lacks a collection');
      return collection;
    });
}
