/** A JSON value as it is stored: no `undefined`, no `bigint`, no `Date`. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** A fact of the domain: its stored type, written by hand, and its payload. */
export interface DomainEvent<Type extends string = string, Data = unknown> {
  readonly type: Type;
  readonly data: Data;
}

/** What every event carries beside its payload. Names and spelling are the storage format. */
export interface EventMetadata {
  /** The command that caused the event; a repeated command has the same id. UUID. */
  readonly command_id: string;
  /** The event or request that caused the command. */
  readonly causation_id: string;
  /** The request or process at the root of the chain. */
  readonly correlation_id: string;
  /** Who acted: `user:<id>`, `key:<id>`, `agent`, `operator`, `system:<reaction>` or `anonymous`. Never personal data. */
  readonly actor: string;
  /** When the command was decided. RFC 3339, UTC, milliseconds. */
  readonly time: string;
}

/** An event ready to be appended. The id is ours, so that a repeated append is recognisable. */
export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
}

/** An event as a stream read returns it. `stream` is without the store's prefix, `revision` counts from 0 within it. */
export interface StoredEvent extends NewEvent {
  readonly stream: string;
  readonly revision: bigint;
  /** The store's own time of the append: the one to use where several processes compare times. */
  readonly recordedAt: Date;
}

/** An opaque place in the whole log; positions of one log sort as bytes in log order. */
export type Position = string;

/** An event as a read of the whole log returns it. */
export interface LogEvent extends StoredEvent {
  readonly position: Position;
}

/** A decoded event together with what projections may use of its record. */
export type Recorded<Event extends DomainEvent> = Event & {
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly metadata: EventMetadata;
  /** When the command was decided, RFC 3339: `metadata.time`. */
  readonly time: string;
};
