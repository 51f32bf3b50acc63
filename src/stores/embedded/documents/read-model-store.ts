import type { JsonObject } from '../../../event-sourcing/ports/domain-event.js';
import type { ReadModelStore, StoredDocument } from '../../../event-sourcing/ports/read-model-store.js';
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
        else noteWritten(collection, request[2], replies?.[index] ?? null);
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
    get: (collection, id) => answer(() => cache.get(collection, id, () => queries.get(collection, id))),
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
    loadCheckpoint: (collection) => answer(() => queries.checkpoint(collection)),
    loadCheckpoints: (collections) => answer(() => existing(collections, (name) => queries.checkpoint(name))),
    saveCheckpoint: async (collection, { logId, position, fingerprint = null }) => {
      await writer.write(['checkpoint', collection, logId, position, fingerprint], 0);
    },
    getRecord: (name) => answer(() => queries.record(name)),
    getRecords: (names) => answer(() => existing(names, (name) => queries.record(name))),
    putRecord: async (name, value, expected) => {
      const json = JSON.stringify(value);
      const reply = await writer.write(['record', name, json, expected], json.length);
      return typeof reply === 'string' ? reply : null;
    },
    removeRecord: async (name, expected) =>
      (await writer.write(['record', name, null, expected], name.length)) !== null,
    listRecords: (prefix) => answer(() => queries.records(prefix)),
    ping: () =>
      answer(() => {
        queries.record('');
      }),
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

/** Looks each name up and returns what exists. The rows are in memory or one page away, so a joint statement saves nothing. */
function existing<Row>(
  names: readonly string[],
  lookUp: (name: string) => Row | null,
): ReadonlyMap<string, Row> {
  const found = new Map<string, Row>();
  for (const name of names) {
    const row = lookUp(name);
    if (row !== null) found.set(name, row);
  }
  return found;
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
