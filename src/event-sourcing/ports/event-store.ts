import type { LogEvent, NewEvent, Position, StoredEvent } from './domain-event.js';

/** The revision that an append requires of the stream: that of its last event, or `'no-stream'`. */
export type ExpectedRevision = bigint | 'no-stream';

/** The revision of the last appended event, and its position in the whole log. */
export interface Appended {
  readonly revision: bigint;
  readonly position: Position;
}

/** A page of the whole log, in order. `events` omits streams without `STREAM_PREFIX`; `cursor` passes them. */
export interface LogPage {
  readonly events: readonly LogEvent[];
  /** The last position that the page passed; the requested `after` when nothing follows it. */
  readonly cursor: Position | null;
  /** Whether the page reached the end that the log had during the read. */
  readonly atHead: boolean;
  /** The approximate size of the events as JSON, in bytes. Left out where the store does not know it. */
  readonly bytes?: number;
}

/** Reads a page of the log that may leave out events of other categories. `last` is the last event up to the cursor, of any. */
export type ReadCategory = (options: {
  readonly after: Position | null;
  readonly limit: number;
}) => Promise<LogPage & { readonly last: LogEvent | null }>;

/** Events for another stream, which follow those of an append. `written` runs once they are durable. */
export interface FurtherAppend {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly NewEvent[];
  readonly written: () => void;
}

export interface AppendOptions {
  /**
   * Returns further events. A store that has one transaction for all streams writes them in that of the append, where the
   * append is written and their stream is at its revision. Every other store leaves them out.
   */
  readonly further?: (() => Promise<FurtherAppend | null>) | undefined;
}

/** Limits in UTF-8 bytes of data and metadata as JSON. */
export const maxEventBytes = 256 * 1024;
export const maxAppendBytes = 512 * 1024;

/** A page of the log ends with the event that reaches this size, so that large events delay no other work. */
export const logPageBytesMax = 2 * 1024 * 1024;

/** The append-only log: src/event-sourcing/README.md#append. Every adapter passes `test/contracts/event-store.ts`. */
export interface EventStore {
  /**
   * Milliseconds for which reads may miss events that the log contains: a replaced leader answers from a shorter log
   * until it learns of its successor. 0 for a log without leaders.
   */
  readonly shortLogMs: number;
  /**
   * Returns the id of the log. The id never changes; checkpoints carry it. A log without an event gets one, so a service asks
   * before its first append. @throws StoreDamaged when the log has events of this service and no id
   */
  logId(): Promise<string>;
  /**
   * Reads one stream forwards from revision `from` (default 0), at most `limit` events (default 500). Fewer events than
   * `limit` mean its head. An absent stream reads as empty.
   * @throws StoreUnavailable, StoreDamaged
   */
  read(
    stream: string,
    options?: { readonly from?: bigint; readonly limit?: number },
  ): Promise<readonly StoredEvent[]>;
  /**
   * Appends all events or none, durably, if the stream is at `expected`. Makes one attempt of at most 5 s. A repeated
   * append (same ids and expected revision) succeeds, and returns the position of the first write. An append of `[]`
   * does nothing and returns null.
   * @throws WrongExpectedRevision, EventTooLarge, OutcomeUnknown, StoreUnavailable, StoreDamaged
   */
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    options?: AppendOptions,
  ): Promise<Appended | null>;
  /**
   * Reads the whole log forwards, after a position (from the start when null), at most `limit` events. A page of large
   * events ends early: only `atHead` shows the end of the log.
   * @throws StoreUnavailable; StoreDamaged, also when the log ends before `after`: an older log has replaced it
   */
  readAll(options: {
    readonly after: Position | null;
    readonly limit: number;
    /** Ends the read. */
    readonly signal?: AbortSignal;
  }): Promise<LogPage>;
  /** Returns the position of the last event of any stream; null for an empty log. */
  head(): Promise<Position | null>;
  /**
   * Yields the log after a position, in order, without gaps and with backpressure: it reads a page when the consumer
   * asks for one. Retries a failed read a few times with jittered back-off. Ends when the signal aborts.
   * @throws StoreDamaged; StoreUnavailable after repeated failures: check the log again before the next subscription
   */
  subscribe(options: {
    readonly after: Position | null;
    readonly signal: AbortSignal;
  }): AsyncIterable<LogPage>;
  /** Settles pending appends, ends background work, and releases files and connections. */
  close(): Promise<void>;
}
