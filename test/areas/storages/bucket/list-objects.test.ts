import test from 'ava';
import {
  type ListAnswer,
  makeListObjects,
} from '../../../../src/areas/storages/bucket/objects/list-objects.js';
import {
  OutgoingError,
  type OutgoingReply,
  type OutgoingRequest,
} from '../../../../src/outgoing/outgoing-http.js';
import { bucketUrls } from '../../../support/given/bucket-urls.js';
import type { StorageProvider } from '../../../../src/areas/storages/domain/bucket/bucket.js';

const address = {
  protocol: 'https:',
  host: 'rivers.example.org',
  pathPrefix: '/',
  bucket: 'rivers',
} as const;

interface Asking {
  readonly provider?: StorageProvider;
  readonly token?: string | null;
}

/** Lists a bucket that gives one answer. */
async function list(
  reply: string | Partial<OutgoingReply> | Error,
  { provider = 's3', token = null }: Asking = {},
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
  const urls = bucketUrls({ ...address, provider });
  const answer = await listObjects({ urls, provider, prefix: 'videos/', token, limit: 2 });
  return { answer, url: new URL(requests[0]?.url ?? ''), request: requests[0] };
}

const entry = (key: string, more = '<ETag>&quot;a-tag&quot;</ETag><Size>3</Size>') =>
  `<Contents><Key>${key}</Key><LastModified>2026-11-23T03:00:00.000Z</LastModified>${more}</Contents>`;
const wholeList = '<IsTruncated>false</IsTruncated>';
const result = (...parts: readonly string[]) =>
  `<?xml version="1.0"?><ListBucketResult xmlns="a">${parts.join('\n')}</ListBucketResult>\n`;
const token = '<IsTruncated>true</IsTruncated><NextContinuationToken>t%2B1</NextContinuationToken>';
const encoded = '<EncodingType>url</EncodingType>';
/** The text of a key and its readings; without any, the text alone is beyond doubt. */
const object = (text: string, readings?: readonly string[]) => ({
  ...{ text, readings: readings ?? [text], isSure: readings === undefined, size: 3, entity_tag: 'a-tag' },
});

test('S3 and OSS are asked by ListObjectsV2 and COS by its marker, each signed in the header', async (t) => {
  for (const [provider, next] of [
    ['s3', 't%2B1'],
    ['oss', 't+1'],
    ['cos', 'videos/a b&ü'],
  ] as const) {
    const first = await list(result(wholeList), { provider });
    t.deepEqual(first.answer, { kind: 'listed', objects: [], next: null });
    const common = { prefix: 'videos/', 'max-keys': '2', 'encoding-type': 'url' };
    const version = provider === 'cos' ? {} : { 'list-type': '2' };
    t.deepEqual(Object.fromEntries(first.url.searchParams), { ...common, ...version });
    t.truthy(first.request?.headers?.['authorization']);
    // A page may be empty, and another follows.
    const marker = '<NextMarker>videos/a+b%26%C3%BC</NextMarker>';
    const empty = await list(result(encoded, token, marker), { provider, token: next });
    t.deepEqual(empty.answer, { kind: 'listed', objects: [], next });
    t.is(empty.url.searchParams.get(provider === 'cos' ? 'marker' : 'continuation-token'), next);
  }
});

test('Keys have the readings that servers give them, in any order of keys', async (t) => {
  const listed = async (...parts: readonly string[]) => (await list(result(wholeList, ...parts))).answer;
  t.deepEqual(
    await listed(encoded, ...['z.jpg', 'a+b%26', 'Zo%EB.jpg'].map((key) => entry(`videos/${key}`))),
    {
      kind: 'listed',
      objects: [
        object('videos/z.jpg'),
        object('videos/a+b%26', ['videos/a b&', 'videos/a+b&', 'videos/a+b%26']),
        object('videos/Zo%EB.jpg', []),
      ],
      next: null,
    },
  );
  t.deepEqual(
    await listed(entry('videos/a+b%20&amp;'), entry('videos/caf&#233;<![CDATA[ ]]>'), entry('videos/%zz')),
    {
      kind: 'listed',
      objects: [
        object('videos/a+b%20&', ['videos/a+b%20&', 'videos/a+b &', 'videos/a b &']),
        object('videos/café '),
        object('videos/%zz', ['videos/%zz']),
      ],
      next: null,
    },
  );
  // A bucket without entity tags
  t.like(await listed(entry('videos/a', '<Size>0</Size>')), { objects: [{ size: 0, entity_tag: null }] });
});

test('A text that is too long for a key has no readings and is cut, and a page has each text once', async (t) => {
  const [long, longest] = ['%41'.repeat(1_024 - 7), 'b'.repeat(3_073 - 7)];
  const page = [long, longest, 'a', 'a'].map((key) => entry(`videos/${key}`));
  t.deepEqual((await list(result(encoded, wholeList, ...page))).answer, {
    ...{ kind: 'listed', next: null },
    objects: [
      object(`videos/${long}`, [`videos/${'A'.repeat(1_024 - 7)}`, `videos/${long}`]),
      { ...object(`videos/${longest}`.slice(0, 3_072), []), isSure: true },
      object('videos/a'),
    ],
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
    [result(wholeList, entry('other/a')), 'list_unusable'],
    [result(wholeList, entry('videos/a', '')), 'list_unreadable'],
    // Neither an end nor another page
    [result(entry('videos/a')), 'list_unreadable'],
    [result('<IsTruncated>true</IsTruncated>', entry('videos/a')), 'list_unreadable'],
    [result(wholeList, entry('videos/a</Key><Key>b')), 'list_unreadable'],
    // Longer than what the service reads
    [result('<Contents>'.repeat(8_000)).padEnd(73_728), 'list_unreadable'],
    ['<ListBucketResult>'.padEnd(73_728), 'list_unreadable'],
  ] as const) {
    t.like((await list(reply)).answer, { kind: 'refused', failure: { code } });
  }
});

test('A token that the bucket no longer takes has expired', async (t) => {
  const answer = async (status: number, code: string, given: string | null) => {
    const body = Buffer.from(`<Error><Code>${code}</Code></Error>`);
    return (await list({ status, body }, { token: given })).answer.kind;
  };
  for (const [status, code] of [
    [400, 'InvalidArgument'],
    [400, 'InvalidToken'],
    [410, 'Gone'],
  ] as const) {
    t.is(await answer(status, code, 'a-token'), 'expired', code);
    t.is(await answer(status, code, null), 'refused', code);
  }
  t.is(await answer(403, 'AccessDenied', 'a-token'), 'refused');
  t.is(await answer(404, 'NoSuchBucket', 'a-token'), 'refused');
});
