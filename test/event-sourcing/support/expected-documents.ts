import type { LogEvent } from '../../../src/event-sourcing/domain-event.js';
import { parseStreamName } from '../../../src/event-sourcing/decider.js';
import type { EventStore } from '../../../src/event-sourcing/event-store.js';
import type { AnyProjection } from '../../../src/event-sourcing/projection.js';
import type { ReadModelStore, StoredDocument } from '../../../src/event-sourcing/read-model-store.js';

/** What a view must be: the fold of the log, done in the plainest way, in order of id. */
export async function foldOfLog(
  log: EventStore,
  projection: AnyProjection,
): Promise<readonly StoredDocument[]> {
  const { events } = await log.readAll({ after: null, limit: 1_000_000 });
  return foldOf(projection, events);
}

/** The same of a part of the log. */
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

/** What a view is, tombstones included, in order of id. */
export function storedDocuments(
  store: ReadModelStore,
  collection: string,
): Promise<readonly StoredDocument[]> {
  return store.scan(collection, { limit: 1_000_000 });
}
