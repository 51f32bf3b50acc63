import type { ReadModelStore } from '../../event-sourcing/read-model-store.js';
import type { EmbeddedContext } from './context.js';
import { makeDocumentCache } from './document-cache.js';
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
    onSettled: (requests) => {
      for (const request of requests) {
        const [kind, collection] = request;
        if (kind !== 'write' && kind !== 'drop') continue;
        changes.set(collection, (changes.get(collection) ?? 0) + 1);
        if (kind === 'drop') cache.forgetAll();
        else cache.forget(collection, idsOf(request[2]));
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
    getMany: (collection, ids) => answer(() => queries.getMany(collection, ids)),
    find: (collection, query) => answer(() => queries.find(collection, query)),
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
    saveCheckpoint: async (collection, { logId, position }) => {
      await writer.write(['checkpoint', collection, logId, position], 0);
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
}

function idsOf(rows: readonly DocumentRow[]): readonly string[] {
  return rows.map(([id]) => id);
}
