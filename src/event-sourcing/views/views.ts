import type { DomainEvent, JsonObject } from '../ports/domain-event.js';
import { type Projection, type Tally, foldOnwards } from './projection.js';
import { type Totals, makeTotals } from './totals.js';
import type {
  DocumentQuery,
  IdQuery,
  OrderedQuery,
  StoredDocument,
  ReadModelStore,
} from '../ports/read-model-store.js';
import { Overloaded } from '../../kit/semaphore.js';
import type { EventStore } from '../ports/event-store.js';
import type { Generations } from './generations/generations.js';

/** For how long events have waited for the views of this process. */
export type ViewLags = ReturnType<typeof makeViewLags>;

const staleAfterMs = 15_000;

export function makeViewLags() {
  let lagsMs = (): ReadonlyMap<string, number> => new Map();
  return {
    /**
     * Lets a command that is judged on views miss at most what other processes added in the last 15 s.
     * @throws Overloaded while one of the views is further behind the log
     */
    requireFresh: (...views: readonly string[]) => {
      const lags = lagsMs();
      const stale = views.find((view) => (lags.get(view) ?? 0) > staleAfterMs);
      if (stale === undefined) return;
      throw new Overloaded(`the call is refused while the view ${stale} is more than 15 s behind the log`);
    },
    /** Takes the lags, in milliseconds and by the name of the view, from the runner of the views. Until then there are none. */
    follow: (runner: { lagsMs(): ReadonlyMap<string, number> }) => {
      lagsMs = () => runner.lagsMs();
    },
  };
}

/** A document as readers see it: never a tombstone. */
export interface ViewDocument<Document extends JsonObject> {
  readonly id: string;
  readonly revision: bigint;
  readonly body: Document;
}

/** The live generation of one view, for readers. */
export interface View<Document extends JsonObject> {
  /**
   * Returns the document or null. Without a stored document it folds the stream first.
   * @param found what the caller has read of this view with this id; read when left out
   * @throws StoreUnavailable
   */
  get(id: string, found?: FoundDocument): Promise<ViewDocument<Document> | null>;
  /** Returns the documents that exist, in any order. Without a stored one it folds the stream. @throws StoreUnavailable */
  getMany(ids: readonly string[]): Promise<readonly ViewDocument<Document>[]>;
  /** Returns documents in order of id. @throws StoreUnavailable */
  find(query: DocumentQuery): Promise<readonly ViewDocument<Document>[]>;
  /** Returns documents in order of an indexed field. @throws StoreUnavailable */
  findInOrder(query: OrderedQuery): Promise<readonly ViewDocument<Document>[]>;
  /** Returns the ids of documents in order. No document is read. @throws StoreUnavailable */
  ids(query: IdQuery): Promise<readonly string[]>;
  /** Returns a token that differs after any change of the view; null where only a query can tell. */
  changeToken(): string | null;
}

/** One document of one view. */
export interface Wanted<Document extends JsonObject> {
  readonly projection: Projection<Document>;
  readonly id: string;
}

/** A document that the gate of a request has read, null where there is none; undefined: not read, or only the log tells. */
export type FoundDocument = ViewDocument<JsonObject> | null | undefined;

/** A document or null for each `Wanted` of a list. */
type FoundEach<Documents extends readonly JsonObject[]> = {
  readonly [Index in keyof Documents]: ViewDocument<Documents[Index]> | null;
};

/** The views of this process, by projection. */
export interface Views {
  of<Document extends JsonObject, Event extends DomainEvent>(
    projection: Projection<Document, Event>,
  ): View<Document>;
  totalsOf<Event extends DomainEvent>(tally: Tally<Event>): Totals;
  /**
   * Reads documents of several views in one call to the store. Returns each as `View.get` does, in the order of the list.
   * @param beside is looked for in the same call. Where only the log tells of it, it is not found: the errors and the wait of the log
   * are for a caller who may see the document
   * @throws StoreUnavailable
   */
  getEach<Documents extends readonly JsonObject[]>(
    beside: Wanted<JsonObject> | null,
    ...wanted: { readonly [Index in keyof Documents]: Wanted<Documents[Index]> }
  ): Promise<{ readonly documents: FoundEach<Documents>; readonly found: FoundDocument }>;
}

/** A resource with the revision of its stream (for `ETag` and `If-Match`). */
export interface Versioned<Resource> {
  readonly revision: bigint;
  readonly resource: Resource;
}

/** A page of a list: at most `limit` items after the id `after`. */
export interface Page {
  readonly after?: string;
  readonly limit: number;
}

/** Converts a stored document; null for a tombstone. The cast is safe: only the view's `evolve` writes bodies. */
export function toViewDocument<Document extends JsonObject>(
  stored: StoredDocument | null,
): ViewDocument<Document> | null {
  if (stored?.body == null) return null;
  return { id: stored.id, revision: stored.revision, body: stored.body as Document };
}

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
      get: async (id: string, found?: FoundDocument) => {
        if (found !== undefined) return found as ViewDocument<Document> | null;
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
      find: (query) =>
        listed<Document, DocumentQuery>(projection, query, {
          read: (wanted) => readModelStore.find(generations.liveCollection(projection), wanted),
          positionOf: ({ id }) => id,
        }),
      findInOrder: (query) =>
        listed<Document, OrderedQuery>(projection, query, {
          read: (wanted) => readModelStore.findInOrder(generations.liveCollection(projection), wanted),
          // Only documents with a string in the field are in the order.
          positionOf: ({ id, body }) => ({ id, value: body?.[query.orderBy] as string }),
        }),
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
    beside: Wanted<JsonObject> | null,
    ...wanted: { readonly [Index in keyof Documents]: Wanted<Documents[Index]> }
  ): Promise<{ readonly documents: FoundEach<Documents>; readonly found: FoundDocument }> {
    const all: readonly Wanted<JsonObject>[] = beside === null ? wanted : [...wanted, beside];
    const names = all.map(({ projection, id }) => ({
      collection: generations.liveCollection(projection),
      id,
    }));
    const stored = await readModelStore.getEach(names);
    const documents = await Promise.all(
      wanted.map(({ projection, id }, index) => present(projection, id, stored[index] ?? null)),
    );
    const last = beside === null || isStale(beside.projection) ? null : (stored[wanted.length] ?? null);
    const found = last === null ? undefined : toViewDocument<JsonObject>(last);
    // The cast is safe for the reason of `toViewDocument`. The order is that of `wanted`.
    return { documents: documents as FoundEach<Documents>, found };
  }

  /** Returns the stored document, or folds the stream: without one the projector may merely lag. */
  async function present<Document extends JsonObject>(
    projection: Projection,
    id: string,
    stored: StoredDocument | null,
  ): Promise<ViewDocument<Document> | null> {
    if (stored === null) return toViewDocument<Document>(await foldOnwards(eventStore, projection, id, null));
    return toViewDocument<Document>(isStale(projection) ? await foldedOn(projection, stored) : stored);
  }

  /**
   * Returns the documents of a list. It folds missing events onto those of a stale collection; newer documents are not listed.
   * Later ones take the places of those that were removed since, because a page that is not full is the last one.
   */
  async function listed<Document extends JsonObject, Query extends DocumentQuery | OrderedQuery>(
    projection: Projection,
    query: Query,
    list: {
      readonly read: (query: Query) => Promise<readonly StoredDocument[]>;
      readonly positionOf: (document: StoredDocument) => Query['after'];
    },
  ): Promise<readonly ViewDocument<Document>[]> {
    const found = await list.read(query);
    if (!isStale(projection)) return toViewDocuments<Document>(found);
    const folded = await Promise.all(found.map((document) => foldedOn(projection, document)));
    const shown = toViewDocuments<Document>(folded.filter((document) => document !== null));
    const [last, limit] = [found.at(-1), query.limit - shown.length];
    if (last === undefined || found.length < query.limit || limit === 0) return shown;
    const others = await listed<Document, Query>(
      projection,
      { ...query, after: list.positionOf(last), limit },
      list,
    );
    return [...shown, ...others];
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
