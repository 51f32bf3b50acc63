import type { JsonObject } from '../../../event-sourcing/ports/domain-event.js';
import type { Connection } from '../files/database.js';
import {
  type StoredCollection,
  collectionColumns,
  decodeCollection,
  decodeDocumentBody,
  documentChecksum,
  encodeCollection,
} from './document-cache.js';
import { type AddedEntries, makeIndexEntries } from './index-entries.js';
import { indexValues } from './index-values.js';
import type { FileWriter, Prepare } from '../writing/transactions.js';
import {
  assertDocumentFits,
  maxDocumentBytes,
  type DocumentWrite,
  type WriteOutcome,
} from '../../../event-sourcing/ports/read-model-store.js';

/** A body with at most so many characters of JSON fits: no character counts for more than 9 bytes. */
const surelyFits = maxDocumentBytes / 9;

/**
 * Encodes the writes of one call.
 * @param options.withParsed whether the rows also hold the bodies, for a writer on the same thread
 * @throws DocumentTooLarge; TypeError when a document appears twice
 */
export function rowsOf(
  writes: readonly DocumentWrite[],
  { withParsed = false }: { readonly withParsed?: boolean } = {},
): readonly DocumentRow[] {
  const rows = writes.map(({ document: { id, revision, body }, foldedFrom }): DocumentRow => {
    const json = body === null ? null : JSON.stringify(body);
    if ((json?.length ?? 0) > surelyFits) assertDocumentFits({ id, body });
    const from = foldedFrom === 'whole-stream' ? null : foldedFrom;
    return withParsed ? [id, revision, json, from, body] : [id, revision, json, from];
  });
  if (new Set(rows.map(([id]) => id)).size < rows.length) {
    throw new TypeError('a document appears twice in one call');
  }
  return rows;
}

/** Returns the outcomes of a `write` request, in the order of its documents. */
export function outcomesOf(reply: ReadModelReply): readonly WriteOutcome[] {
  return Array.isArray(reply) ? reply.map((applied) => (applied === true ? 'applied' : 'refused')) : [];
}

/**
 * A document to write. `foldedFrom` is null for a fold of the whole stream. `parsed` spares the writer a parse of the body;
 * left out where a copy of it between threads would cost more.
 */
export type DocumentRow = readonly [
  id: string,
  revision: bigint,
  body: string | null,
  foldedFrom: bigint | null,
  parsed?: JsonObject | null,
];

export type ReadModelRequest =
  | readonly ['ensure', collection: string, fields: readonly string[]]
  | readonly ['drop', collection: string]
  | readonly ['move on']
  | readonly ['write', collection: string, documents: readonly DocumentRow[]];

/** `write`: whether each document was applied. Others: null. */
export type ReadModelReply = readonly boolean[] | null;

interface Collection {
  readonly number: bigint;
  readonly fields: ReadonlySet<string>;
}

/** The number of rows of a dropped collection that one commit of other writes removes. */
const sweptRows = 200;
export function makeReadModelWriter(
  connection: Connection,
  prepare: Prepare,
): FileWriter<ReadModelRequest, ReadModelReply> {
  const selectCollection = connection.query<StoredCollection>(
    `SELECT ${collectionColumns} FROM collections WHERE name = ?`,
  );
  const selectNext = connection.query<readonly [bigint]>(
    'SELECT ifnull(max(number), 0) + 1 FROM collections',
  );
  const selectDocument = connection.query<
    readonly [rowid: bigint, revision: bigint, body: Buffer | null, checksum: bigint]
  >('SELECT rowid, revision, CAST(body AS BLOB), checksum FROM documents WHERE collection = ? AND id = ?');
  const selectBodies = connection.query<readonly [rowid: bigint, id: Buffer, body: Buffer]>(
    `SELECT rowid, CAST(id AS BLOB), CAST(body AS BLOB) FROM documents
     WHERE collection = ? AND rowid > ? AND body IS NOT NULL ORDER BY rowid LIMIT 500`,
  );
  const selectDropped = connection.query<StoredCollection>(
    `SELECT ${collectionColumns} FROM collections WHERE name IS NULL LIMIT 1`,
  );
  const selectLeftOver = connection.query(
    `SELECT 1 FROM documents WHERE collection = ?1 UNION ALL SELECT 1 FROM index_entries WHERE collection = ?1 LIMIT 1`,
  );
  const insertCollection = prepare('INSERT INTO collections VALUES (?, ?, ?, ?)');
  const updateCollection = prepare(
    'UPDATE collections SET name = ?, fields = ?, checksum = ? WHERE number = ?',
  );
  const deleteCollection = prepare('DELETE FROM collections WHERE number = ?');
  const insertDocument = prepare('INSERT INTO documents VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING');
  const updateDocument = prepare('UPDATE documents SET revision = ?, body = ?, checksum = ? WHERE rowid = ?');
  const insertEntry = prepare('INSERT INTO index_entries VALUES (?, ?, ?, ?)');
  const sweepDocuments = prepare(
    'DELETE FROM documents WHERE rowid IN (SELECT rowid FROM documents WHERE collection = ? LIMIT ?)',
  );
  const sweepEntries = prepare(
    `DELETE FROM index_entries WHERE (collection, field, value, id) IN
       (SELECT collection, field, value, id FROM index_entries WHERE collection = ? LIMIT ?)`,
  );
  const known = new Map<string, Collection>();
  let sweeping = selectDropped.get() !== undefined;
  const entries = makeIndexEntries(connection, prepare);

  return { apply, beforeCommit, reload };

  function apply(request: ReadModelRequest): ReadModelReply {
    switch (request[0]) {
      case 'ensure':
        ensure(request[1], request[2]);
        return null;
      case 'drop':
        drop(request[1]);
        return null;
      case 'move on':
        entries.moveOn();
        return null;
      case 'write': {
        const collection = collectionOf(request[1]);
        const added: AddedEntries = new Map();
        const replies = request[2].map((row) => write(collection, row, added));
        entries.add(collection.number, added, request[2].length);
        return replies;
      }
    }
  }

  /** Returns the collection of a name, and creates it when there is none. */
  function collectionOf(name: string): Collection {
    const found = known.get(name) ?? find(name);
    if (found !== undefined) return found;
    const number = selectNext.get()?.[0] ?? 1n;
    insertCollection(number, ...encodeCollection({ number, name, fields: [] }));
    return collectionOf(name);
  }

  function find(name: string): Collection | undefined {
    const row = selectCollection.get(name);
    if (row === undefined) return undefined;
    const { number, fields } = decodeCollection(row);
    const collection = { number, fields: new Set(fields) };
    known.set(name, collection);
    return collection;
  }

  function ensure(name: string, fields: readonly string[]): void {
    const { number, fields: existing } = collectionOf(name);
    const added = [...new Set(fields)].filter((field) => !existing.has(field));
    if (added.length === 0) return;
    updateCollection(...encodeCollection({ number, name, fields: [...existing, ...added] }), number);
    known.delete(name);
    let after = 0n;
    const rowsAfter = () => selectBodies.all(number, after);
    for (let rows = rowsAfter(); rows.length > 0; rows = rowsAfter()) {
      for (const [rowid, id, body] of rows) {
        for (const field of added) {
          for (const value of indexValues(parse(body), field))
            insertEntry(number, field, value, id.toString());
        }
        after = rowid;
      }
    }
  }

  function drop(name: string): void {
    const number = find(name)?.number;
    if (number === undefined) return;
    entries.moveOn();
    updateCollection(...encodeCollection({ number, name: null, fields: [] }), number);
    known.delete(name);
    sweeping = true;
  }

  /**
   * Writes a document under its guard (src/event-sourcing/views/README.md#documents-and-guards). Returns whether the guard held.
   * @param added receives the index entries to insert
   */
  function write(
    { number, fields }: Collection,
    [id, revision, body, foldedFrom, parsed]: DocumentRow,
    added: AddedEntries,
  ): boolean {
    // Mostly the document of a whole stream is a new one, so no read comes first.
    const checksum = documentChecksum({ collection: number, id, revision, body });
    if (foldedFrom === null && insertDocument(number, id, revision, body, checksum) === 1) {
      reindex(null);
      return true;
    }
    const found = selectDocument.get(number, id);
    if (found === undefined) return false;
    const [rowid, revisionBefore, bytesBefore, checksumBefore] = found;
    const parts = { collection: number, id, revision: revisionBefore, body: bytesBefore };
    // A changed body would leave entries of the written one in the index.
    const bodyBefore = decodeDocumentBody(parts, checksumBefore);
    const applies = foldedFrom === null ? revisionBefore < revision : revisionBefore === foldedFrom;
    if (!applies) return false;
    updateDocument(revision, body, checksum, rowid);
    reindex(bodyBefore);
    return true;

    function reindex(before: JsonObject | null): void {
      if (fields.size === 0) return;
      const after = parsed ?? parse(body);
      const key = jsonOf(id);
      for (const field of fields) {
        const [old, now] = [indexValues(before, field), indexValues(after, field)];
        for (const value of old) if (!now.has(value)) entries.remove(number, field, value, id);
        for (const value of now) if (!old.has(value)) add(field, `${jsonOf(value)}:${key}`);
      }
    }

    function add(field: string, member: string): void {
      const members = added.get(field);
      if (members === undefined) added.set(field, [member]);
      else members.push(member);
    }
  }

  function beforeCommit(): void {
    entries.beforeCommit();
    if (!sweeping) return;
    const dropped = selectDropped.get();
    sweeping = dropped !== undefined;
    if (dropped === undefined) return;
    const { number } = decodeCollection(dropped);
    sweepDocuments(number, sweptRows);
    sweepEntries(number, sweptRows);
    if (selectLeftOver.get(number) === undefined) deleteCollection(number);
  }

  function reload(): 'cannot tell' {
    known.clear();
    sweeping = true;
    entries.reload();
    return 'cannot tell';
  }
}

/** JSON of a text as SQLite stores a bound one: a surrogate without its pair is replaced. */
function jsonOf(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

function parse(body: Buffer | string | null): JsonObject | null {
  return body === null ? null : (JSON.parse(body.toString()) as JsonObject);
}
