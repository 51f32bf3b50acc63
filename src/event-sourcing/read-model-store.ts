import type { JsonObject, JsonValue, Position } from './domain-event.js';

/**
 * A read-model document: the fold of exactly one stream at `revision`.
 * `body` null is a tombstone (or a stream that shows nothing yet); it stays, so that a replay cannot resurrect it.
 */
export interface StoredDocument {
  readonly id: string;
  readonly revision: bigint;
  readonly body: JsonObject | null;
}

/**
 * A guarded write. An incremental fold names the revision it was folded from and applies only where that is what is
 * stored; a fold of the whole stream applies where nothing or a lower revision is stored.
 */
export interface DocumentWrite {
  readonly document: StoredDocument;
  readonly foldedFrom: bigint | 'whole-stream';
}

export type WriteOutcome = 'applied' | 'refused';

/** Documents in order of id; tombstones are left out. `where` must name an index of the collection. */
export interface DocumentQuery {
  readonly where?: { readonly field: string; readonly equals: string };
  readonly after?: string;
  readonly descending?: boolean;
  readonly limit: number;
}

/**
 * Documents in order of what an index leads to, then of id; those without a string there, and tombstones, are left out.
 * In each document the index leads to one string at most.
 */
export interface OrderedQuery {
  readonly orderBy: string;
  /** Only what stands after this value and id. */
  readonly after?: { readonly value: string; readonly id: string };
  readonly limit: number;
}

/** Which documents' numbers are summed: those that an index of the collection leads to, after an id. */
export interface SumQuery {
  readonly where: NonNullable<DocumentQuery['where']>;
  /** A field of the body, not below another; what is no whole number there counts nothing. */
  readonly field: string;
  readonly after?: string;
}

/** The sum over a part of the documents; `after` is the last one's id, null when none follow. */
export interface PartialSum {
  readonly sum: bigint;
  readonly after: string | null;
}

/** How far a collection has followed which log. */
export interface Checkpoint {
  readonly logId: string;
  readonly position: Position;
  /** Names the last of our events up to there, so that a log that holds another one is noticed; absent before the first. Opaque. */
  readonly fingerprint?: string;
}

/** A small record changed by compare-and-set; `version` is opaque. */
export interface VersionedRecord {
  readonly value: JsonValue;
  readonly version: string;
}

/**
 * Documents, their checkpoints and the registry of generations: everything in here can be rebuilt from the log.
 * Every call ends within its limit (reads 2 s, writes 5 s) with an answer or StoreUnavailable.
 */
export interface ReadModelStore {
  /** Makes the collection and its indexes (dotted paths of string fields; arrays on the way index every element). Idempotent. */
  ensureCollection(collection: string, indexes: readonly string[]): Promise<void>;
  /** Removes a collection and its checkpoint. Idempotent. */
  dropCollection(collection: string): Promise<void>;
  collections(): Promise<readonly string[]>;

  /** The document, tombstones included, or null when the collection has never seen its stream. */
  get(collection: string, id: string): Promise<StoredDocument | null>;
  /** Those of the ids that exist, tombstones included, in any order. */
  getMany(collection: string, ids: readonly string[]): Promise<readonly StoredDocument[]>;
  find(collection: string, query: DocumentQuery): Promise<readonly StoredDocument[]>;
  findInOrder(collection: string, query: OrderedQuery): Promise<readonly StoredDocument[]>;
  /** Sums over as many documents, in order of id, as a store reads at once without holding others up. */
  sum(collection: string, query: SumQuery): Promise<PartialSum>;
  /** All documents in order of id, tombstones included. */
  scan(
    collection: string,
    options: { readonly after?: string; readonly limit: number },
  ): Promise<readonly StoredDocument[]>;
  /**
   * Applies each write under its guard and tells which applied, in the order given. A document appears at most once a call.
   * @throws StoreUnavailable; some of the writes may have applied then, or may apply later
   */
  write(collection: string, writes: readonly DocumentWrite[]): Promise<readonly WriteOutcome[]>;
  /**
   * A token that differs after any change of the collection, whoever made it, for caching in a process;
   * null where the store cannot tell without a query.
   */
  changeToken(collection: string): string | null;

  loadCheckpoint(collection: string): Promise<Checkpoint | null>;
  /** Moves the checkpoint forward; a position of the same log that is not later changes nothing. Another log's id replaces it. */
  saveCheckpoint(collection: string, checkpoint: Checkpoint): Promise<void>;

  getRecord(name: string): Promise<VersionedRecord | null>;
  /** Writes the record if its version is still `expected` (null: absent); returns the new version, or null when refused. */
  putRecord(name: string, value: JsonValue, expected: string | null): Promise<string | null>;

  /** Resolves when the store answers. @throws StoreUnavailable */
  ping(): Promise<void>;
  close(): Promise<void>;
}
