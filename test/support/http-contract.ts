import { z } from 'zod';
import type { Json, OpenApiDocument, Operation } from '../../src/http/openapi.js';

/** A reply as a test received it. */
export interface ReceivedReply {
  readonly method: string;
  /** Path without query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const errorBody = z.strictObject({ code: z.string(), message: z.string() });

/**
 * Holds a reply against the published document: its status is documented there, its headers are there, and its body fits
 * the schema, which is read back from the document itself.
 * @returns what is wrong; empty when nothing is
 */
export function contractBreaches(document: OpenApiDocument, reply: ReceivedReply): readonly string[] {
  const breaches = [
    ...(reply.headers.has('x-request-id') ? [] : ['X-Request-Id is missing']),
    ...errorBreaches(reply),
  ];
  const operation = operationFor(document, reply);
  if (operation === null) return [...breaches, ...breachesOfUnrouted(reply)];
  const response = operation.responses[String(reply.status)];
  if (response === undefined) return [...breaches, `status ${reply.status} is not documented`];
  return [
    ...breaches,
    ...breachesOfHeaders(document, response, reply),
    ...(reply.method === 'HEAD' ? [] : breachesOfBody(document, response, reply)),
  ];
}

/** What every error reply owes, whatever the route: exactly `{code, message}`, and how long to wait where waiting helps. */
export function errorBreaches({
  method,
  status,
  headers,
  text,
}: Pick<ReceivedReply, 'method' | 'status' | 'headers' | 'text'>): readonly string[] {
  if (status < 400) return [];
  const waits = status === 429 || status === 503;
  const isError = method === 'HEAD' || errorBody.safeParse(asJson(text)).success;
  return [
    ...(waits && !/^[1-9]\d*$/.test(headers.get('retry-after') ?? '')
      ? [`${status} without Retry-After`]
      : []),
    ...(isError ? [] : [`${status} whose body is no error: ${text.slice(0, 200)}`]),
  ];
}

/** Undefined for what is no JSON. */
function asJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Paths and methods that no route serves are answered like every error. */
function breachesOfUnrouted({ status }: ReceivedReply): readonly string[] {
  return [400, 404, 405, 414].includes(status) ? [] : [`an unknown route answered ${status}`];
}

function operationFor(document: OpenApiDocument, { method, path }: ReceivedReply): Operation | null {
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  for (const [template, operations] of Object.entries(document.paths)) {
    const pattern = new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    const operation = pattern.test(path) ? operations[verb] : undefined;
    if (operation !== undefined) return operation;
  }
  return null;
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
  const value: unknown = mediaType === 'application/json' ? JSON.parse(reply.text) : reply.text;
  const result = madeOnce(schema, (found) => makeJsonSchema(document, found)).safeParse(value);
  return result.success ? [] : [`the body does not fit its schema: ${z.prettifyError(result.error)}`];
}

const made = new WeakMap<Json, z.ZodType>();

function madeOnce(schema: Json, make: (schema: Json) => z.ZodType): z.ZodType {
  const known = made.get(schema) ?? make(schema);
  made.set(schema, known);
  return known;
}

/** The document's schema as one that checks: its references point into components, JSON Schema's into `$defs`. */
function makeJsonSchema(document: OpenApiDocument, schema: Json): z.ZodType {
  const whole = { ...schema, $defs: document.components.schemas };
  return z.fromJSONSchema(
    JSON.parse(JSON.stringify(whole).replaceAll('#/components/schemas/', '#/$defs/')) as Json,
  );
}

function resolve(document: OpenApiDocument, value: Json): Json {
  if (typeof value['$ref'] !== 'string') return value;
  const found = value['$ref']
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Json)[key], document);
  return found as Json;
}
