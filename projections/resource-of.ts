import type { z } from 'zod';
import type { DomainEvent, JsonObject } from '../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../src/event-sourcing/views/projection.js';
import type { StoredDocument } from '../src/event-sourcing/ports/read-model-store.js';
import { RemovedSince } from '../src/event-sourcing/ports/errors.js';
import { type ViewDocument, toViewDocument } from '../src/event-sourcing/views/views.js';

/** The documents after a command (`Handled.documents`). A reply made from them equals a read that follows. */
export type DocumentsAfter = ReadonlyMap<string, StoredDocument>;

/** Returns the view's document after a command. @throws RemovedSince */
export function documentAfter<Document extends JsonObject, Event extends DomainEvent>(
  projection: Projection<Document, Event>,
  documents: DocumentsAfter,
): ViewDocument<Document> {
  const document = toViewDocument<Document>(documents.get(projection.name) ?? null);
  if (document === null) throw new RemovedSince();
  return document;
}

type Schema<Resource> = z.ZodType<Resource> & { readonly shape: Readonly<Record<string, unknown>> };

/** An object with the fields of each schema. To list them for each resource would cost a tenth of a whole GET. */
const templates = new WeakMap<object, Readonly<Record<string, unknown>>>();

/** Picks the fields of a resource in the order of its schema. Other fields of a document stay internal. */
export function resourceOf<Resource extends object>(schema: Schema<Resource>, fields: Resource): Resource {
  const values = fields as Readonly<Record<string, unknown>>;
  // A copy of an object has its shape. V8 keeps an object that gets more than 16 computed names as a hash table, which
  // takes half as long again to write as JSON.
  const resource = { ...templateOf(schema) };
  for (const name in resource) resource[name] = values[name];
  return resource as Resource;
}

function templateOf(schema: Schema<unknown>): Readonly<Record<string, unknown>> {
  const cached = templates.get(schema);
  if (cached !== undefined) return cached;
  const names = Object.keys(schema.shape);
  const template = JSON.parse(
    JSON.stringify(Object.fromEntries(names.map((name) => [name, null]))),
  ) as Record<string, null>;
  templates.set(schema, template);
  return template;
}
