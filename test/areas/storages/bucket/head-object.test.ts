import test from 'ava';
import {
  type HeadAnswer,
  type HeadedObject,
  makeHeadObject,
} from '../../../../src/areas/storages/bucket/objects/head-object.js';
import {
  OutgoingError,
  type OutgoingReply,
  type OutgoingRequest,
} from '../../../../src/outgoing/outgoing-http.js';
import { bucketUrls } from '../../../support/given/bucket-urls.js';
import type { StorageProvider } from '../../../../src/areas/storages/domain/bucket/bucket.js';

const address = {
  ...({ protocol: 'https:', host: 'rivers.example.org', pathPrefix: '/', bucket: 'rivers' } as const),
  ...({ cdnDomain: 'cdn.example.org', mode: 'origin' } as const),
  client: { protocol: 'https:', host: 'public.example.org', pathPrefix: '/' },
} as const;

interface Asking {
  readonly provider?: StorageProvider;
  readonly signal?: AbortSignal;
}

type Given = Partial<OutgoingReply> | Error;

/** Asks a bucket with one answer to HEAD, and one to a GET of the first byte. */
async function head(
  reply: Given,
  { provider = 's3', signal = new AbortController().signal }: Asking = {},
  ranged: Given = { status: 403 },
): Promise<{ readonly answer: HeadAnswer; readonly requests: readonly OutgoingRequest[] }> {
  const requests: OutgoingRequest[] = [];
  const headObject = makeHeadObject({
    http: (request) => {
      requests.push(request);
      const given = request.method === 'HEAD' ? reply : ranged;
      if (given instanceof Error) return Promise.reject(given);
      return Promise.resolve({ status: 200, headers: {}, body: Buffer.alloc(0), ...given });
    },
    now: () => new Date('2026-11-23T03:00:00Z'),
  });
  const urls = bucketUrls({ ...address, provider });
  return { answer: await headObject({ urls, provider, key: 'videos/a b.mp4' }, signal), requests };
}

const headers = { 'content-length': '12', etag: '"a-tag"', 'content-type': 'video/mp4' };
const object = { size: 12, entity_tag: 'a-tag', media_type: 'video/mp4', sha256: null };
const found = (of: HeadedObject, by: 'head' | 'range' = 'head') => ({
  ...{ kind: 'found', object: of, by, modified_at: null },
});
/** SHA-256 of nothing. */
const [inBase64, inHex] = [
  '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
];

test('The service asks the bucket itself, signed in the header, and Amazon for the checksum too', async (t) => {
  for (const [provider, mode] of [
    ['s3', 'ENABLED'],
    ['oss', undefined],
    ['cos', undefined],
  ] as const) {
    const { answer, requests } = await head({ headers }, { provider });
    const [request] = requests;
    t.deepEqual(answer, found(object));
    t.is(requests.length, 1);
    t.is(request?.headers?.['accept-encoding'], 'identity');
    t.like(request, { method: 'HEAD', url: 'https://rivers.example.org/videos/a%20b.mp4' });
    t.is(request?.headers?.['x-amz-checksum-mode'], mode);
    t.truthy(request?.headers?.['authorization']);
  }
});

test('The answer names size, entity tag, media type, and the checksum over the whole object', async (t) => {
  const answer = async (more: Readonly<Record<string, string | undefined>>) =>
    (await head({ headers: { ...headers, ...more } })).answer;
  t.like(await answer({ 'last-modified': 'Mon, 23 Nov 2026 02:59:59 GMT' }), {
    modified_at: '2026-11-23T02:59:59.000Z',
  });
  for (const [more, changes] of [
    [{ etag: 'W/"a-tag"' }, {}],
    [{ etag: 'a-tag' }, {}],
    [{ etag: undefined }, { entity_tag: null }],
    [{ etag: `"${'a'.repeat(300)}"` }, { entity_tag: null }],
    [{ 'content-type': undefined }, { media_type: null }],
    [{ 'x-amz-checksum-sha256': inBase64 }, { sha256: inHex }],
    [{ 'x-amz-checksum-sha256': `${inBase64}-3` }, {}],
  ] as const) {
    t.deepEqual(await answer(more), found({ ...object, ...changes }), JSON.stringify(more));
  }
});

const none = { size: 5, entity_tag: null, media_type: null, sha256: null };
const whole = { status: 206, headers: { 'content-range': 'bytes 0-0/5' } };

test('Where HEAD has no usable answer, the first byte says what the bucket has', async (t) => {
  for (const [reply, ranged, answer] of [
    [{ headers: {} }, whole, found(none, 'range')],
    [{ headers: { ...headers, 'content-encoding': 'gzip' } }, whole, found(none, 'range')],
    [{ headers: { ...headers, 'content-length': '-1' } }, whole, found(none, 'range')],
    [{ headers: { ...headers, 'content-type': 'a'.repeat(300) } }, whole, found(none, 'range')],
    [{ status: 403 }, whole, found(none, 'range')],
    [{ status: 206, headers }, whole, found(none, 'range')],
    [{ status: 503 }, whole, found(none, 'range')],
    [{ status: 403 }, { status: 206, headers: { 'content-range': 'Bytes 0-0/5' } }, found(none, 'range')],
    [new OutgoingError('connection_failed'), whole, found(none, 'range')],
    [
      { status: 403 },
      { status: 416, headers: { 'content-range': 'bytes */0' } },
      found({ ...none, size: 0 }, 'range'),
    ],
    [{ status: 403 }, { headers: { 'content-length': '5' } }, found(none, 'range')],
    [{ status: 403 }, { status: 404 }, { kind: 'missing' }],
    [{ status: 404 }, whole, { kind: 'missing' }],
    [{ status: 503 }, { status: 403 }, { kind: 'refused' }],
    [{ status: 403 }, { status: 206, headers: { 'content-range': 'bytes 0-0/*' } }, { kind: 'away' }],
    [{ status: 403 }, { status: 206, headers: { 'content-range': 'bytes 0-1/5' } }, { kind: 'away' }],
    [{ status: 403 }, { status: 416, headers: { 'content-range': 'bytes */5' } }, { kind: 'away' }],
    [{ status: 403 }, { status: 200 }, { kind: 'away' }],
    [{ status: 403 }, { status: 429 }, { kind: 'away' }],
    [{ status: 403 }, { status: 301, headers: { 'content-length': '5' } }, { kind: 'refused' }],
    [{ status: 403 }, new OutgoingError('connection_timeout'), { kind: 'away' }],
  ] as const) {
    const asked = await head(reply, {}, ranged);
    t.deepEqual(asked.answer, answer, JSON.stringify([reply, ranged]));
    const [, request] = asked.requests;
    if (request !== undefined) {
      t.like(request, {
        method: 'GET',
        bodyBytesMax: 16_384,
        headers: { range: 'bytes=0-0', 'accept-encoding': 'identity' },
      });
    }
  }
});

test('The page of a proxy says nothing about the object', async (t) => {
  const page = (type: string) => ({ status: 404, headers: { 'content-type': type } });
  const body = (text: string) => ({ status: 404, body: Buffer.from(text) });
  const error = '<Error><Code>NoSuchKey</Code></Error>';
  for (const [reply, ranged, answer] of [
    [page('text/html'), body('<h1>404</h1>'), { kind: 'away' }],
    [page('text/plain; charset=utf-8'), body('404 page not found'), { kind: 'away' }],
    [page('text/plain'), whole, found(none, 'range')],
    [page('text/html'), body(error), { kind: 'missing' }],
    [page('text/html'), body(''), { kind: 'missing' }],
    [page('application/xml'), whole, { kind: 'missing' }],
    [page('text/xml'), whole, { kind: 'missing' }],
  ] as const) {
    const asked = await head(reply, {}, ranged);
    t.deepEqual(asked.answer, answer, JSON.stringify([reply, ranged]));
  }
});

test('A bucket that cannot be reached is asked once', async (t) => {
  const unreachable = await head(new OutgoingError('connection_refused'), {}, whole);
  t.deepEqual(unreachable.answer, { kind: 'away' });
  t.is(unreachable.requests.length, 1);
  await t.throwsAsync(head(new TypeError('a defect')), { instanceOf: TypeError });
  const stopped = AbortSignal.abort(new Error('the process ends'));
  await t.throwsAsync(head(new OutgoingError('connection_failed'), { signal: stopped }), {
    message: 'the process ends',
  });
});

test('The headers of the reply about an empty range say nothing about the object', async (t) => {
  const refusal = { 'content-range': 'bytes */0', 'content-type': 'application/xml', etag: '"of the error"' };
  const { answer } = await head({ status: 403 }, {}, { status: 416, headers: refusal });
  t.deepEqual(answer, found({ ...none, size: 0 }, 'range'));
});

test('A time that RFC 3339 cannot write is none', async (t) => {
  for (const date of ['Sat, 01 Jan 20000 00:00:00 GMT', 'no time']) {
    const { answer } = await head({ headers: { ...headers, 'last-modified': date } });
    t.like(answer, { kind: 'found', modified_at: null });
  }
});
