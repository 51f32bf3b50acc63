import type { DomainEvent, JsonObject } from './domain-event.js';
import type { Projection } from './projection.js';
import type { DocumentQuery, OrderedQuery, StoredDocument, SumQuery } from './read-model-store.js';

/** A document as readers see it: never a tombstone. */
export interface ViewDocument<Document extends JsonObject> {
  readonly id: string;
  readonly revision: bigint;
  readonly body: Document;
}

/** One view's live generation, for readers. */
export interface View<Document extends JsonObject> {
  /** The document, or null. Where none is stored, the stream is folded before the answer is null. @throws StoreUnavailable */
  get(id: string): Promise<ViewDocument<Document> | null>;
  /** In order of id. @throws StoreUnavailable */
  find(query: DocumentQuery): Promise<readonly ViewDocument<Document>[]>;
  /** In order of an index. @throws StoreUnavailable */
  findInOrder(query: OrderedQuery): Promise<readonly ViewDocument<Document>[]>;
  /** Over all documents that the index leads to; every one that was there before the call counts. @throws StoreUnavailable */
  sum(query: Omit<SumQuery, 'after'>): Promise<bigint>;
  /** Differs after any change of the view; null where only a query can tell. */
  changeToken(): string | null;
}

/** The views of this process, by projection. */
export interface Views {
  of<Document extends JsonObject, Event extends DomainEvent>(
    projection: Projection<Document, Event>,
  ): View<Document>;
}

/** A resource as readers show it, with the revision of its own stream (for `ETag` and `If-Match`). */
export interface Versioned<Resource> {
  readonly revision: bigint;
  readonly resource: Resource;
}

/** A page of a list: what follows the id `after`, at most `limit`. */
export interface Page {
  readonly after?: string;
  readonly limit: number;
}

/** The one place where a stored body becomes a view's document: only the view's own `evolve` has ever written it. */
export function toViewDocument<Document extends JsonObject>(
  stored: StoredDocument | null,
): ViewDocument<Document> | null {
  if (stored?.body == null) return null;
  return { id: stored.id, revision: stored.revision, body: stored.body as Document };
}
