import type { Document } from 'mongodb';
import type { z } from 'zod';

import { StoreDamaged } from '../../event-sourcing/errors.js';

/** A document of ours as its schema has it. @throws StoreDamaged where it is somebody else's, or was edited by hand */
export function parseStored<Schema extends z.ZodType>(
  schema: Schema,
  document: Document,
  collection: string,
): z.infer<Schema> {
  const parsed = schema.safeParse(document);
  if (parsed.success) return parsed.data;
  throw new StoreDamaged(
    `collection ${collection} holds a document that Stowage did not write; give Stowage a database of its own, or remove it`,
  );
}
