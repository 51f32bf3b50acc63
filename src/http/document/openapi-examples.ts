import type { Io, Json } from './openapi-texts.js';

/** Values by the name of the field, where the schema alone gives nothing lifelike. */
const byName: Readonly<Record<string, unknown>> = {
  accent_color: '#0a7f5a',
  access_token: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIwMTk2YTAwMCJ9.c2lnbmF0dXJl',
  amount: 900,
  bucket: 'originals-1250000000',
  capacity_bytes: 5_368_709_120,
  currency: 'USD',
  email: 'ada@example.com',
  expected_currency: 'USD',
  endpoint: 'https://s3.eu-central-1.amazonaws.com',
  entity_tag: '"9b2cf535f27731c974343645a3985328"',
  expires_in: 600,
  ip_address: '192.0.2.10',
  key: 'swk_0196a000_example',
  kind: 'thumbnail',
  level: '0',
  media_type: 'video/mp4',
  name: 'Rhine at dawn',
  nickname: 'Ada',
  number: '06CT0000000E0000000000000G',
  object_key: '2026/rhine.mp4',
  password: 'Correct-Horse-7-Battery',
  plan_id: 'capacity-100g',
  refresh_expires_in: 2_592_000,
  refresh_token: 'rt_0196a000_example',
  region: 'eu-central-1',
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  size: 1_048_576,
  token: 'q1w2e3r4t5y6u7i8o9p0aa',
  url: 'https://media.example.com/2026/rhine.mp4?signature=example',
  used_bytes: 1_048_576,
};

const byFormat: Readonly<Record<string, string>> = {
  uuid: '0196a000-0000-7000-8000-000000000001',
  'date-time': '2026-05-01T12:00:00.000Z',
  email: 'ada@example.com',
  uri: 'https://example.com',
  ipv4: '192.0.2.10',
  ipv6: '2001:db8::10',
};

/** Texts by media type. Tiles have none: they are bytes. */
const byMediaType: Readonly<Record<string, string>> = {
  'application/jsonl': '{}\n',
  'application/vnd.apple.mpegurl': '#EXTM3U\n',
  'image/svg+xml': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'text/html': '<!doctype html>',
  'text/javascript': 'export {};',
};

/** Returns the example of a body that is no JSON, as a field of its media type; none for JSON, whose schema has it. */
export function exampleOfText(mediaType: string): Json {
  const example = byMediaType[mediaType];
  return example === undefined ? {} : { example };
}

/** Returns the example of a parameter in a path, as a field of the parameter; none where a name does not tell its form. */
export function exampleOfPathId({ format }: Json, name: string): Json {
  const example = byFormat[String(format)] ?? byName[name];
  return example === undefined ? {} : { example };
}

interface Around {
  /** The components that references name. */
  readonly schemas: Json;
  /** The example of a request has the required fields; that of a reply has all. */
  readonly io: Io;
}

/** Makes an example from a schema: its own example, or values of its fields. */
export function exampleOf(schema: Json, around: Around, name = ''): unknown {
  const [given] = (schema['examples'] ?? schema['enum'] ?? []) as unknown[];
  if (given !== undefined) return given;
  if (isNullableObject(schema)) return null;
  const ref = schema['$ref'];
  if (typeof ref === 'string') return exampleOf(referred(schema, around), around, name);
  if ('const' in schema) return schema['const'];
  const [variant] = (schema['oneOf'] ?? schema['anyOf'] ?? []) as Json[];
  if (variant !== undefined) return exampleOf(variant, around, name);
  return ofType(schema, around, name);
}

/** Returns the component that a reference names, and any other schema itself. */
function referred(schema: Json, { schemas }: Around): Json {
  const ref = schema['$ref'];
  return typeof ref === 'string' ? (schemas[ref.replace(/^.*\//, '')] as Json) : schema;
}

/** The example of a nullable object is short: the schema shows its fields. */
function isNullableObject({ type, anyOf }: Json): boolean {
  if (Array.isArray(anyOf)) return (anyOf as Json[]).some((one) => one['type'] === 'null');
  return Array.isArray(type) && type.includes('object') && type.includes('null');
}

function ofType(schema: Json, around: Around, name: string): unknown {
  const [type] = [schema['type']].flat();
  switch (type) {
    case 'object':
      return ofObject(schema, around);
    case 'array':
      return ofArray((schema['items'] ?? {}) as Json, around, name);
    case 'string':
      return ofText(schema, name);
    case 'integer':
    case 'number':
      return typeof byName[name] === 'number' ? byName[name] : Number(schema['minimum'] ?? 1);
    case 'boolean':
      return true;
    default:
      return null;
  }
}

/** A list of objects within an object is empty, because the schema of the objects shows their fields. */
function ofArray(items: Json, around: Around, name: string): unknown[] {
  const shape = referred(items, around);
  const isLong = 'properties' in shape || 'oneOf' in shape || 'anyOf' in shape;
  return isLong ? [] : [exampleOf(items, around, name.replace(/s$/, ''))];
}

function ofText(schema: Json, name: string): string {
  const format = byFormat[String(schema['format'])];
  if (format !== undefined) return format;
  const known = byName[name];
  return typeof known === 'string' ? known : 'example';
}

function ofObject(schema: Json, around: Around): Json {
  const fields = Object.entries((schema['properties'] ?? {}) as Record<string, Json>);
  const required = (schema['required'] ?? []) as string[];
  const shown =
    around.io === 'output'
      ? fields
      : fields.filter(([name], at) => required.includes(name) || (required.length === 0 && at === 0));
  return Object.fromEntries(shown.map(([name, field]) => [name, exampleOf(field, around, name)]));
}
