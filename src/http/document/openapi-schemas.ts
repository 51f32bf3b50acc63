import { z } from 'zod';
import { isJsonObject } from '../../event-sourcing/ports/domain-event.js';
import { namePattern, optionalNamePattern, textPattern, trimmedPattern } from '../../validation/text.js';
import type { Io, Json } from './openapi-texts.js';
import { exampleOf } from './openapi-examples.js';

/** Formats that say all that zod's long pattern says. */
const patternsInFormats: ReadonlySet<unknown> = new Set(['date-time', 'uuid', 'ipv4', 'ipv6', 'uri']);

/**
 * Publishes a schema as JSON Schema (2020-12, the dialect of OpenAPI 3.1). Schemas with an id become components.
 * @param schemas the components; the function adds to them
 */
export function publishSchema(schema: z.ZodType, io: Io, schemas: Json): Json {
  const { $defs = {}, ...made } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'throw',
    override: nameVariants,
  });
  for (const [id, definition] of Object.entries(lifted($defs))) {
    // An earlier route may have added an example to it.
    schemas[id] ??= withoutId(mapSchema(definition as Json, (one) => simplified(one, { io, schemas })));
  }
  // The dialect is the default of OpenAPI 3.1, so the schema need not name it.
  const { id, ...own } = mapSchema(lifted({ ...made, $schema: undefined }), (one) =>
    simplified(one, { io, schemas }),
  );
  if (typeof id === 'string') schemas[id] ??= own;
  return typeof id === 'string' ? refTo(id) : own;
}

/** Publishes the schema of a body: an object without an id becomes a component with the given name. */
export function publishBody(
  schema: z.ZodType,
  io: Io,
  { name, schemas }: { name: string; schemas: Json },
): Json {
  const own = publishSchema(schema, io, schemas);
  const id = idOf(own) ?? (own['type'] === 'object' || 'anyOf' in own ? name : null);
  if (id === null) return own;
  if (id === name && !('$ref' in own)) schemas[id] = own;
  addExample(id, io, schemas);
  if (io === 'input') publishNullTexts(refTo(id), schemas);
  return refTo(id);
}

export function refTo(id: string): Json {
  return { $ref: `#/components/schemas/${id}` };
}

/** Adds the mapping of a discriminator whose variants have names (OpenAPI 3.1, 4.8.25). */
function nameVariants(input: {
  readonly zodSchema: z.core.$ZodTypes;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}): void {
  const { zodSchema, jsonSchema } = input;
  const { def } = zodSchema._zod;
  if (def.type !== 'union' || !('discriminator' in def) || typeof def.discriminator !== 'string') return;
  const { discriminator } = def;
  const mapping = def.options.flatMap((option) => {
    const id = z.globalRegistry.get(option)?.['id'];
    const values = option._zod.propValues?.[discriminator] ?? new Set();
    return typeof id === 'string'
      ? [...values].map((value) => [String(value), `#/components/schemas/${id}`])
      : [];
  });
  if (mapping.length > 0) {
    jsonSchema['discriminator'] = {
      propertyName: discriminator,
      mapping: Object.fromEntries(mapping) as Json,
    };
  }
}

/** The keywords of JSON Schema whose values are schemas: one, a list, or a map of them. */
const inner = {
  one: ['items', 'additionalProperties', 'not'],
  list: ['anyOf', 'oneOf', 'allOf', 'prefixItems'],
} as const;

/** Applies a function to a schema and to all schemas in it, the inner ones first. */
export function mapSchema(schema: Json, change: (schema: Json) => Json): Json {
  const result: Json = { ...schema };
  const mapped = (value: unknown): unknown => (isJsonObject(value) ? mapSchema(value, change) : value);
  for (const key of inner.one) if (key in result) result[key] = mapped(result[key]);
  for (const key of inner.list) {
    const list = result[key];
    if (Array.isArray(list)) result[key] = list.map(mapped);
  }
  if (isJsonObject(result['properties'])) {
    result['properties'] = Object.fromEntries(
      Object.entries(result['properties']).map(([name, value]) => [name, mapped(value)]),
    );
  }
  return change(result);
}

/** Writes a schema as generators of clients and readers of documents expect it. */
function simplified(schema: Json, { io, schemas }: { readonly io: Io; readonly schemas: Json }): Json {
  let result = without(schema, 'propertyNames');
  if (patternsInFormats.has(result['format'])) result = without(result, 'pattern');
  if (io === 'output') {
    // A reply may have more fields in a later release (docs/limits.md#versions).
    if (result['additionalProperties'] === false) result = without(result, 'additionalProperties');
    if (result['minimum'] === Number.MIN_SAFE_INTEGER) result = without(result, 'minimum');
    if (result['maximum'] === Number.MAX_SAFE_INTEGER) result = without(result, 'maximum');
  }
  // Both say the same of an integer; generators of OpenAPI 3.0 know no numeric `exclusiveMinimum`.
  if (result['type'] === 'integer' && result['exclusiveMinimum'] === 0)
    result = { ...without(result, 'exclusiveMinimum'), minimum: 1 };
  return nullableAsType(saidDefaults(withSharedPattern(result, schemas)));
}

/** Names of the long patterns of texts, which stand once. */
const sharedPatterns = new Map([
  [namePattern, 'NameText'],
  [optionalNamePattern, 'OptionalNameText'],
  [textPattern, 'LongText'],
  [trimmedPattern, 'TrimmedText'],
]);

function withSharedPattern(schema: Json, schemas: Json): Json {
  const { type, pattern, ...rest } = schema;
  const id = sharedPatterns.get(String(pattern));
  if (id === undefined) return schema;
  schemas[id] = { type, pattern };
  return { ...refTo(id), ...rest };
}

/** Says the defaults of fields in words: generators require a field of a request that has the keyword `default`. */
function saidDefaults(schema: Json): Json {
  if (!isJsonObject(schema['properties'])) return schema;
  const properties = Object.entries(schema['properties'] as Record<string, Json>).map(([name, field]) => {
    const { default: preset, ...rest } = field;
    if (preset === undefined) return [name, field];
    const said = typeof rest['description'] === 'string' ? `${rest['description']} ` : '';
    return [name, { ...rest, description: `${said}Left out: \`${JSON.stringify(preset)}\`.` }];
  });
  return { ...schema, properties: Object.fromEntries(properties) as Json };
}

/** Writes `anyOf: [type, null]` as a list of types, which generators turn into a nullable field. */
function nullableAsType(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [main, other] = anyOf as [Json, Json];
  if (other['type'] !== 'null' || typeof main['type'] !== 'string') return schema;
  const { const: only, enum: some = only === undefined ? undefined : [only], ...own } = main;
  return {
    ...own,
    ...rest,
    type: [main['type'], 'null'],
    ...(Array.isArray(some) ? { enum: [...(some as unknown[]), null] } : {}),
  };
}

/** Adds an example to the schema of a body. The generic wrapper and a page have that of what they contain. */
function addExample(id: string, io: Io, schemas: Json): void {
  const schema = schemas[id] as Json;
  const inner = contentOf(schema);
  if (inner !== null) addExample(inner, io, schemas);
  else schemas[id] = { ...schema, examples: schema['examples'] ?? [exampleOf(schema, { schemas, io })] };
}

/** Returns the component in the generic wrapper, or that of a page's items; null for any other schema. */
function contentOf({ properties = {} }: Json): string | null {
  const { items, next_cursor: next, code, data } = properties as Record<string, Json | undefined>;
  if (next !== undefined && isJsonObject(items?.['items'])) return idOf(items['items']);
  return code !== undefined && data !== undefined ? idOf(data) : null;
}

function idOf({ $ref: ref }: Json): string | null {
  return typeof ref === 'string' ? ref.replace(/^.*\//, '') : null;
}

function lifted(json: unknown): Json {
  return JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
}

function withoutId({ id: _id, ...schema }: Json): Json {
  return schema;
}

function without(schema: Json, keyword: string): Json {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== keyword));
}

/**
 * Publishes that an optional text of a request may be null (`makeOmitNullTexts`), in the schema of a body and in all components
 * that it refers to.
 * @param schemas the components; the function changes them
 */
function publishNullTexts(body: Json, schemas: Json): Json {
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
    const id = idOf({ $ref: ref });
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
    const id = idOf({ $ref: ref });
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
