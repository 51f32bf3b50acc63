import type { JsonObject } from '../ports/domain-event.js';
import type { EventStore } from '../ports/event-store.js';
import { foldOnwards, foldWholeStream } from './fold-documents.js';
import type { Generations } from './generations/generations.js';
import type { ReadModelStore, StoredDocument } from '../ports/read-model-store.js';
import type { Projection } from './projection.js';
import { makeTotals } from './totals.js';
import { type FoundEach, toViewDocument, type ViewDocument, type Views, type Wanted } from './views.js';

/** Makes views over the live generations. */
export function makeViews(deps: {
  readonly generations: Generations;
  readonly readModelStore: ReadModelStore;
  readonly eventStore: EventStore;
  readonly stale?: ReadonlySet<string>;
}): Views {
  const { generations, readModelStore, eventStore, stale } = deps;
  return {
    of: <Document extends JsonObject>(projection: Projection) => ({
      get: async (id: string) => {
        const stored = await readModelStore.get(generations.liveCollection(projection), id);
        return present<Document>(projection, id, stored);
      },
      getMany: async (ids) => {
        if (ids.length === 0) return [];
        const stored = await readModelStore.getMany(generations.liveCollection(projection), ids);
        const byId = new Map(stored.map((document) => [document.id, document]));
        const documents = await Promise.all(
          [...new Set(ids)].map((id) => present<Document>(projection, id, byId.get(id) ?? null)),
        );
        return documents.filter((document) => document !== null);
      },
      find: async (query) =>
        listed<Document>(
          projection,
          await readModelStore.find(generations.liveCollection(projection), query),
        ),
      findInOrder: async (query) =>
        listed<Document>(
          projection,
          await readModelStore.findInOrder(generations.liveCollection(projection), query),
        ),
      ids: (query) => readModelStore.ids(generations.liveCollection(projection), query),
      changeToken: () => {
        const collection = generations.liveCollection(projection);
        const token = readModelStore.changeToken(collection);
        return token === null ? null : `${collection}/${token}`;
      },
    }),
    getEach,
    totalsOf: (tally) => makeTotals(deps, tally),
  };

  async function getEach<Documents extends readonly JsonObject[]>(
    ...wanted: { readonly [Index in keyof Documents]: Wanted<Documents[Index]> }
  ): Promise<FoundEach<Documents>> {
    const names = wanted.map(({ projection, id }) => ({
      collection: generations.liveCollection(projection),
      id,
    }));
    const stored = await readModelStore.getEach(names);
    const documents = await Promise.all(
      wanted.map(({ projection, id }, index) => present(projection, id, stored[index] ?? null)),
    );
    // The cast is safe for the reason of `toViewDocument`. The order is that of `wanted`.
    return documents as FoundEach<Documents>;
  }

  /** Returns the stored document, or folds the stream: without one the projector may merely lag. */
  async function present<Document extends JsonObject>(
    projection: Projection,
    id: string,
    stored: StoredDocument | null,
  ): Promise<ViewDocument<Document> | null> {
    if (stored === null) return toViewDocument<Document>(await foldWholeStream(eventStore, projection, id));
    return toViewDocument<Document>(isStale(projection) ? await foldedOn(projection, stored) : stored);
  }

  /** Returns the documents of a list. It folds missing events onto those of a stale collection; newer documents are not listed. */
  async function listed<Document extends JsonObject>(
    projection: Projection,
    found: readonly StoredDocument[],
  ): Promise<readonly ViewDocument<Document>[]> {
    if (!isStale(projection)) return toViewDocuments<Document>(found);
    const folded = await Promise.all(found.map((document) => foldedOn(projection, document)));
    return toViewDocuments<Document>(folded.filter((document) => document !== null));
  }

  function isStale(projection: Projection): boolean {
    return stale?.has(generations.liveCollection(projection)) === true;
  }

  function foldedOn(projection: Projection, stored: StoredDocument): Promise<StoredDocument | null> {
    return foldOnwards(eventStore, projection, stored.id, stored);
  }
}

function toViewDocuments<Document extends JsonObject>(
  found: readonly StoredDocument[],
): readonly ViewDocument<Document>[] {
  return found.map((document) => toViewDocument<Document>(document)).filter((document) => document !== null);
}
