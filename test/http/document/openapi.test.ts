import { gunzipSync, brotliDecompressSync } from 'node:zlib';
import { pluck } from '../../support/given/pluck.js';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import type { OpenApiDocument, OpenApiOperation } from '../../../src/http/document/openapi.js';
import type { Json } from '../../../src/http/document/openapi-texts.js';
import { mapSchema } from '../../../src/http/document/openapi-schemas.js';
import { startTestService } from '../../support/servers/http-service.js';

let shared: Promise<OpenApiDocument> | null = null;

/** Returns the document of a service. All tests of this file read the same. */
function published(t: ExecutionContext): Promise<OpenApiDocument> {
  shared ??= readDocument(t);
  return shared;
}

async function readDocument(t: ExecutionContext): Promise<OpenApiDocument> {
  const { get } = await startTestService(t);
  return (await get('/openapi.json')).json as OpenApiDocument;
}

function operationsOf({ paths }: OpenApiDocument): readonly OpenApiOperation[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

function referred(document: OpenApiDocument, value: Json): Json {
  const ref = value['$ref'];
  if (typeof ref !== 'string') return value;
  return ref
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (at as Json)[key], document) as Json;
}

/** Returns the schemas of the JSON bodies of an operation: of its request and of its successes. */
function bodiesOf(document: OpenApiDocument, operation: OpenApiOperation): readonly Json[] {
  const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  const parts = [operation.requestBody ?? {}, ...successes.map(([, response]) => response)];
  return parts.flatMap((part) => {
    const content = (part['content'] ?? {}) as Record<string, { readonly schema: Json } | undefined>;
    const schema = content['application/json']?.schema;
    return schema === undefined || Object.keys(schema).length === 0 ? [] : [referred(document, schema)];
  });
}

test('The document is at most 256 KiB, and is compressed for who accepts it', async (t) => {
  const { origin } = await startTestService(t);
  const codings = { br: brotliDecompressSync, gzip: gunzipSync } as const;
  const plain = await fetch(`${origin}/openapi.json`, { headers: { 'accept-encoding': 'identity' } });
  const text = await plain.text();
  t.true(Buffer.byteLength(text) <= 262_144, `${Buffer.byteLength(text)} bytes`);
  t.is(plain.headers.get('content-encoding'), null);
  t.regex(plain.headers.get('vary') ?? '', /Accept-Encoding/);
  for (const coding of ['br', 'gzip'] as const) {
    const bytes = await rawBytes(`${origin}/openapi.json`, coding);
    t.is(bytes.coding, coding);
    t.true(bytes.body.length < 60_000, `${coding}: ${bytes.body.length} bytes`);
    t.is(codings[coding](bytes.body).toString(), text);
    t.is(bytes.etag, plain.headers.get('etag') ?? '');
    const again = await fetch(`${origin}/openapi.json`, { headers: { 'if-none-match': bytes.etag } });
    t.is(again.status, 304);
  }
});

test('A read takes If-None-Match exactly where it can answer 304', async (t) => {
  const { paths } = await published(t);
  for (const [path, { get }] of Object.entries(paths)) {
    const names = (get?.parameters ?? []).map(({ $ref }) => $ref);
    const isTaken = names.includes('#/components/parameters/If-None-Match');
    t.is(isTaken, get?.responses['304'] !== undefined, path);
  }
});

test('Every tag has a description, and the document names contact and licence', async (t) => {
  const document = await published(t);
  const tags = document['tags'] as readonly { readonly name: string; readonly description: string }[];
  for (const { name, description } of tags) t.regex(description, /^[A-Z].{20,}\.$/, name);
  const used = new Set(operationsOf(document).flatMap(({ tags: own }) => own));
  t.deepEqual(tags.map(({ name }) => name).sort(), [...used].sort());
  t.truthy(document.info['contact']);
  t.truthy(document.info['license']);
});

test('Every variant has a name, and the discriminator maps its value to it', async (t) => {
  const document = await published(t);
  let found = 0;
  for (const [id, schema] of Object.entries(document.components.schemas as Record<string, Json>)) {
    mapSchema(schema, (one) => {
      if (!Array.isArray(one['oneOf'])) return one;
      const refs = (one['oneOf'] as Json[]).map((variant) => variant['$ref']);
      const { mapping } = one['discriminator'] as { readonly mapping: Json };
      t.deepEqual([...new Set(Object.values(mapping))].sort(), [...refs].sort(), id);
      for (const [value, ref] of Object.entries(mapping)) {
        const properties = referred(document, { $ref: ref })['properties'] as Record<string, Json>;
        const { propertyName } = one['discriminator'] as { readonly propertyName: string };
        const field = properties[propertyName];
        t.true([field?.['const'], field?.['enum']].flat().includes(value), `${id} ${value}`);
      }
      found += 1;
      return one;
    });
  }
  t.true(found >= 2);
  const { mapping } = (document.components.schemas['StorageCreation'] as Json)['discriminator'] as Json;
  t.deepEqual(mapping, {
    oss: '#/components/schemas/StorageCreationOss',
    cos: '#/components/schemas/StorageCreationCos',
    s3: '#/components/schemas/StorageCreationS3',
  });
});

test('Times and ids have a format and no pattern', async (t) => {
  const { components } = await published(t);
  for (const [id, schema] of Object.entries(components.schemas as Record<string, Json>)) {
    mapSchema(schema, (one) => {
      if (one['format'] !== undefined) t.is(one['pattern'], undefined, id);
      return one;
    });
  }
});

test('A default makes no field of a request required, and the keys of credentials are required', async (t) => {
  const document = await published(t);
  for (const operation of operationsOf(document)) {
    for (const body of bodiesOf(document, operation)) {
      mapSchema(body, (one) => {
        t.false('default' in one, operation.operationId);
        return one;
      });
    }
  }
  const share = document.components.schemas['ShareCreation'] as Json & { properties: Record<string, Json> };
  t.false((share['required'] as string[]).includes('allow_download'));
  t.regex(String(share.properties['allow_download']?.['description']), /Left out: `true`\.$/);
  const keys = document.components.schemas['StorageKeyPair'] as Json;
  t.deepEqual(keys['required'], ['access_key', 'secret_key']);
});

test('Every operation with something to show has an example: of a parameter, of its body or of its success', async (t) => {
  const document = await published(t);
  const bare = operationsOf(document).filter(({ parameters = [], requestBody, responses }) => {
    const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
    const parts = [...parameters, requestBody, ...successes.map(([, response]) => response['content'])];
    const shown = parts.filter((part) => part !== undefined);
    return shown.length > 0 && !shown.some((part) => hasExample(document, part));
  });
  t.deepEqual(pluck(bare, 'operationId'), []);
});

/** Looks through references, each of which is read once. */
function hasExample(document: OpenApiDocument, part: unknown, seen = new Set<unknown>()): boolean {
  if (typeof part !== 'object' || part === null || seen.has(part)) return false;
  seen.add(part);
  if ('example' in part || 'examples' in part) return true;
  const parts: unknown[] = Object.values(part);
  const target = '$ref' in part ? [referred(document, { ...part })] : [];
  return [...target, ...parts].some((one) => hasExample(document, one, seen));
}

test('Every operation with a JSON body has an example that fits its schema', async (t) => {
  const document = await published(t);
  const withDefs = <Part>(part: Part): Part =>
    JSON.parse(JSON.stringify(part).replaceAll('#/components/schemas/', '#/$defs/')) as Part;
  const $defs = withDefs(document.components.schemas) as Record<string, z.core.JSONSchema.JSONSchema>;
  let checked = 0;
  for (const operation of operationsOf(document)) {
    for (const body of bodiesOf(document, operation)) {
      const shown = exampled(document, body);
      if (!t.truthy(shown['examples'], operation.operationId)) continue;
      const result = z
        .fromJSONSchema({ ...withDefs(shown), $defs })
        .safeParse((shown['examples'] as unknown[])[0]);
      t.true(result.success, `${operation.operationId}: ${result.error?.message ?? ''}`);
      checked += 1;
    }
  }
  t.true(checked > 100);
});

/** The wrapper and a page have the example of what they contain. */
function exampled(document: OpenApiDocument, schema: Json): Json {
  if (schema['examples'] !== undefined) return schema;
  const { items, data } = (schema['properties'] ?? {}) as Record<string, Json | undefined>;
  const inner = data ?? (items?.['items'] as Json | undefined);
  return inner === undefined ? schema : exampled(document, referred(document, inner));
}

test('Replies below auth and shares are wrapped, and no others', async (t) => {
  const document = await published(t);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const operation of Object.values(methods)) {
      const replies = bodiesOf(document, { ...operation, requestBody: {} });
      for (const { properties = {} } of replies) {
        const isWrapped = Object.keys(properties as Json).join() === 'code,message,data';
        t.is(isWrapped, /^\/api\/v1\/(auth|shares)\//.test(path), `${operation.operationId} ${path}`);
      }
    }
  }
});

test('All errors have one schema, and each response names its codes', async (t) => {
  const { components } = await published(t);
  for (const [name, response] of Object.entries(components.responses as Record<string, Json>)) {
    if (name === 'NotModified') continue;
    t.deepEqual(response['content'], {
      'application/json': { schema: { $ref: '#/components/schemas/Error' } },
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
    });
    t.regex(String(response['description']), /`[a-z_A-Z]+`/, name);
  }
  const { 'x-codes': codes, description } = components.responses['Usual'] as Json;
  for (const code of Object.values(codes as object).flat() as string[]) {
    t.true(String(description).includes(`\`${code}\``), code);
  }
});

/** `fetch` decompresses, so this asks with the plain client of Node. */
async function rawBytes(
  url: string,
  coding: string,
): Promise<{ readonly coding: string; readonly etag: string; readonly body: Buffer }> {
  const { get } = await import('node:http');
  return new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': coding } }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => {
        const { 'content-encoding': used = '', etag = '' } = reply.headers;
        resolve({ coding: used, etag, body: Buffer.concat(chunks) });
      });
    }).on('error', reject);
  });
}
