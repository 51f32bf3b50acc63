import type { Json } from './openapi-texts.js';

/**
 * Publishes that an optional text of a request may be null (`makeOmitNullTexts`), in the schema of a body and in all components
 * that it refers to.
 * @param schemas the components; the function changes them
 */
export function publishNullTexts(body: Json, schemas: Json): Json {
  const seen = new Set<string>();
  return nullable(body) as Json;

  function nullable(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(nullable);
    if (typeof value !== 'object' || value === null) return value;
    const schema = value as Json;
    visit(schema['$ref']);
    const required = (schema['required'] ?? []) as readonly unknown[];
    return Object.fromEntries(
      Object.entries(schema).map(([key, inner]) => {
        if (key === 'examples') return [key, inner];
        return [key, key === 'properties' ? ofFields(inner as Json, required) : nullable(inner)];
      }),
    );
  }

  function visit(ref: unknown): void {
    const id = idOf(ref);
    if (id === null || seen.has(id)) return;
    seen.add(id);
    schemas[id] = nullable(schemas[id]);
  }

  function ofFields(properties: Json, required: readonly unknown[]): Json {
    return Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [
        name,
        isText(field as Json) && !required.includes(name) ? withNull(field as Json) : nullable(field),
      ]),
    );
  }

  function isText({ type, $ref: ref, const: only }: Json): boolean {
    const id = idOf(ref);
    return id === null ? type === 'string' && only === undefined : isText(schemas[id] as Json);
  }
}

/** Generators make a type of `anyOf` that may be null. Of a list of types with a list of values they make several types. */
function withNull({ description, ...field }: Json): Json {
  const isPlain = field['type'] === 'string' && field['enum'] === undefined;
  return {
    ...(isPlain ? { ...field, type: ['string', 'null'] } : { anyOf: [field, { type: 'null' }] }),
    ...(description === undefined ? {} : { description }),
  };
}

function idOf(ref: unknown): string | null {
  return typeof ref === 'string' ? ref.replace(/^.*\//, '') : null;
}
