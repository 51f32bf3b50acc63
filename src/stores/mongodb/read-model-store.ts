import type { Random } from '../../event-sourcing/clock.js';
import type { ReadModelStore } from '../../event-sourcing/read-model-store.js';
import { storedPath } from './body-fields.js';
import type { Calls } from './calls.js';
import { deleteCheckpoint, makeCheckpoints } from './checkpoints.js';
import type { Commands } from './commands.js';
import { makeDocumentQueries } from './document-queries.js';
import { writeDocuments } from './document-writes.js';
import { makeVersionedRecords } from './versioned-records.js';

/** Views' collections have names of their own, apart from ours and from others' in the same database. */
const viewPrefix = 'view.';

/** The read-model store in one database. Documents are `{_id, revision, write_id, body}` with native fields under `body`. */
export function makeMongoDbReadModelStore({
  calls,
  commands,
  random,
  now,
  close,
}: {
  readonly calls: Calls;
  readonly commands: Commands;
  readonly random: Random;
  readonly now: () => Date;
  readonly close: () => Promise<void>;
}): ReadModelStore {
  const stored = (collection: string) => `${viewPrefix}${collection}`;
  const queries = makeDocumentQueries({ calls, commands });
  const checkpoints = makeCheckpoints({ calls, commands });
  const records = makeVersionedRecords({ calls, commands, random, now, collection: 'records' });

  return {
    ensureCollection: async (collection, indexes) =>
      calls.repeatable(`making of ${collection}`, async (signal) =>
        commands.ensure(
          stored(collection),
          indexes.map((path) => ({ name: path, key: { [storedPath(path)]: 1, _id: 1 } })),
          signal,
        ),
      ),
    dropCollection: async (collection) =>
      calls.repeatable(`dropping of ${collection}`, async (signal) => {
        // The checkpoint first: left behind alone it would claim that an empty collection is up to date.
        await deleteCheckpoint(commands, collection, signal);
        await commands.drop(stored(collection), signal);
      }),
    collections: async () => {
      const names = await calls.read('list of collections', async (signal) =>
        commands.collectionNames(signal),
      );
      return names.filter((name) => name.startsWith(viewPrefix)).map((name) => name.slice(viewPrefix.length));
    },

    get: async (collection, id) => queries.get(stored(collection), id),
    getMany: async (collection, ids) => queries.getMany(stored(collection), ids),
    find: async (collection, query) => queries.find(stored(collection), query),
    findInOrder: async (collection, query) => queries.findInOrder(stored(collection), query),
    sum: async (collection, query) => queries.sum(stored(collection), query),
    scan: async (collection, options) => queries.scan(stored(collection), options),
    write: async (collection, writes) =>
      writeDocuments({ calls, commands, random }, stored(collection), writes),
    // Other processes write too, and only a query tells.
    changeToken: () => null,

    loadCheckpoint: checkpoints.load,
    saveCheckpoint: checkpoints.save,

    getRecord: async (name) => {
      const record = await records.get(name);
      return record === null ? null : { value: record.value, version: record.version };
    },
    putRecord: async (name, value, expected) =>
      records.compareAndSet(name, expected, { value, removes: false, expiresAt: null }),

    ping: async () => {
      await calls.read('ping', async (signal) => commands.run({ ping: 1 }, signal));
    },
    close,
  };
}
