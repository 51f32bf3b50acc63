import type { z } from 'zod';

type Schema<Resource> = z.ZodType<Resource> & { readonly shape: Readonly<Record<string, unknown>> };

/** The field names of each schema. To list them for each resource would cost a tenth of a whole GET. */
const fieldNames = new WeakMap<object, readonly string[]>();

/** Picks the fields of a resource in the order of its schema. Other fields of a document stay internal. */
export function resourceOf<Resource extends object>(schema: Schema<Resource>, fields: Resource): Resource {
  const values = fields as Readonly<Record<string, unknown>>;
  const resource: Record<string, unknown> = {};
  for (const name of namesOf(schema)) resource[name] = values[name];
  return resource as Resource;
}

function namesOf(schema: Schema<unknown>): readonly string[] {
  const cached = fieldNames.get(schema);
  if (cached !== undefined) return cached;
  const names = Object.keys(schema.shape);
  fieldNames.set(schema, names);
  return names;
}
