import test, { type ExecutionContext } from 'ava';
import { uploadPartsReply, type UploadPartsReply } from '../../../support/clients/read-replies.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { makeHeadObject } from '../../../../src/areas/storages/bucket/objects/head-object.js';
import { makeMultipart } from '../../../../src/areas/storages/bucket/objects/multipart.js';
import {
  OutgoingError,
  type OutgoingHttp,
  type OutgoingRequest,
} from '../../../../src/outgoing/outgoing-http.js';
import { makeFakeParts } from '../../../support/fakes/fake-parts.js';
import { appendEvents } from '../../../support/given/append-events.js';
import { pluck } from '../../../support/given/pluck.js';
import { givenOwnedProject, type Made, refuses } from '../../../support/given/project-over-http.js';

const mebibyte = 2 ** 20;
const partSize = 16 * mebibyte;

/** Given a project with a storage, and its bucket, which takes the parts' numbers in place of their content. */
async function given(t: ExecutionContext) {
  const objects = new Map<string, Buffer>();
  const parts = makeFakeParts((path, body) => objects.set(path, body));
  const bucket = {
    away: false,
    /** What becomes of the reply to a join. */
    reply: 'whole',
    /** A refusal in place of every reply: its status and its body; null: none. */
    refusal: null as readonly [number, string] | null,
    /** Whether it joins the parts. */
    joins: true,
    head: { etag: '"joined-3"' } as Readonly<Record<string, string>>,
  };
  /** Sizes of the objects: a test does not send 40 MiB. */
  const sizes = new Map<string, number>();
  const sent: string[] = [];
  const replied = (status: number, text: string, headers = {}) =>
    Promise.resolve({ status, headers, body: Buffer.from(text) });
  const answerHead = (path: string) => {
    const found = { 'content-length': String(sizes.get(path)), 'content-type': 'video/mp4', ...bucket.head };
    return objects.has(path) ? replied(200, '', found) : replied(404, '');
  };
  const answerJoin = () =>
    bucket.reply === 'lost'
      ? Promise.reject(new OutgoingError('connection_timeout'))
      : replied(200, bucket.reply);
  const answerParts = ({ method, url, headers = {}, body }: OutgoingRequest) => {
    const { pathname, search } = new URL(url);
    const isJoin = method === 'POST' && body !== undefined;
    if (isJoin && !bucket.joins) return answerJoin();
    const type = headers['content-type'] ?? '';
    const reply = parts.answer(method, pathname + search, type, body ?? Buffer.alloc(0));
    if (reply === null) throw new Error(`an unexpected request: ${method} ${url}`);
    if (isJoin && bucket.reply !== 'whole') return answerJoin();
    const inSize = (_: string, size: string) => `<Size>${sizeOf.get(size) ?? size}</Size>`;
    return replied(reply.status, (reply.body ?? '').replaceAll(/<Size>(\d+)<\/Size>/g, inSize));
  };
  const http: OutgoingHttp = (request) => {
    const { pathname } = new URL(request.url);
    sent.push(`${request.method} ${pathname}`);
    if (bucket.away) return Promise.reject(new OutgoingError('connection_timeout'));
    if (bucket.refusal !== null) return replied(...bucket.refusal);
    return request.method === 'HEAD' ? answerHead(pathname) : answerParts(request);
  };
  /** The size that the bucket reports for a part, by the length of its stand-in. */
  const sizeOf = new Map([
    ['1', partSize],
    ['2', 8 * mebibyte],
  ]);
  const deps = { http, now: () => service.clock.now() };
  const buckets = { headObject: makeHeadObject(deps), multipart: makeMultipart(deps) };
  const service = await givenOwnedProject(t, { buckets }, { base_path: 'videos' });
  const { at, send } = service;
  const userId = await service.verify('owner');
  await appendEvents(
    service.stores.handler,
    { aggregate: userAggregate, id: userId },
    [{ type: 'CapacityGranted', data: { source: 'operator', bytes: 6 * 2 ** 40 } }],
    service.clock.now(),
  );
  return {
    ...{ service, bucket, parts, sizes, objects, sent, send, owner: service.owner },
    add: async (size: number) => {
      const { status, json, text } = await service.addAsset({ object_key: `rhine-${size}.mp4`, size });
      t.is(status, 201, text);
      sizes.set(`/videos/rhine-${size}.mp4`, size);
      return `${at}/assets/${(json as Made).id}`;
    },
    page: async (method: string, path: string): Promise<UploadPartsReply> => {
      const reply = await send(method, path, method === 'POST' ? {} : undefined);
      t.is(reply.status, 200, reply.text);
      t.is(reply.headers.get('cache-control'), 'no-store');
      return uploadPartsReply.parse(reply.json);
    },
    /** Stores a part whose stand-in has so many bytes. */
    put: (url: string | null | undefined, length: number) => {
      const { pathname, search } = new URL(url ?? '');
      t.is(parts.answer('PUT', pathname + search, '', Buffer.alloc(length, length))?.status, 200);
    },
    refused: async (method: string, path: string, expected: string, message = /./) => {
      const reply = await send(method, path, method === 'POST' ? {} : undefined);
      await refuses(t, reply, expected);
      t.regex((reply.json as { message: string }).message, message);
    },
  };
}

test('A repetition of a start gets the first reply and asks the bucket nothing, until the upload ends', async (t) => {
  const { add, page, send, sent, service, owner } = await given(t);
  const asset = await add(40 * mebibyte);
  const start = (query = '') =>
    service.post(`${asset}/uploads${query}`, {}, { ...owner, 'idempotency-key': 'start-1' });
  const first = await start();
  t.is(first.status, 200, first.text);
  const upload = uploadPartsReply.parse(first.json).id;
  const asked = sent.length;
  t.is((await start()).text, first.text);
  t.is(sent.length, asked);
  t.is((await start('?after=1')).status, 409, 'another page is another request');
  t.is((await send('DELETE', `${asset}/uploads/${upload}`)).status, 204);
  t.is((await start()).status, 409, 'a late repetition opens no other upload');
  t.is(sent.length, asked + 1, 'the abort');
  t.is((await send('GET', `${asset}/uploads/${upload}`)).status, 404);
  t.not((await page('POST', `${asset}/uploads`)).id, upload);
});

test('A file of three parts is uploaded with two interruptions, and completed from what the bucket has', async (t) => {
  const { add, page, put, send, sent, refused, parts } = await given(t);
  const asset = await add(40 * mebibyte);
  const first = await page('POST', `${asset}/uploads`);
  t.like(first, { part_size: partSize, part_count: 3, next_after: null });
  t.deepEqual(pluck(first.parts, 'size'), [partSize, partSize, 8 * mebibyte]);
  const url = new URL(first.parts[0]?.url ?? '');
  t.is(url.searchParams.get('partNumber'), '1');
  t.is(url.searchParams.get('uploadId'), 'upload+1/=');
  t.is(url.searchParams.get('X-Amz-SignedHeaders'), 'content-length;host');
  t.is(url.searchParams.get('X-Amz-Expires'), '3600');

  // When the client stores one part and starts again, it gets the same upload without that part
  put(first.parts[1]?.url, 1);
  const again = await page('POST', `${asset}/uploads`);
  t.is(again.id, first.id);
  t.deepEqual(
    again.parts.map(({ url }) => url === null),
    [false, true, false],
  );
  put(again.parts[0]?.url, 1);
  // A part of another size counts as missing
  put(again.parts[2]?.url, 1);
  const upload = `${asset}/uploads/${first.id}`;
  await refused('POST', `${upload}/complete`, '409 conflict', /1 parts .*: 3$/);
  const last = await page('GET', `${upload}?after=2&limit=1`);
  t.deepEqual(
    last.parts.map(({ part_number, url }) => [part_number, url === null]),
    [[3, false]],
  );
  put(last.parts[0]?.url, 2);

  // Then the parts are joined, the bucket is asked, and the upload is over
  const completed = await send('POST', `${upload}/complete`, {});
  t.is(completed.status, 200, completed.text);
  t.like(completed.json, { upload: 'complete', object: { size: 40 * mebibyte, entity_tag: 'joined-3' } });
  t.is(parts.open.size, 0);
  await refused('POST', `${upload}/complete`, '404 not_found');
  await refused('GET', upload, '404 not_found');
  await refused('DELETE', upload, '404 not_found');
  // Before the upload and after it
  t.is(sent.filter((request) => request.startsWith('HEAD')).length, 2);
});

test('A file of 5 TiB has less than 10,000 parts, and its pages reach to the last one', async (t) => {
  const { add, page } = await given(t);
  const size = 5 * 2 ** 40;
  const asset = await add(size);
  const first = await page('POST', `${asset}/uploads?limit=1000`);
  t.is(first.part_size, 525 * mebibyte);
  t.is(first.part_count, 9_987);
  t.is(first.next_after, 1_000);
  const last = await page('GET', `${asset}/uploads/${first.id}?after=9980&limit=1000`);
  t.is(last.next_after, null);
  t.deepEqual(pluck(last.parts, 'part_number'), [9_981, 9_982, 9_983, 9_984, 9_985, 9_986, 9_987]);
  t.is(last.parts.at(-1)?.size, size - 9_986 * 525 * mebibyte);
});

test('An upload whose reply was lost, or that the bucket forgot, ends with what the bucket has', async (t) => {
  const { add, page, put, send, bucket, parts, refused } = await given(t);
  const asset = await add(8 * mebibyte);
  const { id, parts: signed } = await page('POST', `${asset}/uploads`);
  put(signed[0]?.url, 2);
  // The bucket joins the parts, and its reply is lost
  bucket.reply = 'lost';
  const completed = await send('POST', `${asset}/uploads/${id}/complete`, {});
  t.like(completed.json, { upload: 'complete' }, completed.text);
  // An upload that the bucket forgot is gone, and the next start opens another
  const other = await add(16 * mebibyte);
  const lost = await page('POST', `${other}/uploads`);
  parts.forget();
  await refused('GET', `${other}/uploads/${lost.id}`, '404 not_found');
  await refused('POST', `${other}/uploads/${lost.id}/complete`, '404 not_found');
  t.not((await page('POST', `${other}/uploads`)).id, lost.id);
  parts.forget();
  t.not((await page('POST', `${other}/uploads`)).id, lost.id);
});

for (const [what, before, after, isNew] of [
  ['is the first one', null, {}, true],
  ['has the tag of the one before', { etag: '"a"' }, { etag: '"a"' }, false],
  ['has another tag than the one before', { etag: '"a"' }, { etag: '"b"' }, true],
  [
    'has another time than the one before',
    { 'last-modified': 'Mon, 23 Nov 2026 02:59:59 GMT' },
    { 'last-modified': 'Mon, 23 Nov 2026 03:00:00 GMT' },
    true,
  ],
  ['has neither tag nor time, as the one before', {}, {}, false],
] as const) {
  test(`Without the word of the bucket, an upload ${isNew ? 'ends' : 'stays open'} where the object ${what}`, async (t) => {
    const { add, page, put, send, bucket, parts, objects, refused } = await given(t);
    const asset = await add(8 * mebibyte);
    if (before !== null) {
      objects.set(`/videos/rhine-${8 * mebibyte}.mp4`, Buffer.alloc(0));
      bucket.head = { ...before };
    }
    const { id, parts: signed } = await page('POST', `${asset}/uploads`);
    put(signed[0]?.url, 2);
    const complete = `${asset}/uploads/${id}/complete`;
    // Given a bucket that answers with an empty 200, and has not joined the parts
    Object.assign(bucket, { joins: false, reply: '' });
    await refused('POST', complete, '503 bucket_unavailable');
    // and then joins them, with an answer that says nothing
    Object.assign(bucket, { joins: true, head: { ...after } });
    const completed = await send('POST', complete, {});
    t.is(completed.status, isNew ? 200 : 503, completed.text);
    t.is(parts.open.size, 0);
    if (isNew) t.like(completed.json, { upload: 'complete' });
    // The bucket then has no such upload
    await refused('POST', complete, '404 not_found');
  });
}

test("A 404 that is not the bucket's leaves an upload open", async (t) => {
  const { add, page, bucket, refused, put, send } = await given(t);
  const asset = await add(8 * mebibyte);
  const { id, parts: signed } = await page('POST', `${asset}/uploads`);
  put(signed[0]?.url, 2);
  const complete = `${asset}/uploads/${id}/complete`;
  bucket.refusal = [404, '<html></html>'];
  await refused('POST', complete, '503 bucket_unavailable');
  // The bucket itself refuses, with another code or without a text
  for (const refusal of [
    [404, '<Error><Code>NoSuchBucket</Code></Error>'],
    [403, ''],
  ] as const) {
    bucket.refusal = refusal;
    await refused('POST', complete, '409 conflict');
  }
  bucket.refusal = null;
  t.is((await send('POST', complete, {})).status, 200);
});

test('An upload is aborted at the bucket, and a bucket that is away changes nothing', async (t) => {
  const { add, page, send, bucket, parts, refused, sent } = await given(t);
  const asset = await add(partSize);
  bucket.away = true;
  await refused('POST', `${asset}/uploads`, '503 bucket_unavailable');
  bucket.away = false;
  const { id } = await page('POST', `${asset}/uploads`);
  bucket.away = true;
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/complete'],
    ['DELETE', ''],
  ] as const) {
    await refused(method, `${asset}/uploads/${id}${path}`, '503 bucket_unavailable');
  }
  bucket.away = false;
  t.is((await send('DELETE', `${asset}/uploads/${id}`)).status, 204);
  t.is(parts.open.size, 0);
  await refused('DELETE', `${asset}/uploads/${id}`, '404 not_found');
  t.is(sent.at(-1), 'DELETE /videos/rhine-16777216.mp4');
  await refused('GET', `${asset}/uploads/${id}?limit=1001`, '400 invalid_request');
});

test('A file of another size continues no upload of the file before it', async (t) => {
  const { add, page, put, send, sent, sizes } = await given(t);
  const asset = await add(40 * mebibyte);
  const before = await page('POST', `${asset}/uploads`);
  put(before.parts[0]?.url, 1);
  put(before.parts[1]?.url, 1);
  // The person exports the film again, and describes the new file.
  t.is((await send('PATCH', asset, { size: 24 * mebibyte })).status, 200);
  sizes.set('/videos/rhine-41943040.mp4', 24 * mebibyte);
  const old = `${asset}/uploads/${before.id}`;
  t.is((await send('GET', old)).status, 404);
  t.is((await send('POST', `${old}/complete`, {})).status, 404);
  const upload = await page('POST', `${asset}/uploads`);
  t.not(upload.id, before.id);
  t.deepEqual(pluck(upload.parts, 'size'), [partSize, 8 * mebibyte]);
  t.true(upload.parts.every(({ url }) => url !== null));
  t.true(
    sent.some((request) => request.startsWith('DELETE ')),
    'the bucket deletes the parts',
  );
  put(upload.parts[0]?.url, 1);
  put(upload.parts[1]?.url, 2);
  const completed = await send('POST', `${asset}/uploads/${upload.id}/complete`, {});
  t.like(completed.json, { upload: 'complete', size: 24 * mebibyte });
});

test('A file that becomes larger gets parts that suffice', async (t) => {
  const { add, page, send } = await given(t);
  const asset = await add(40 * mebibyte);
  await page('POST', `${asset}/uploads`);
  t.is((await send('PATCH', asset, { size: 2 ** 40 })).status, 200);
  t.true((await page('POST', `${asset}/uploads`)).part_count <= 10_000);
});
