import type { Document } from 'mongodb';
import type { z } from 'zod';

import { StoreDamaged } from '../../../event-sourcing/ports/errors.js';

/** @throws StoreDamaged when another program wrote the document or a person edited it */
export function parseStored<Schema extends z.ZodType>(
  schema: Schema,
  document: Document,
  collection: string,
): z.infer<Schema> {
  const parsed = schema.safeParse(document);
  if (parsed.success) return parsed.data;
  throw new StoreDamaged(
    `collection ${collection} holds a document that Stowage did not write; give Stowage a separate database, or remove the document`,
  );
}
