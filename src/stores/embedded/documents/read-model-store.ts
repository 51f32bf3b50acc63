import type { JsonObject } from '../../../event-sourcing/ports/domain-event.js';
import type { ReadModelStore, StoredDocument } from '../../../event-sourcing/ports/read-model-store.js';
import { recordsCollection } from '../../../event-sourcing/ports/records.js';
import type { EmbeddedContext } from '../files/context.js';
import { makeDocumentCache, type SizedDocument } from './document-cache.js';
import { outcomesOf, rowsOf } from './document-writes.js';
import { readModelsFormat } from '../files/formats.js';
import { openFile } from '../files/open-file.js';
import { makeReadModelQueries, type ReadModelQueries } from './read-model-queries.js';
import { startScrub } from './read-model-scrub.js';
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
        else if (collection !== recordsCollection)
          noteWritten(collection, request[2], replies?.[index] ?? null);
      }
    },
  });
  const stopScrub = startScrub((after) => answer(() => queries.checkSlice(after)));

  return {
    ensureCollection: async (collection, indexes) => {
      await writer.write(['ensure', collection, indexes], 0);
    },
    dropCollection: async (collection) => {
      await writer.write(['drop', collection], 0);
    },
    collections: () => answer(() => queries.collections()),
    get: (collection, id) =>
      answer(() =>
        // Threads that catch up write checkpoints too.
        collection === recordsCollection
          ? (queries.get(collection, id)?.document ?? null)
          : cache.get(collection, id, () => queries.get(collection, id)),
      ),
    getEach: (names) =>
      answer(() =>
        names.map(({ collection, id }) => cache.get(collection, id, () => queries.get(collection, id))),
      ),
    getMany: (collection, ids) => answer(() => getMany(collection, ids)),
    find: (collection, query) => answer(() => queries.find(collection, query)),
    findInOrder: (collection, query) => answer(() => queries.findInOrder(collection, query)),
    ids: (collection, query) => answer(() => queries.ids(collection, query)),
    scan: (collection, options) => answer(() => queries.scan(collection, options)),
    write: async (collection, writes) => {
      if (writes.length === 0) return [];
      const rows = rowsOf(writes);
      const bytes = rows.reduce((sum, [id, , body]) => sum + id.length + (body?.length ?? 0), 0);
      const reply = await writer.write(['write', collection, rows], bytes);
      return outcomesOf(reply);
    },
    // No other process writes, so a counter of the commits of this process changes with every change.
    changeToken: (collection) => String(changes.get(collection) ?? 0),
    close: () => {
      stopScrub();
      return close();
    },
  };

  /** Caches a document written alone, because the projector reads it soon. Removes the documents of larger writes. */
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

/** The projector mostly compares the revision alone, so the body is parsed when it is read. */
function parseRow([id, revision, json]: DocumentRow): SizedDocument {
  let parsed: JsonObject | null = null;
  const document = {
    ...{ id, revision },
    get body() {
      parsed ??= json === null ? null : (JSON.parse(json) as JsonObject);
      return parsed;
    },
  };
  return { document, bytes: json?.length ?? 0 };
}
