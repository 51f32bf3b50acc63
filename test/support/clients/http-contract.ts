import { z } from 'zod';
import type { OpenApiDocument, OpenApiOperation } from '../../../src/http/document/openapi.js';
import type { Json } from '../../../src/http/document/openapi-texts.js';
import { mapSchema } from '../../../src/http/document/openapi-schemas.js';

/** A reply that a test received. */
interface ReceivedReply {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Checks a reply against the published document: its status and headers are documented, and its body fits the schema,
 * which is read from the document itself.
 * @returns the problems; empty when the reply is correct
 */
export function contractBreaches(document: OpenApiDocument, reply: ReceivedReply): readonly string[] {
  const breaches = [
    ...(reply.headers.has('x-request-id') ? [] : ['X-Request-Id is missing']),
    ...errorBreaches(reply),
    ...allowanceBreaches(reply),
  ];
  const operation = operationFor(document, reply);
  if (operation === null) return [...breaches, ...breachesOfUnrouted(reply)];
  const documented = operation.responses[String(reply.status)] ?? operation.responses['default'];
  if (documented === undefined) return [...breaches, `status ${reply.status} is not documented`];
  const response = resolve(document, documented);
  if (codesOf(response, reply.status) === null)
    return [...breaches, `status ${reply.status} is not documented`];
  return [
    ...breaches,
    ...breachesOfCode(operation, response, reply),
    ...breachesOfHeaders(document, response, reply),
    ...(reply.method === 'HEAD' ? [] : breachesOfBody(document, response, reply)),
  ];
}

/**
 * Checks the rules that hold for error replies of all routes: the body is exactly `{code, message}` or that of RFC 9457, its
 * words are ours, and 429 and 503 have Retry-After.
 */
export function errorBreaches({
  method,
  status,
  headers,
  text,
}: Pick<ReceivedReply, 'method' | 'status' | 'headers' | 'text'>): readonly string[] {
  if (status < 400) return [];
  const waits = status === 429 || status === 503;
  return [
    ...(waits && !/^[1-9]\d*$/.test(headers.get('retry-after') ?? '')
      ? [`${status} without Retry-After`]
      : []),
    ...(method === 'HEAD' ? [] : breachesOfErrorBody(headers, text)),
  ];
}

function breachesOfErrorBody(headers: Headers, text: string): readonly string[] {
  const error = readError(headers.get('content-type') ?? '', text);
  if (error === null) return [`an error whose body is none: ${text.slice(0, 200)}`];
  return [
    ...(libraryWording.test(error.message) ? [`words of a library: ${error.message}`] : []),
    // The advice for a bucket begins with a code, and then with a capital letter.
    ...(/^[a-z_.]+: [a-z]/.test(error.message)
      ? [`a message that begins with a name: ${error.message}`]
      : []),
  ];
}

/** Checks that a reply has all headers of an allowance or none, and that they agree. */
function allowanceBreaches({ status, headers }: ReceivedReply): readonly string[] {
  const names = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
  const [limit, remaining, reset] = names.map((name) => headers.get(name));
  if (limit === null && remaining === null && reset === null) return [];
  const isWhole = [limit, remaining, reset].every((value) => /^\d{1,10}$/.test(value ?? ''));
  if (!isWhole || Number(remaining) > Number(limit)) return ['the headers of the allowance do not agree'];
  const refuses = status === 429;
  if (refuses && (remaining !== '0' || reset !== headers.get('retry-after')))
    return ['a 429 has another time than its allowance'];
  return [];
}

/** Checks the reply to a path or method that no route serves: it is a usual error reply, or that of a preflight. */
function breachesOfUnrouted({ method, status }: ReceivedReply): readonly string[] {
  if (method === 'OPTIONS' && status === 204) return [];
  return [400, 404, 405, 414].includes(status) ? [] : [`an unknown route answered ${status}`];
}

function operationFor(document: OpenApiDocument, { method, path }: ReceivedReply): OpenApiOperation | null {
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  // A path without parameters is another one than that of a resource: OpenAPI 3.1, 4.8.8.2.
  const fixed = document.paths[path];
  if (fixed !== undefined) return fixed[verb] ?? null;
  for (const [template, operations] of Object.entries(document.paths)) {
    const pattern = new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    const operation = pattern.test(path) ? operations[verb] : undefined;
    if (operation !== undefined) return operation;
  }
  return null;
}

/** Checks that the code of an error is among those of the response. */
function breachesOfCode(
  { 'x-codes': own = [] }: OpenApiOperation,
  response: Json,
  { method, status, headers, text }: ReceivedReply,
): string[] {
  if (status < 400 || method === 'HEAD') return [];
  const error = readError(headers.get('content-type') ?? '', text);
  const isKnown =
    error === null || [...(own as string[]), ...(codesOf(response, status) ?? [])].includes(error.code);
  return isKnown ? [] : [`the code ${error.code} is not documented`];
}

/** Returns the codes of a response; null where the shared response does not have the status, and none for a success. */
function codesOf({ 'x-codes': shared, description }: Json, status: number): readonly string[] | null {
  if (shared !== undefined) return (shared as Record<string, readonly string[]>)[status] ?? null;
  return [...String(description).matchAll(/`(\w+)`/g)].map(([, code = '']) => code);
}

function breachesOfHeaders(document: OpenApiDocument, response: Json, { headers }: ReceivedReply): string[] {
  return Object.entries((response['headers'] ?? {}) as Json).flatMap(([name, ref]) => {
    const header = resolve(document, ref as Json);
    const value = headers.get(name);
    if (value === null) return header['required'] === true ? [`header ${name} is missing`] : [];
    const fits = madeOnce(header['schema'] as Json, z.fromJSONSchema).safeParse(value).success;
    return fits ? [] : [`header ${name} does not fit its schema: ${value}`];
  });
}

function breachesOfBody(document: OpenApiDocument, response: Json, reply: ReceivedReply): string[] {
  const content = (response['content'] ?? {}) as Record<string, Json>;
  if (Object.keys(content).length === 0) {
    return reply.text === '' ? [] : ['a body where none is documented'];
  }
  const type = reply.headers.get('content-type') ?? '';
  const mediaType = type.split(';')[0] ?? '';
  if (content[mediaType] === undefined) return [`content type ${type} is not documented`];
  const schema = content[mediaType]['schema'] as Json;
  const value: unknown = /[/+]json$/.test(mediaType) ? JSON.parse(reply.text) : reply.text;
  const result = madeOnce(schema, (found) => makeJsonSchema(document, found)).safeParse(value);
  return result.success ? [] : [`the body does not fit its schema: ${z.prettifyError(result.error)}`];
}

const made = new WeakMap<Json, z.ZodType>();

function madeOnce(schema: Json, make: (schema: Json) => z.ZodType): z.ZodType {
  const known = made.get(schema) ?? make(schema);
  made.set(schema, known);
  return known;
}

/**
 * Makes a parser from a schema of the document. References of the document point into components; those of JSON Schema
 * point into `$defs`.
 */
function makeJsonSchema(document: OpenApiDocument, schema: Json): z.ZodType {
  const schemas = Object.entries(document.components.schemas as Record<string, Json>);
  const defs = Object.fromEntries(schemas.map(([id, found]) => [id, mapSchema(found, closed)]));
  const whole = { ...mapSchema(schema, closed), $defs: defs };
  return z.fromJSONSchema(
    JSON.parse(JSON.stringify(whole).replaceAll('#/components/schemas/', '#/$defs/')) as Json,
  );
}

/** Refuses fields that the document does not name. Clients accept them, because later releases may add fields. */
function closed(schema: Json): Json {
  return 'properties' in schema && !('additionalProperties' in schema)
    ? { ...schema, additionalProperties: false }
    : schema;
}

function resolve(document: OpenApiDocument, value: Json): Json {
  if (typeof value['$ref'] !== 'string') return value;
  const found = value['$ref']
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Json)[key], document);
  return found as Json;
}

const plainBody = z.strictObject({
  code: z.string(),
  message: z.string().max(1_200),
  reason: z.string().optional(),
});

const problemBody = z.strictObject({
  type: z.url(),
  title: z.string().min(1),
  status: z.int(),
  detail: z.string().min(1).max(1_200),
  code: z.string(),
  reason: z.string().optional(),
  errors: z
    .array(z.strictObject({ field: z.string(), code: z.string(), message: z.string().min(1) }))
    .max(20),
});

/** An error as the service tells it, in either form. */
interface ReceivedError {
  readonly code: string;
  readonly message: string;
}

/**
 * Words of zod, of JSON parsers, of body parsers and of JavaScript, none of which says to a client what to do.
 */
export const libraryWording =
  /Invalid (?:input|option|string|number|key|element|value|discriminator|UUID|GUID|URL|ISO|email|date)|\breceived\b|expected (?:one of|string|number|int\b|boolean|array|object|record|nonoptional)|Unrecognized|Too (?:big|small)|must match pattern|Unexpected (?:token|end|non-whitespace|string|number)|at position \d|in JSON|NaN|undefined|\[object|entity too large|request aborted|Zod/;

/** Returns an error from a reply of the service; null for any other body. */
function readError(contentType: string, text: string): ReceivedError | null {
  const json = asJson(text);
  if (contentType.startsWith('application/problem+json')) {
    const { data } = problemBody.safeParse(json);
    return data === undefined ? null : { code: data.code, message: data.detail };
  }
  return plainBody.safeParse(json).data ?? null;
}

/** Parses JSON; undefined for any other text. */
export function asJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
