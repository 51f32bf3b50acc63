import {
  type DomainEvent,
  type EventMetadata,
  type JsonObject,
  type Position,
  type Recorded,
  type StoredEvent,
  streamName,
} from '../ports/domain-event.js';
import type { EventCodec } from '../ports/event-codec.js';
import type { StoredDocument } from '../ports/read-model-store.js';
import type { EventStore } from '../ports/event-store.js';
import { readStream } from '../feeding/read-log.js';

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
  Document extends JsonObject = JsonObject,
  Event extends DomainEvent = DomainEvent,
> extends ViewDefinition<Event> {
  /** Returns the next document, purely. Null: the stream shows nothing yet, or no longer. */
  evolve(document: Document | null, event: Recorded<Event>): Document | null;
}

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
export interface Tally<Event extends DomainEvent = DomainEvent> extends ViewDefinition<Event> {
  /** Returns what the event changes, purely; null: nothing. A command changes a total once in each stream. */
  changeOf(event: Event): TotalChange | null;
}

/** The document of a tally. */
type Total = {
  /** A whole number: a sum may exceed 2^53. */
  readonly bytes: string;
  /** The position of the last event in the total; null before the first. */
  readonly position: Position | null;
  /** The `changeName` of that event; null before the first. */
  readonly last: string | null;
};

const emptyTotal: Total = { bytes: '0', position: null, last: null };

/** Returns the total of a stored document. The cast is safe: only `totals.ts` writes bodies. */
export function totalOf(stored: Pick<StoredDocument, 'body'> | null): Total {
  return (stored?.body ?? emptyTotal) as Total;
}

/** Names the change of a command in a stream. A command makes at most one. */
export function changeName(stream: string, { command_id }: Pick<EventMetadata, 'command_id'>): string {
  return `${stream}/${command_id}`;
}

export type AnyView = Projection | Tally;

export function isTally(view: AnyView): view is Tally {
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

/**
 * Folds events into a document at revision r. Takes event r + 1, ignores an older one and stops at a later one. An
 * event that `evolve` ignores raises the revision too.
 * @returns the document (null while nothing was folded); `'gap'` when the caller must fold the whole stream
 * @throws UndecodableEvent
 */
export function foldEvents(
  projection: Projection,
  from: StoredDocument | null,
  events: readonly StoredEvent[],
): StoredDocument | null | 'gap' {
  let document = from;
  for (const event of events) {
    const next: bigint = document === null ? 0n : document.revision + 1n;
    if (event.revision < next) continue;
    if (event.revision > next) return 'gap';
    document = evolveDocument(projection, document, projection.codec.decode(event));
  }
  return document;
}

/** Folds one decoded event: returns the document at the event's revision. */
export function evolveDocument(
  projection: Projection,
  document: StoredDocument | null,
  event: Recorded<DomainEvent>,
): StoredDocument {
  const body = projection.evolve(document?.body ?? null, event);
  const id = document?.id ?? event.stream.slice(projection.category.length + 1);
  return { id, revision: event.revision, body };
}

/** Folds the events of a stream that a document lacks, up to its head; null when the stream does not exist. */
export async function foldOnwards(
  eventStore: Pick<EventStore, 'read'>,
  projection: Projection,
  id: string,
  from: StoredDocument | null,
): Promise<StoredDocument | null> {
  let document = from;
  const next = from === null ? 0n : from.revision + 1n;
  for await (const page of readStream(eventStore, streamName(projection.category, id), next)) {
    for (const event of page) document = evolveDocument(projection, document, projection.codec.decode(event));
  }
  return document;
}
