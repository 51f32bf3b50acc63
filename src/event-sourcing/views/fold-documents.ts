import { type DomainEvent, type Recorded, type StoredEvent, streamName } from '../ports/domain-event.js';
import type { EventStore } from '../ports/event-store.js';
import type { Projection } from './projection.js';
import type { StoredDocument } from '../ports/read-model-store.js';
import { readStream } from '../feeding/read-log.js';

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
    document = evolveDocument(projection, document, event);
  }
  return document;
}

/** Folds one event: returns the document at the event's revision. @throws UndecodableEvent */
export function evolveDocument(
  projection: Projection,
  document: StoredDocument | null,
  event: StoredEvent,
): StoredDocument {
  return evolveDecoded(projection, document, projection.codec.decode(event));
}

/** Folds one event that is decoded already, or not stored yet. */
export function evolveDecoded(
  projection: Projection,
  document: StoredDocument | null,
  event: Recorded<DomainEvent>,
): StoredDocument {
  const body = projection.evolve(document?.body ?? null, event);
  const id = document?.id ?? event.stream.slice(projection.category.length + 1);
  return { id, revision: event.revision, body };
}

/** Folds a whole stream up to its head; null when the stream does not exist. */
export async function foldWholeStream(
  eventStore: Pick<EventStore, 'read'>,
  projection: Projection,
  id: string,
): Promise<StoredDocument | null> {
  return foldOnwards(eventStore, projection, id, null);
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
  for (const event of await readStream(eventStore, streamName(projection.category, id), next)) {
    document = evolveDocument(projection, document, event);
  }
  return document;
}
