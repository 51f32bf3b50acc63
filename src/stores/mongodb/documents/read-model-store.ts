import type { Random } from '../../../kit/time/clock.js';
import type { ReadModelStore } from '../../../event-sourcing/ports/read-model-store.js';
import { recordsCollection } from '../../../event-sourcing/ports/records.js';
import { storedPath } from './body-fields.js';
import { upkeep, type Calls } from '../calls/calls.js';
import type { DatabaseCommands } from '../calls/commands.js';
import { makeDocumentQueries } from './document-queries.js';
import { writeDocuments } from './document-writes.js';

/** Separates views from the store's other collections, and from those of other programs in the same database. */
const viewPrefix = 'view.';

/** Documents are `{_id, revision, write_id, body}`, with native fields under `body`. */
export function makeMongoDbReadModelStore({
  calls,
  commands,
  random,
  close,
}: {
  readonly calls: Calls;
  readonly commands: DatabaseCommands;
  readonly random: Random;
  readonly close: () => Promise<void>;
}): ReadModelStore {
  const stored = (collection: string) => `${viewPrefix}${collection}`;
  const queries = makeDocumentQueries({ calls, commands, upkeepOf: stored(recordsCollection) });

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
      calls.repeatable(`dropping of ${collection}`, async (attempt) =>
        commands.drop(stored(collection), attempt),
      ),
    collections: async () => {
      const names = await calls.read(
        'list of collections',
        async (attempt) => commands.collectionNames(attempt),
        upkeep,
      );
      return names.flatMap((name) =>
        name.startsWith(viewPrefix) && name !== stored(recordsCollection)
          ? name.slice(viewPrefix.length)
          : [],
      );
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

    close,
  };
}
