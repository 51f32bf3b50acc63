import { type LogEvent, parseStreamName } from '../../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { AnyProjection } from '../../../../src/event-sourcing/views/projection.js';
import type {
  ReadModelStore,
  StoredDocument,
} from '../../../../src/event-sourcing/ports/read-model-store.js';

/** Returns the expected documents of a view: a plain fold of the log, in order of id. */
export async function foldOfLog(
  log: EventStore,
  projection: AnyProjection,
): Promise<readonly StoredDocument[]> {
  const { events } = await log.readAll({ after: null, limit: 1_000_000 });
  return foldOf(projection, events);
}

/** Returns the expected documents of a part of the log. */
export function foldOf(projection: AnyProjection, events: readonly LogEvent[]): readonly StoredDocument[] {
  const documents = new Map<string, StoredDocument>();
  for (const event of events) {
    const name = parseStreamName(event.stream);
    if (name?.category !== projection.category) continue;
    const before = documents.get(name.id)?.body ?? null;
    const body = projection.evolve(before, projection.codec.decode(event));
    documents.set(name.id, { id: name.id, revision: event.revision, body });
  }
  return [...documents.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Returns the stored documents of a view, including tombstones, in order of id. */
export function storedDocuments(
  store: ReadModelStore,
  collection: string,
): Promise<readonly StoredDocument[]> {
  return store.scan(collection, { limit: 1_000_000 });
}
