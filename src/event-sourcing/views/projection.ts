import type { DomainEvent, JsonObject, Recorded } from '../ports/domain-event.js';
import type { EventCodec } from '../ports/event-codec.js';

/** What all views have. */
interface ViewDefinition<Event extends DomainEvent> {
  /** A name in docs/architecture.md#views. */
  readonly name: string;
  /** Raise it with every change of what the documents hold: the view is then built again. */
  readonly version: number;
  /** The category of the streams `<category>-<id>` that the view reads. */
  readonly category: string;
  readonly codec: EventCodec<Event>;
  /** Dotted paths of string fields by which readers look documents up. */
  readonly indexes: readonly string[];
}

/**
 * A view, as data. A document folds all events of exactly one stream and has the stream's id. An event that `evolve`
 * ignores only raises the revision. A reader joins documents of several streams.
 */
export interface Projection<
  Document extends JsonObject,
  Event extends DomainEvent,
> extends ViewDefinition<Event> {
  /** Returns the next document, purely. Null: the stream shows nothing yet, or no longer. */
  evolve(document: Document | null, event: Recorded<Event>): Document | null;
}

/** A projection of any events and documents. */
export type AnyProjection = Projection<JsonObject, DomainEvent>;

/** What an event changes in a total. */
export interface TotalChange {
  /** The id of the total. */
  readonly total: string;
  /** What is added; negative for less. */
  readonly bytes: number;
}

/**
 * A view, as data, whose documents are totals over many streams: src/event-sourcing/views/README.md#totals. One projector adds the events up
 * in the order of the log. A total remembers the position of the last event in it, so an event counts once.
 */
export interface Tally<Event extends DomainEvent> extends ViewDefinition<Event> {
  /** Returns what the event changes, purely; null: nothing. A command changes a total once in each stream. */
  changeOf(event: Event): TotalChange | null;
}

export type AnyTally = Tally<DomainEvent>;

export type AnyView = AnyProjection | AnyTally;

export function isTally(view: AnyView): view is AnyTally {
  return 'changeOf' in view;
}

/** `<view>@<version>` */
export function viewVersion({ name, version }: Pick<AnyView, 'name' | 'version'>): string {
  return `${name}@${version}`;
}

/** `<view>@<version>.<generation>` */
export function collectionName(projection: Pick<AnyView, 'name' | 'version'>, generation: number): string {
  return `${viewVersion(projection)}.${generation}`;
}

/** Splits a name that `collectionName` made; null for any other name. */
export function parseCollectionName(
  collection: string,
): { readonly viewVersion: string; readonly generation: number } | null {
  const [, version, generation] = /^(.+@\d+)\.(\d+)$/.exec(collection) ?? [];
  return version === undefined ? null : { viewVersion: version, generation: Number(generation) };
}
