import type { Random } from '../../../kit/time/clock.js';
import type { NamedRecord, ReadModelStore } from '../../../event-sourcing/ports/read-model-store.js';
import { storedPath } from './body-fields.js';
import { upkeep, type Calls } from '../calls/calls.js';
import { deleteCheckpoint, makeCheckpoints } from './checkpoints.js';
import type { DatabaseCommands } from '../calls/commands.js';
import { makeDocumentQueries } from './document-queries.js';
import { writeDocuments } from './document-writes.js';
import { makeVersionedRecords } from '../versioned-records.js';

/** Separates views from the store's other collections, and from those of other programs in the same database. */
const viewPrefix = 'view.';

/** Records read at once. */
const pageSize = 200;

/** Documents are `{_id, revision, write_id, body}`, with native fields under `body`. */
export function makeMongoDbReadModelStore({
  calls,
  commands,
  random,
  now,
  close,
}: {
  readonly calls: Calls;
  readonly commands: DatabaseCommands;
  readonly random: Random;
  readonly now: () => Date;
  readonly close: () => Promise<void>;
}): ReadModelStore {
  const stored = (collection: string) => `${viewPrefix}${collection}`;
  const queries = makeDocumentQueries({ calls, commands });
  const checkpoints = makeCheckpoints({ calls, commands });
  const records = makeVersionedRecords({
    calls,
    commands,
    random,
    now,
    collection: 'records',
    reading: upkeep,
  });

  return {
    ensureCollection: async (collection, indexes) => {
      const name = stored(collection);
      await calls.repeatable(`making of ${collection}`, async (attempt) => commands.create(name, attempt));
      if (indexes.length === 0) return;
      await calls.indexing(`indexing of ${collection}`, async (attempt) =>
        commands.createIndexes(
          name,
          indexes.map((path) => ({ name: path, key: { [storedPath(path)]: 1, _id: 1 } })),
          attempt,
        ),
      );
    },
    dropCollection: async (collection) =>
      calls.repeatable(`dropping of ${collection}`, async (attempt) => {
        // The checkpoint goes first: without its documents it would claim that an empty collection is complete.
        await deleteCheckpoint(commands, collection, attempt);
        await commands.drop(stored(collection), attempt);
      }),
    collections: async () => {
      const names = await calls.read(
        'list of collections',
        async (attempt) => commands.collectionNames(attempt),
        upkeep,
      );
      return names.filter((name) => name.startsWith(viewPrefix)).map((name) => name.slice(viewPrefix.length));
    },

    get: async (collection, id) => queries.get(stored(collection), id),
    getEach: async (names) =>
      queries.getEach(names.map(({ collection, id }) => ({ collection: stored(collection), id }))),
    getMany: async (collection, ids) => queries.getMany(stored(collection), ids),
    find: async (collection, query) => queries.find(stored(collection), query),
    findInOrder: async (collection, query) => queries.findInOrder(stored(collection), query),
    ids: async (collection, query) => queries.ids(stored(collection), query),
    getSelected: async (collection, { from, ...query }) =>
      queries.getSelected(stored(collection), { from: stored(from), ...query }),
    scan: async (collection, options) => queries.scan(stored(collection), options),
    write: async (collection, writes) =>
      writeDocuments({ calls, commands, random }, stored(collection), writes),
    // Other processes write too, so only a query can detect a change.
    changeToken: () => null,

    loadCheckpoint: checkpoints.load,
    loadCheckpoints: checkpoints.loadMany,
    saveCheckpoint: checkpoints.save,

    getRecord: async (name) => {
      const record = await records.get(name);
      return record === null ? null : { value: record.value, version: record.version };
    },
    getRecords: async (names) => {
      const found = await records.getMany(names);
      return new Map(found.map(({ key, value, version }) => [key, { value, version }]));
    },
    putRecord: async (name, value, expected) =>
      records.compareAndSet(name, expected, { value, removes: false, expiresAt: null }),
    removeRecord: async (name, expected) =>
      (await records.compareAndSet(name, expected, { value: null, removes: true, expiresAt: null })) !== null,
    listRecords: async (prefix) => {
      const all: NamedRecord[] = [];
      for (let after: string | undefined; ;) {
        const page = await records.list(prefix, {
          limit: pageSize,
          ...(after === undefined ? {} : { after }),
        });
        for (const { key: name, value, version } of page) all.push({ name, value, version });
        if (page.length < pageSize) return all;
        after = page.at(-1)?.key;
      }
    },

    ping: async () => {
      await calls.read('ping', async (attempt) => commands.run({ ping: 1 }, attempt), upkeep);
    },
    close,
  };
}
