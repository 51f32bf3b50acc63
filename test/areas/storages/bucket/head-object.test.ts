import test from 'ava';
import {
  type HeadAnswer,
  makeHeadObject,
} from '../../../../src/areas/storages/bucket/objects/head-object.js';
import {
  type DeliveryAddress,
  makeStorageUrls,
} from '../../../../src/areas/storages/bucket/signing/media-urls.js';
import {
  OutgoingError,
  type OutgoingReply,
  type OutgoingRequest,
} from '../../../../src/outgoing/outgoing-http.js';

const address = (provider: DeliveryAddress['provider']): DeliveryAddress => ({
  ...{ provider, host: 'rivers.example.org', cdnDomain: 'cdn.example.org' },
  ...{ pathPrefix: '/', bucket: 'rivers', region: 'eu-west-1' },
  client: { protocol: 'https:', host: 'public.example.org', pathPrefix: '/' },
  protocol: 'https:',
  mode: 'origin',
});

interface Asking {
  readonly provider?: DeliveryAddress['provider'];
  readonly signal?: AbortSignal;
}

/** Asks a bucket that gives one answer. */
async function head(
  reply: Partial<OutgoingReply> | Error,
  { provider = 's3', signal = new AbortController().signal }: Asking = {},
): Promise<{ readonly answer: HeadAnswer; readonly request: OutgoingRequest | undefined }> {
  const requests: OutgoingRequest[] = [];
  const headObject = makeHeadObject({
    http: (request) => {
      requests.push(request);
      if (reply instanceof Error) return Promise.reject(reply);
      return Promise.resolve({ status: 200, headers: {}, body: Buffer.alloc(0), ...reply });
    },
    now: () => new Date('2026-11-23T03:00:00Z'),
  });
  const urls = makeStorageUrls(address(provider), { id: 'an-id', secret: 'a-secret' });
  const answer = await headObject({ urls, provider, key: 'videos/a b.mp4' }, signal);
  return { answer, request: requests[0] };
}

const headers = { 'content-length': '12', etag: '"a-tag"', 'content-type': 'video/mp4' };
const object = { size: 12, entity_tag: 'a-tag', media_type: 'video/mp4', sha256: null };
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
    const { answer, request } = await head({ headers }, { provider });
    t.deepEqual(answer, { kind: 'found', object });
    t.like(request, { method: 'HEAD', url: 'https://rivers.example.org/videos/a%20b.mp4' });
    t.is(request?.headers?.['x-amz-checksum-mode'], mode);
    t.truthy(request?.headers?.['authorization']);
  }
});

test('The answer names size, entity tag, media type, and the checksum over the whole object', async (t) => {
  const found = async (more: Readonly<Record<string, string | undefined>>) =>
    (await head({ headers: { ...headers, ...more } })).answer;
  t.deepEqual(await found({ etag: 'W/"a-tag"' }), { kind: 'found', object });
  t.deepEqual(await found({ etag: 'a-tag' }), { kind: 'found', object });
  t.deepEqual(await found({ 'content-type': undefined }), {
    kind: 'found',
    object: { ...object, media_type: null },
  });
  t.deepEqual(await found({ 'x-amz-checksum-sha256': inBase64 }), {
    kind: 'found',
    object: { ...object, sha256: inHex },
  });
  t.deepEqual(await found({ 'x-amz-checksum-sha256': `${inBase64}-3` }), { kind: 'found', object });
});

test('An answer that is no answer of a storage is none', async (t) => {
  for (const more of [
    { 'content-length': undefined },
    { 'content-length': '-1' },
    { etag: undefined },
    { etag: `"${'a'.repeat(300)}"` },
    { 'content-type': `text/${'a'.repeat(300)}` },
  ]) {
    t.deepEqual((await head({ headers: { ...headers, ...more } })).answer, { kind: 'away' });
  }
});

test('A missing object, a refusal and a bucket that is away differ', async (t) => {
  for (const [status, kind] of [
    [404, 'missing'],
    [403, 'refused'],
    [401, 'refused'],
    [400, 'refused'],
    [301, 'refused'],
    [206, 'refused'],
    [429, 'away'],
    [500, 'away'],
    [503, 'away'],
  ] as const) {
    t.deepEqual((await head({ status, headers })).answer, { kind }, String(status));
  }
  t.deepEqual((await head(new OutgoingError('connection_timeout'))).answer, { kind: 'away' });
  await t.throwsAsync(head(new TypeError('a defect')), { instanceOf: TypeError });
  const stopped = AbortSignal.abort(new Error('the process ends'));
  await t.throwsAsync(head(new OutgoingError('connection_failed'), { signal: stopped }), {
    message: 'the process ends',
  });
});
