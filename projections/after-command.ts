import type { DomainEvent, JsonObject } from '../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../src/event-sourcing/views/projection.js';
import type { StoredDocument } from '../src/event-sourcing/ports/read-model-store.js';
import { toViewDocument, type ViewDocument } from '../src/event-sourcing/views/views.js';

/** The documents after a command (`Handled.documents`). A reply made from them equals a read that follows. */
export type DocumentsAfter = ReadonlyMap<string, StoredDocument>;

/** Returns the view's document after a command. @throws Error if there is none, which is a mistake of the caller */
export function documentAfter<Document extends JsonObject, Event extends DomainEvent>(
  projection: Projection<Document, Event>,
  documents: DocumentsAfter,
): ViewDocument<Document> {
  const document = toViewDocument<Document>(documents.get(projection.name) ?? null);
  if (document === null) throw new Error(`the command left no document in the view ${projection.name}`);
  return document;
}
