import type { DomainEvent, JsonObject } from '../ports/domain-event.js';
import type { Projection, Tally } from './projection.js';
import type { Totals } from './totals.js';
import type { DocumentQuery, IdQuery, OrderedQuery, StoredDocument } from '../ports/read-model-store.js';
import { Overloaded } from '../../kit/semaphore.js';

/** For how long events have waited for the views of this process. */
export interface ViewLags {
  /**
   * Lets a limit that is judged on views miss at most what other processes added in the last 15 s.
   * @throws Overloaded while one of the views is further behind the log
   */
  requireFresh(...views: readonly string[]): void;
  /** Takes the lags, in milliseconds and by the name of the view, from the runner of the views. Until then there are none. */
  follow(runner: { lagsMs(): ReadonlyMap<string, number> }): void;
}

const staleAfterMs = 15_000;

export function makeViewLags(): ViewLags {
  let lagsMs = (): ReadonlyMap<string, number> => new Map();
  return {
    requireFresh: (...views) => {
      const lags = lagsMs();
      const stale = views.find((view) => (lags.get(view) ?? 0) > staleAfterMs);
      if (stale === undefined) return;
      throw new Overloaded(`nothing is added while the view ${stale} is more than 15 s behind the log`);
    },
    follow: (runner) => {
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
  /** Returns the document or null. Without a stored document it folds the stream first. @throws StoreUnavailable */
  get(id: string): Promise<ViewDocument<Document> | null>;
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

/** A document or null for each `Wanted` of a list. */
export type FoundEach<Documents extends readonly JsonObject[]> = {
  readonly [Index in keyof Documents]: ViewDocument<Documents[Index]> | null;
};

/** The views of this process, by projection. */
export interface Views {
  of<Document extends JsonObject, Event extends DomainEvent>(
    projection: Projection<Document, Event>,
  ): View<Document>;
  totalsOf<Event extends DomainEvent>(tally: Tally<Event>): Totals;
  /**
   * Reads documents of several views in one call to the store. Returns each as `View.get` does, in the order of the
   * list. @throws StoreUnavailable
   */
  getEach<Documents extends readonly JsonObject[]>(
    ...wanted: { readonly [Index in keyof Documents]: Wanted<Documents[Index]> }
  ): Promise<FoundEach<Documents>>;
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
