import type { DomainEvent, JsonObject, Recorded } from './domain-event.js';
import type { EventCodec } from './event-codec.js';

/**
 * A view, as data. Every document folds exactly one stream: its id is the stream's, and it takes every event of it
 * (those that `evolve` ignores only raise the revision). What needs two streams is joined by a reader.
 */
export interface Projection<Document extends JsonObject, Event extends DomainEvent> {
  /** The collection's name, as DESIGN section 3 lists it. */
  readonly name: string;
  /** Raised with every change of `evolve` or of the document's shape; the view is then built anew. */
  readonly version: number;
  /** Streams `<category>-<id>` are folded into documents `<id>`. */
  readonly category: string;
  readonly codec: EventCodec<Event>;
  /** Dotted paths of string fields that readers look documents up by. */
  readonly indexes: readonly string[];
  /** Pure. Null shows nothing: not yet, or no more. */
  evolve(document: Document | null, event: Recorded<Event>): Document | null;
}

/** Any projection, where the kinds of its events and documents do not matter. */
export type AnyProjection = Projection<JsonObject, DomainEvent>;

/** `<view>@<version>.<generation>` */
export function collectionName(
  projection: Pick<AnyProjection, 'name' | 'version'>,
  generation: number,
): string {
  return `${projection.name}@${projection.version}.${generation}`;
}
