import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type {
  DocumentQuery,
  ReadModelStore,
  StoredDocument,
} from '../../../event-sourcing/ports/read-model-store.js';
import { recordsCollection } from '../../../event-sourcing/ports/records.js';
import { type EmbeddedContext, openFile } from '../files/open-file.js';
import { makeDocumentCache } from './document-cache.js';
import {
  type DocumentRow,
  type ReadModelReply,
  type ReadModelRequest,
  outcomesOf,
  rowsOf,
} from './read-model-writer.js';
import { damage } from '../files/failures.js';
import { readModelsFormat } from '../files/formats.js';
import { haveValue, makeReadModelQueries, type ReadModelQueries } from './read-model-queries.js';
import { makeSelections } from './selections.js';
import { startScrub } from './start-scrub.js';

/** A pause of writes after which the newest index entries are moved on: each query reads all of them. */
const restMs = 500;

/**
 * Opens the ReadModelStore port over read-models.db. `forget`: forgets what this process remembers of it, after its threads have
 * written documents. @throws StoreDamaged, StoreUnavailable
 */
export async function openReadModelStore(
  context: EmbeddedContext,
): Promise<ReadModelStore & { readonly forget: () => void }> {
  const changes = new Map<string, number>();
  /** How often other threads have written. */
  let others = 0;
  const cache = makeDocumentCache();
  /** What each request writes. The thread gets a copy of its rows alone. */
  const documentsOf = new WeakMap<readonly DocumentRow[], readonly StoredDocument[]>();
  const selections = makeSelections();
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
        rest = rest?.refresh() ?? setTimeout(moveOn, restMs).unref();
        changes.set(collection, (changes.get(collection) ?? 0) + 1);
        if (kind === 'drop') {
          cache.forgetAll();
          selections.forgetAll(collection);
        } else if (collection !== recordsCollection)
          noteWritten(collection, request[2], replies?.[index] ?? null);
      }
    },
  });
  // It begins with the first write: a start that is refused changes nothing.
  let rest: NodeJS.Timeout | undefined;
  const moveOn = (): void => {
    // A file that takes no write keeps them where they are.
    writer.write(['move on'], 0).catch(() => undefined);
  };
  const stopScrub = startScrub(join(context.directory, readModelsFormat.fileName), (damage) => {
    writer.giveUp(damage);
  });

  return {
    ensureCollection: async (collection, indexes) => {
      await writer.write(['ensure', collection, indexes], 0);
    },
    dropCollection: async (collection) => {
      await writer.write(['drop', collection], 0);
    },
    collections: () => answer(() => queries.collections()),
    get: (collection, id) => answer(() => read(collection, [id])[0] ?? null),
    getEach: (names) => answer(() => names.map(({ collection, id }) => read(collection, [id])[0] ?? null)),
    getMany: (collection, ids) => answer(() => read(collection, ids)),
    find: (collection, query) => answer(() => find(collection, query)),
    findInOrder: (collection, query) => answer(() => queries.findInOrder(collection, query)),
    ids: (collection, query) =>
      answer(() => selections.get(collection, query) ?? find(collection, query).map(({ id }) => id)),
    scan: async (collection, options) => {
      const page = await answer(() => queries.scan(collection, options));
      // A read takes no turn of the event loop, so pages one after the other would hold up every request.
      if (page.length === options.limit) await setImmediate();
      return page;
    },
    write: async (collection, writes) => {
      if (writes.length === 0) return [];
      const rows = rowsOf(writes);
      documentsOf.set(
        rows,
        writes.map(({ document }) => document),
      );
      const bytes = rows.reduce((sum, [id, , body]) => sum + id.length + (body?.length ?? 0), 0);
      const reply = await writer.write(['write', collection, rows], bytes);
      return outcomesOf(reply);
    },
    // No other process writes, so a counter of the commits of this process changes with every change.
    changeToken: (collection) => `${others}/${changes.get(collection) ?? 0}`,
    forget: () => {
      others += 1;
      cache.forgetAll();
      selections.clear();
    },
    close: async () => {
      clearTimeout(rest);
      await stopScrub();
      await close();
    },
  };

  /**
   * Caches what was written, because the projector or the next request reads it soon. The documents are those of the caller, so
   * that a fold and this cache share them in memory: nothing changes a document once it is made.
   */
  function noteWritten(collection: string, rows: readonly DocumentRow[], reply: ReadModelReply): void {
    const documents = documentsOf.get(rows) ?? [];
    for (const [index, [id, , json]] of rows.entries()) {
      const document = documents[index];
      if (document !== undefined && Array.isArray(reply) && reply[index] === true) {
        selections.changed(collection, cache.known(collection, id), document);
        cache.written(collection, { document, bytes: json?.length ?? 0 });
      } else {
        cache.forget(collection, id);
        if (reply === null) selections.forgetAll(collection);
      }
    }
  }

  /** Threads that catch up write checkpoints too, so records are not cached. */
  function read(collection: string, ids: readonly string[]): readonly StoredDocument[] {
    return collection === recordsCollection
      ? queries.getMany(collection, ids).map(({ document }) => document)
      : cache.getMany(collection, ids, (unknown) => queries.getMany(collection, unknown));
  }

  /**
   * Takes the ids from earlier selections, and their documents from the cache. A commit may be in the file
   * before its thread reports it. Where the cache lacks it, one statement reads all from the file.
   */
  function find(collection: string, query: DocumentQuery): readonly StoredDocument[] {
    const { where } = query;
    if (where === undefined || !('equals' in where)) return queries.find(collection, query);
    const ids = selections.get(collection, query) ?? queries.ids(collection, { ...query, where });
    const found = read(collection, ids);
    if (found.length < ids.length || !haveValue(found, where)) {
      // A document stays in the file for ever, as a tombstone at least.
      if (queries.getMany(collection, ids).length < ids.length)
        throw damage(readModelsFormat, 'an index names a document that is not there');
      return queries.find(collection, query);
    }
    selections.set(collection, query, ids);
    return found;
  }
}
