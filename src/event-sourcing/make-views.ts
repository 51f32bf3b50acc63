import type { JsonObject } from './domain-event.js';
import type { EventStore } from './event-store.js';
import { foldWholeStream } from './fold-documents.js';
import type { Generations } from './generations.js';
import type { ReadModelStore, StoredDocument } from './read-model-store.js';
import { toViewDocument, type ViewDocument, type Views } from './views.js';

/** Views over the live generations of the read-model store. */
export function makeViews(deps: {
  readonly generations: Generations;
  readonly readModelStore: ReadModelStore;
  readonly eventStore: EventStore;
}): Views {
  const { generations, readModelStore, eventStore } = deps;
  return {
    of: <Document extends JsonObject>(projection: Parameters<Views['of']>[0]) => ({
      get: async (id: string) => {
        const stored = await readModelStore.get(generations.liveCollection(projection), id);
        // Nothing stored says only that no projector has come this far; the log has the answer.
        return toViewDocument<Document>(stored ?? (await foldWholeStream(eventStore, projection, id)));
      },
      find: async (query) =>
        toViewDocuments<Document>(await readModelStore.find(generations.liveCollection(projection), query)),
      findInOrder: async (query) =>
        toViewDocuments<Document>(
          await readModelStore.findInOrder(generations.liveCollection(projection), query),
        ),
      sum: async (query) => {
        const collection = generations.liveCollection(projection);
        let total = 0n;
        for (let from: { readonly after?: string } = {}; ;) {
          const { sum, after } = await readModelStore.sum(collection, { ...query, ...from });
          total += sum;
          if (after === null) return total;
          from = { after };
        }
      },
      changeToken: () => {
        const collection = generations.liveCollection(projection);
        const token = readModelStore.changeToken(collection);
        return token === null ? null : `${collection}/${token}`;
      },
    }),
  };
}

function toViewDocuments<Document extends JsonObject>(
  found: readonly StoredDocument[],
): readonly ViewDocument<Document>[] {
  return found.map((document) => toViewDocument<Document>(document)).filter((document) => document !== null);
}
