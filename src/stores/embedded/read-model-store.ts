import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '../../event-sourcing/domain-event.js';
import type { ReadModelStore, StoredDocument } from '../../event-sourcing/read-model-store.js';
import type { EmbeddedContext } from './context.js';
import { makeDocumentCache, type SizedDocument } from './document-cache.js';
import { readModelsFormat } from './formats.js';
import { openFile } from './open-file.js';
import { makeReadModelQueries, type ReadModelQueries } from './read-model-queries.js';
import type { DocumentRow, ReadModelReply, ReadModelRequest } from './read-model-writer.js';

/** Opens the ReadModelStore port over read-models.db. @throws StoreDamaged, StoreUnavailable */
export async function openReadModelStore(context: EmbeddedContext): Promise<ReadModelStore> {
  const changes = new Map<string, number>();
  const cache = makeDocumentCache();
  const { writer, queries, answer, close } = await openFile<
    ReadModelRequest,
    ReadModelReply,
    ReadModelQueries
  >(context, readModelsFormat, {
    makeQueries: makeReadModelQueries,
    onSettled: (requests, replies) => {
      for (const [index, request] of requests.entries()) {
        const [kind, collection] = request;
        if (kind !== 'write' && kind !== 'drop') continue;
        changes.set(collection, (changes.get(collection) ?? 0) + 1);
        if (kind === 'drop') cache.forgetAll();
        else noteWritten(collection, request[2], replies?.[index] ?? null);
      }
    },
  });

  return {
    ensureCollection: async (collection, indexes) => {
      await writer.write(['ensure', collection, indexes], 0);
    },
    dropCollection: async (collection) => {
      await writer.write(['drop', collection], 0);
    },
    collections: () => answer(() => queries.collections()),
    get: (collection, id) => answer(() => cache.get(collection, id, () => queries.get(collection, id))),
    getMany: (collection, ids) => answer(() => getMany(collection, ids)),
    find: (collection, query) => answer(() => queries.find(collection, query)),
    findInOrder: (collection, query) => answer(() => queries.findInOrder(collection, query)),
    sum: async (collection, query) => {
      // A read runs on this thread at once, and another part may have gone before: others get their turn in between.
      await setImmediate();
      return answer(() => queries.sum(collection, query));
    },
    scan: (collection, options) => answer(() => queries.scan(collection, options)),
    write: async (collection, writes) => {
      if (writes.length === 0) return [];
      const rows = writes.map(({ document: { id, revision, body }, foldedFrom }): DocumentRow => [
        id,
        revision,
        body === null ? null : JSON.stringify(body),
        foldedFrom === 'whole-stream' ? null : foldedFrom,
      ]);
      if (new Set(rows.map(([id]) => id)).size < rows.length) {
        throw new TypeError('a document appears twice in one call');
      }
      const bytes = rows.reduce((sum, [id, , body]) => sum + id.length + (body?.length ?? 0), 0);
      const reply = await writer.write(['write', collection, rows], bytes);
      return Array.isArray(reply) ? reply.map((applied) => (applied === true ? 'applied' : 'refused')) : [];
    },
    // This process is the only one that writes, so a counter of its own commits tells every change.
    changeToken: (collection) => String(changes.get(collection) ?? 0),
    loadCheckpoint: (collection) => answer(() => queries.checkpoint(collection)),
    saveCheckpoint: async (collection, { logId, position, fingerprint = null }) => {
      await writer.write(['checkpoint', collection, logId, position, fingerprint], 0);
    },
    getRecord: (name) => answer(() => queries.record(name)),
    putRecord: async (name, value, expected) => {
      const json = JSON.stringify(value);
      const reply = await writer.write(['record', name, json, expected], json.length);
      return typeof reply === 'string' ? reply : null;
    },
    ping: () =>
      answer(() => {
        queries.record('');
      }),
    close,
  };

  /** What is written alone is what a command has changed, and is read soon: by the projector, if by nobody else. */
  function noteWritten(collection: string, rows: readonly DocumentRow[], reply: ReadModelReply): void {
    const [first] = rows;
    const applied = Array.isArray(reply) && reply[0] === true;
    if (first !== undefined && rows.length === 1 && applied) cache.written(collection, parseRow(first));
    else cache.forget(collection, idsOf(rows));
  }

  function getMany(collection: string, ids: readonly string[]): readonly StoredDocument[] {
    const known = cache.known(collection, [...new Set(ids)]);
    if (known.length === ids.length) return known;
    const found = new Set(known.map(({ id }) => id));
    return [
      ...known,
      ...queries.getMany(
        collection,
        ids.filter((id) => !found.has(id)),
      ),
    ];
  }
}

function idsOf(rows: readonly DocumentRow[]): readonly string[] {
  return rows.map(([id]) => id);
}

function parseRow([id, revision, body]: DocumentRow): SizedDocument {
  const parsed = body === null ? null : (JSON.parse(body) as JsonObject);
  return { document: { id, revision, body: parsed }, bytes: body?.length ?? 0 };
}
