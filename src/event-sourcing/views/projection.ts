import type { DomainEvent, JsonObject, Recorded } from '../ports/domain-event.js';
import type { EventCodec } from '../ports/event-codec.js';

/**
 * A view, as data. A document folds all events of exactly one stream and has the stream's id. An event that `evolve`
 * ignores only raises the revision. A reader joins documents of several streams.
 */
export interface Projection<Document extends JsonObject, Event extends DomainEvent> {
  /** A name in docs/design.md#read-models. */
  readonly name: string;
  /** Raise it with every change of `evolve` or of the document's shape: the view is then built again. */
  readonly version: number;
  /** Streams `<category>-<id>` fold into documents `<id>`. */
  readonly category: string;
  readonly codec: EventCodec<Event>;
  /** Dotted paths of string fields by which readers look documents up. */
  readonly indexes: readonly string[];
  /** Returns the next document, purely. Null: the stream shows nothing yet, or no longer. */
  evolve(document: Document | null, event: Recorded<Event>): Document | null;
}

/** A projection of any events and documents. */
export type AnyProjection = Projection<JsonObject, DomainEvent>;

/** `<view>@<version>` */
export function viewVersion({ name, version }: Pick<AnyProjection, 'name' | 'version'>): string {
  return `${name}@${version}`;
}

/** `<view>@<version>.<generation>` */
export function collectionName(
  projection: Pick<AnyProjection, 'name' | 'version'>,
  generation: number,
): string {
  return `${viewVersion(projection)}.${generation}`;
}

/** Splits a name that `collectionName` made; null for any other name. */
export function parseCollectionName(
  collection: string,
): { readonly viewVersion: string; readonly generation: number } | null {
  const [, version, generation] = /^(.+@\d+)\.(\d+)$/.exec(collection) ?? [];
  return version === undefined ? null : { viewVersion: version, generation: Number(generation) };
}
