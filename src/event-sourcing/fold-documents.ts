import type { DomainEvent, Recorded, StoredEvent } from './domain-event.js';
import { streamName } from './decider.js';
import type { EventStore } from './event-store.js';
import type { AnyProjection } from './projection.js';
import type { StoredDocument } from './read-model-store.js';
import { readStream } from './read-stream.js';

/**
 * Folds events into a document: an event at revision r + 1 is taken, an older one changes nothing, a later one is a
 * gap. Events that `evolve` ignores raise the revision too.
 * @returns the document afterwards (null while nothing was folded), or `'gap'`: the whole stream has to be folded
 * @throws UndecodableEvent
 */
export function foldEvents(
  projection: AnyProjection,
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

/** One step of a fold: the document at the event's revision. @throws UndecodableEvent */
export function evolveDocument(
  projection: AnyProjection,
  document: StoredDocument | null,
  event: StoredEvent,
): StoredDocument {
  return evolveDecoded(projection, document, projection.codec.decode(event));
}

/** The same step with an event that was decoded, or never stored. */
export function evolveDecoded(
  projection: AnyProjection,
  document: StoredDocument | null,
  event: Recorded<DomainEvent>,
): StoredDocument {
  const body = projection.evolve(document?.body ?? null, event);
  const id = document?.id ?? event.stream.slice(projection.category.length + 1);
  return { id, revision: event.revision, body };
}

/** The document of a whole stream as the log has it now, or null when there is no such stream. */
export async function foldWholeStream(
  eventStore: EventStore,
  projection: AnyProjection,
  id: string,
): Promise<StoredDocument | null> {
  let document: StoredDocument | null = null;
  for (const event of await readStream(eventStore, streamName(projection.category, id))) {
    document = evolveDocument(projection, document, event);
  }
  return document;
}
