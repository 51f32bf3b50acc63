import test from 'ava';
import {
  type ListAnswer,
  makeListObjects,
} from '../../../../src/areas/storages/bucket/objects/list-objects.js';
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
  ...{ provider, protocol: 'https:', host: 'rivers.example.org', pathPrefix: '/', bucket: 'rivers' },
  ...{ region: 'eu-west-1', cdnDomain: '', mode: 'origin' },
  client: { protocol: 'https:', host: 'rivers.example.org', pathPrefix: '/' },
});

interface Asking {
  readonly provider?: DeliveryAddress['provider'];
  readonly after?: string | null;
}

/** Lists a bucket that gives one answer. */
async function list(
  reply: string | Partial<OutgoingReply> | Error,
  { provider = 's3', after = null }: Asking = {},
): Promise<{
  readonly answer: ListAnswer;
  readonly url: URL;
  readonly request: OutgoingRequest | undefined;
}> {
  const requests: OutgoingRequest[] = [];
  const listObjects = makeListObjects({
    http: (request) => {
      requests.push(request);
      if (reply instanceof Error) return Promise.reject(reply);
      const given = typeof reply === 'string' ? { body: Buffer.from(reply) } : reply;
      return Promise.resolve({ status: 200, headers: {}, body: Buffer.alloc(0), ...given });
    },
    now: () => new Date('2026-11-23T03:00:00Z'),
  });
  const urls = makeStorageUrls(address(provider), { id: 'an-id', secret: 'a-secret' });
  const answer = await listObjects({ urls, provider, prefix: 'videos/', after, limit: 2 });
  return { answer, url: new URL(requests[0]?.url ?? ''), request: requests[0] };
}

const entry = (key: string, more = '<ETag>&quot;a-tag&quot;</ETag><Size>3</Size>') =>
  `<Contents><Key>${key}</Key><LastModified>2026-11-23T03:00:00.000Z</LastModified>${more}</Contents>`;
const wholeList = '<IsTruncated>false</IsTruncated>';
const result = (...parts: readonly string[]) =>
  `<?xml version="1.0"?><ListBucketResult xmlns="a">${parts.join('\n')}</ListBucketResult>\n`;
const object = (key: string) => ({ key, size: 3, entity_tag: 'a-tag' });

test('S3 and OSS are asked by ListObjectsV2 and COS by its marker, each signed in the header', async (t) => {
  for (const provider of ['s3', 'oss', 'cos'] as const) {
    const first = await list(result(wholeList), { provider });
    t.deepEqual(first.answer, { kind: 'listed', objects: [], isCut: false });
    const common = { prefix: 'videos/', 'max-keys': '2', 'encoding-type': 'url' };
    const version = provider === 'cos' ? {} : { 'list-type': '2' };
    t.deepEqual(Object.fromEntries(first.url.searchParams), { ...common, ...version });
    t.truthy(first.request?.headers?.['authorization']);
    const next = await list(result(wholeList), { provider, after: 'videos/a b&ü' });
    t.is(next.url.searchParams.get(provider === 'cos' ? 'marker' : 'start-after'), 'videos/a b&ü');
  }
});

test('Keys are read as the provider wrote them, encoded or not', async (t) => {
  const encoded = await list(
    result(
      '<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>',
      entry('videos/a+b%2Bc%26.mp4'),
      entry('videos/%E6%B2%B3%20%0A'),
    ),
  );
  t.deepEqual(encoded.answer, {
    kind: 'listed',
    objects: [object('videos/a b+c&.mp4'), object('videos/河 \n')],
    isCut: true,
  });
  const plain = await list(
    result(
      wholeList,
      entry('videos/a+b%20&amp;', '<Size>0</Size>'),
      entry('videos/b', '<ETag>"t-2"</ETag><Size>9</Size>'),
    ),
  );
  t.deepEqual(plain.answer, {
    kind: 'listed',
    objects: [
      { key: 'videos/a+b%20&', size: 0, entity_tag: null },
      { key: 'videos/b', size: 9, entity_tag: 't-2' },
    ],
    isCut: false,
  });
});

test('A bucket that does not answer is away, and one that refuses says why', async (t) => {
  const error = (code: string) => Buffer.from(`<Error><Code>${code}</Code></Error>`);
  for (const reply of [
    new OutgoingError('connection_timeout'),
    '<ListBucketResult><Contents><Key>videos/a</Key>',
    { status: 503, body: error('SlowDown') },
  ]) {
    t.deepEqual((await list(reply)).answer, { kind: 'away' });
  }
  for (const [reply, code] of [
    [{ status: 403, body: error('AccessDenied') }, 'list_denied'],
    [{ status: 403, body: error('SignatureDoesNotMatch') }, 'signature_mismatch'],
    [{ status: 404, body: error('NoSuchBucket') }, 'bucket_not_found'],
    [result(wholeList, entry('videos/b'), entry('videos/a')), 'list_unusable'],
    [result(wholeList, entry('videos/a', '')), 'list_unreadable'],
    [result(`${wholeList}<EncodingType>url</EncodingType>`, entry('videos/%zz')), 'list_unreadable'],
    // Neither an end nor another page
    [result(entry('videos/a')), 'list_unreadable'],
    [result(wholeList, entry('videos/a</Key><Key>b')), 'list_unreadable'],
    // More objects than the service asked for
    [result(wholeList, entry('videos/a'), entry('videos/b'), entry('videos/c')), 'list_unreadable'],
    // Longer than what the service reads
    [result('<Contents>'.repeat(8_000)).padEnd(73_728), 'list_unreadable'],
    ['<ListBucketResult>'.padEnd(73_728), 'list_unreadable'],
  ] as const) {
    t.like((await list(reply)).answer, { kind: 'refused', failure: { code } });
  }
  // A server that ignores the marker would give the same page for ever.
  const ignored = await list(result(wholeList, entry('videos/a')), { after: 'videos/a' });
  t.like(ignored.answer, { kind: 'refused', failure: { code: 'list_unusable' } });
});
