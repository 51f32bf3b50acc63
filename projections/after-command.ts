import type { DomainEvent, JsonObject } from '../src/event-sourcing/domain-event.js';
import type { Projection } from '../src/event-sourcing/projection.js';
import type { StoredDocument } from '../src/event-sourcing/read-model-store.js';
import { toViewDocument, type ViewDocument } from '../src/event-sourcing/views.js';

/** What a command left behind (`Handled.documents`): a reply made from it equals a read that follows. */
export type DocumentsAfter = ReadonlyMap<string, StoredDocument>;

/** The view's document after a command. @throws Error when the command left none there, which is a mistake of the caller */
export function documentAfter<Document extends JsonObject, Event extends DomainEvent>(
  projection: Projection<Document, Event>,
  documents: DocumentsAfter,
): ViewDocument<Document> {
  const document = toViewDocument<Document>(documents.get(projection.name) ?? null);
  if (document === null) throw new Error(`the command left no document in the view ${projection.name}`);
  return document;
}
