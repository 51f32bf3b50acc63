import type { LogEvent, NewEvent, Position, StoredEvent } from './domain-event.js';

/** The revision a stream must have for an append to happen: that of its last event, or `'no-stream'`. */
export type ExpectedRevision = bigint | 'no-stream';

/** Where an append ended up: the revision of its last event and that event's position in the whole log. */
export interface Appended {
  readonly revision: bigint;
  readonly position: Position;
}

/** A piece of the whole log in order. Foreign streams are left out of `events`, but `cursor` passes them. */
export interface LogPage {
  readonly events: readonly LogEvent[];
  /** The last position passed; equal to the `after` asked for when there was nothing. */
  readonly cursor: Position | null;
  /** Whether the page reached the end of the log as it was when the page was read. */
  readonly atHead: boolean;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Sizes in UTF-8 bytes of an event's data and metadata as JSON. */
export const maxEventBytes = 256 * 1024;
export const maxAppendBytes = 512 * 1024;

/**
 * The append-only log. DESIGN section 2 is its specification and `test/contracts/event-store.ts` its proof;
 * every adapter passes the same suite.
 */
export interface EventStore {
  /**
   * How long what was in the log before may be missing from it and come back, in milliseconds: a leader that has been
   * replaced, and has not heard of it, answers from a shorter log. 0 where a log has no leaders.
   */
  readonly shortLogMs: number;
  /** Identifies this log for as long as it lives; checkpoints carry it. */
  logId(): Promise<string>;
  /**
   * Reads one stream forwards from a revision (0 when left out), at most `limit` events (500 when left out).
   * An absent stream reads as empty.
   * @throws StoreUnavailable, StoreDamaged
   */
  read(
    stream: string,
    options?: CallOptions & { readonly from?: bigint; readonly limit?: number },
  ): Promise<readonly StoredEvent[]>;
  /**
   * Appends all events or none, durably, if the stream is at `expected`. Appending `[]` does nothing and returns null.
   * Repeating an append with the same ids and expected revision succeeds and returns where it was written first.
   * One try, no longer than 5 s.
   * @throws WrongExpectedRevision, EventTooLarge, OutcomeUnknown, StoreUnavailable, StoreDamaged
   */
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    options?: CallOptions,
  ): Promise<Appended | null>;
  /**
   * Reads the whole log forwards, after a position (from the start when null), at most `limit` events.
   * @throws StoreUnavailable; StoreDamaged, also where the log ends before the position: it is an older one then
   */
  readAll(
    options: CallOptions & { readonly after: Position | null; readonly limit: number },
  ): Promise<LogPage>;
  /** The position of the last event in the log (of any stream), or null when it is empty. */
  head(): Promise<Position | null>;
  /**
   * Follows the log from after a position, for ever, in order and without gaps, with backpressure: the next page is
   * read when it is asked for. A store that is away is retried with capped, jittered back-off. Ends when the signal aborts.
   * @throws StoreDamaged
   */
  subscribe(options: {
    readonly after: Position | null;
    readonly signal: AbortSignal;
  }): AsyncIterable<LogPage>;
  /** Ends background work and releases files and connections; pending appends are settled first. */
  close(): Promise<void>;
}
