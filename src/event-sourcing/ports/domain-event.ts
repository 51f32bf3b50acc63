import type { z } from 'zod';

/** A sealed value: `sealedSchema`. The brand makes the compiler refuse plain text. */
export type Sealed = string & z.$brand<'Sealed'>;

/** Returns the name of a stream without the store's prefix. */
export function streamName(category: string, id: string): string {
  return `${category}-${id}`;
}

/** Splits a stream name; null for a name that `streamName` cannot make. */
export function parseStreamName(stream: string): { readonly category: string; readonly id: string } | null {
  const dash = stream.indexOf('-');
  if (dash <= 0 || dash === stream.length - 1) return null;
  return { category: stream.slice(0, dash), id: stream.slice(dash + 1) };
}

/** Returns the id in the name of an event's stream; `''` for a name that `streamName` cannot make. */
export function streamIdOf({ stream }: { readonly stream: string }): string {
  return parseStreamName(stream)?.id ?? '';
}

/** A JSON value as it is stored: no `undefined`, no `bigint`, no `Date`. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Tells lists from objects; `Array.isArray` does not narrow a type of read-only lists. */
export function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Tells whether a parsed JSON text is an object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A fact of the domain: its stored type (a name that a person wrote) and its payload. */
export interface DomainEvent<Type extends string = string, Data = unknown> {
  readonly type: Type;
  readonly data: Data;
}

/** The metadata of every event. The field names are storage format. */
export interface EventMetadata {
  /** The UUID of the command that caused the event. A repeated command has the same id. */
  readonly command_id: string;
  /** The id of the event or request that caused the command. */
  readonly causation_id: string;
  /** The id of the trace of the request, or the id of the command, at the root of the chain. */
  readonly correlation_id: string;
  /** `user:<id>`, `key:<id>`, `agent`, `operator`, `system:<reaction>` or `anonymous`. Never personal data. */
  readonly actor: string;
  /** The time of the command. RFC 3339, UTC, milliseconds. */
  readonly time: string;
}

/** An event to append. The service chooses the id, so that the store recognises a repeated append. */
export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
}

/** An event as a stream read returns it. `stream` omits the store's prefix. `revision` is 0-based within the stream. */
export interface StoredEvent extends NewEvent {
  readonly stream: string;
  readonly revision: bigint;
  /** The store's time of the append. Processes compare times by it: src/event-sourcing/README.md#time. */
  readonly recordedAt: Date;
}

/** An opaque position in the whole log. Positions of one log sort as bytes in log order. */
export type Position = string;

/** An event as a read of the whole log returns it. */
export interface LogEvent extends StoredEvent {
  readonly position: Position;
}

/** A decoded event with the fields of its record that projections may use. */
export type Recorded<Event extends DomainEvent> = Event & {
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly metadata: EventMetadata;
  /** The time of the command: `metadata.time`. */
  readonly time: string;
};
