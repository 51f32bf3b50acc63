import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ExecutionContext } from 'ava';
import { type FakeParts, makeFakeParts } from './fake-parts.js';
import { listen } from '../servers/loopback.js';

/** A reply that the storage gives in place of the right one. */
interface FakeReply {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The faulty answer to one kind of request. */
export type Fault = FakeReply | 'cut' | 'silent';

/** `range`: of the first byte. `parts`: about an upload in parts. */
export type FakeOperation =
  'list' | 'put' | 'get' | 'range' | 'head' | 'delete' | 'preflight' | 'cors' | 'parts';

export interface FakeStorage {
  readonly port: number;
  /** The received requests in the form `PUT /bucket/key`. */
  readonly requests: readonly string[];
  readonly objects: ReadonlyMap<string, { readonly body: Buffer; readonly type: string }>;
  readonly cors: FakeCors;
}

/**
 * Starts a bucket that accepts every signature. It tests how the client handles the answers of a storage; a real server
 * must judge signatures.
 * @param now the clock of the storage; the real one when left out
 */
export async function givenFakeStorage(
  t: ExecutionContext,
  faults: Partial<Record<FakeOperation, Fault>> = {},
  now: () => Date = () => new Date(),
): Promise<FakeStorage> {
  const objects = new Map<string, { readonly body: Buffer; readonly type: string }>();
  const parts = makeFakeParts((path, body, type) => objects.set(path, { body, type }));
  const requests: string[] = [];
  const cors = makeFakeCors();
  const server = createServer((request, response) => {
    requests.push(`${request.method ?? ''} ${request.url?.split('?')[0] ?? ''}`);
    response.setHeader('date', now().toUTCString());
    const fault = faults[operationOf(request)];
    if (fault === undefined && isCorsRequest(request)) void cors.answer(request, response);
    else if (fault === undefined && operationOf(request) === 'parts')
      void answerAboutParts(request, response, parts);
    else if (fault === undefined) void answer(request, response, objects);
    else if (fault === 'cut') request.socket.destroy();
    else if (fault !== 'silent') {
      response.writeHead(fault.status, { 'content-type': 'application/xml', ...fault.headers });
      response.end(fault.body ?? '');
    }
  });
  return { port: await listen(t, server), requests, objects, cors };
}

function operationOf(request: IncomingMessage): FakeOperation {
  const { method, url, headers } = request;
  if (isCorsRequest(request)) return method === 'OPTIONS' ? 'preflight' : 'cors';
  if (/[?&]upload(?:s|Id)\b/.test(url ?? '')) return 'parts';
  if (method === 'PUT') return 'put';
  if (method === 'DELETE') return 'delete';
  if (method === 'HEAD') return 'head';
  if (url?.includes('max-keys') === true) return 'list';
  return headers.range === 'bytes=0-0' ? 'range' : 'get';
}

async function answerAboutParts(
  request: IncomingMessage,
  response: ServerResponse,
  parts: FakeParts,
): Promise<void> {
  const { method = '', url = '', headers } = request;
  const body = await bodyOf(request).catch((error: unknown) => {
    if (request.destroyed) return null;
    throw error;
  });
  // A bucket keeps nothing of a part whose client broke off.
  if (body === null) return;
  const reply = parts.answer(method, url, headers['content-type'] ?? '', body);
  response.writeHead(reply?.status ?? 400, { 'content-type': 'application/xml', ...reply?.headers });
  response.end(reply?.body ?? '');
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  objects: Map<string, { readonly body: Buffer; readonly type: string }>,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://storage');
  switch (operationOf(request)) {
    case 'list':
      response.end(fakeList(objects, url));
      return;
    case 'put': {
      objects.set(url.pathname, {
        body: await bodyOf(request),
        type: request.headers['content-type'] ?? '',
      });
      response.end();
      return;
    }
    case 'head':
    case 'range':
    case 'get': {
      const found = objects.get(url.pathname);
      if (found === undefined) {
        response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
        return;
      }
      const type = url.searchParams.get('response-content-type') ?? found.type;
      const disposition = url.searchParams.get('response-content-disposition');
      const { body } = found;
      const range = rangeOf(body, request.headers.range);
      response.writeHead(range === null ? 200 : 206, {
        'content-type': type,
        'content-length': range === null ? body.length : range.to - range.from + 1,
        'accept-ranges': 'bytes',
        // A rule for CORS that allows every page to read.
        'access-control-allow-origin': '*',
        ...(disposition !== null && { 'content-disposition': disposition }),
        etag: `"${hash('md5', body)}"`,
        ...(range && { 'content-range': `bytes ${range.from}-${range.to}/${body.length}` }),
      });
      response.end(range === null ? body : body.subarray(range.from, range.to + 1));
      return;
    }
    case 'delete':
      objects.delete(url.pathname);
      response.writeHead(204).end();
      return;
    case 'preflight':
    case 'cors':
    case 'parts':
      throw new Error('another part of the bucket answers this request');
  }
}

/** Returns the first and the last requested byte; null for a request of all bytes. */
function rangeOf(
  { length }: Buffer,
  header: string | undefined,
): { readonly from: number; readonly to: number } | null {
  const [, from, to = ''] = /^bytes=(\d+)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === undefined) return null;
  return { from: Number(from), to: Math.min(length - 1, to === '' ? Infinity : Number(to)) };
}

/** The CORS rules of a bucket, with the calls of S3 that read and write them. */
interface FakeCors {
  /** The configuration as it was last written; null if there is none. */
  configuration: string | null;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/** Says whether a request reads or writes the rules, or is the preflight of a page. */
function isCorsRequest({ method, url = '' }: IncomingMessage): boolean {
  return method === 'OPTIONS' || /\?(?:.*&)?cors(?:=?$|[=&])/.test(url);
}

/** Makes the rules of a bucket. Without a rule, preflights get the reply of S3, OSS and COS. */
function makeFakeCors(): FakeCors {
  const cors: FakeCors = {
    configuration: null,
    answer: async (request, response) => {
      if (request.method === 'OPTIONS') preflight(cors.configuration, request, response);
      else if (request.method === 'PUT') {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const body = Buffer.concat(chunks);
        if (request.headers['content-md5'] !== hash('md5', body, 'base64'))
          refuse(response, 400, 'InvalidDigest');
        else {
          cors.configuration = body.toString();
          response.end();
        }
      } else if (cors.configuration === null) refuse(response, 404, 'NoSuchCORSConfiguration');
      else response.end(cors.configuration);
    },
  };
  return cors;
}

/** Answers by the first rule that fits origin, method and headers (Amazon S3, "How does Amazon S3 evaluate the CORS"). */
function preflight(
  configuration: string | null,
  { headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const origin = headers.origin ?? '';
  const method = headers['access-control-request-method'] ?? '';
  const asked = (headers['access-control-request-headers'] ?? '').split(',').map((name) => name.trim());
  const rules = [...(configuration ?? '').matchAll(/<CORSRule>[\s\S]*?<\/CORSRule>/g)].map(([rule]) => rule);
  const values = (rule: string, name: string): readonly string[] =>
    [...rule.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, value = '']) => value);
  const fits = (allowed: readonly string[], wanted: string): boolean =>
    allowed.includes('*') || allowed.some((one) => one.toLowerCase() === wanted.toLowerCase());
  const rule = rules.find(
    (one) =>
      fits(values(one, 'AllowedOrigin'), origin) &&
      values(one, 'AllowedMethod').includes(method) &&
      asked.every((name) => fits(values(one, 'AllowedHeader'), name)),
  );
  if (rule === undefined) {
    refuse(response, 403, 'AccessForbidden');
    return;
  }
  response.writeHead(200, {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': values(rule, 'AllowedMethod').join(', '),
    'access-control-allow-headers': asked.join(', '),
  });
  response.end();
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>canary</Message></Error>`);
}

type Objects = ReadonlyMap<string, { readonly body: Buffer }>;

/** Lists a bucket as S3 and OSS (ListObjectsV2) and COS (GET Bucket) do; the token is a key. @param url of the bucket itself */
function fakeList(objects: Objects, url: URL): string {
  const { pathname: bucket, searchParams: query } = url;
  const [prefix, after] = [
    query.get('prefix') ?? '',
    query.get('continuation-token') ?? query.get('marker') ?? '',
  ];
  const limit = Number(query.get('max-keys') ?? '1000');
  const isEncoded = query.get('encoding-type') === 'url';
  const found = [...objects]
    .filter(([path]) => path.startsWith(bucket))
    .map(([path, { body }]) => ({ key: decodeURIComponent(path.slice(bucket.length)), body }))
    .filter(({ key }) => key.startsWith(prefix) && compare(key, after) > 0)
    .sort((one, other) => compare(one.key, other.key));
  const entries = found.slice(0, limit).map(({ key, body }) => {
    const written = isEncoded ? encodeURIComponent(key) : escaped(key);
    return `<Contents><Key>${written}</Key><ETag>"${hash('md5', body)}"</ETag><Size>${body.length}</Size></Contents>`;
  });
  const encoding = isEncoded ? '<EncodingType>url</EncodingType>' : '';
  const isCut = `<IsTruncated>${String(found.length > limit)}</IsTruncated>`;
  const last = found[limit - 1]?.key ?? '';
  const token = query.has('list-type')
    ? `<NextContinuationToken>${escaped(last)}</NextContinuationToken>`
    : `<NextMarker>${isEncoded ? encodeURIComponent(last) : escaped(last)}</NextMarker>`;
  return `<?xml version="1.0"?><ListBucketResult>${encoding}${isCut}${found.length > limit ? token : ''}${entries.join('')}</ListBucketResult>`;
}

function compare(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
