import test, { type ExecutionContext } from 'ava';
import { type Fault, givenFakeStorage, type FakeOperation } from '../support/fakes/fake-storage.js';
import { givenStorageProject } from '../support/given/storage-project.js';
import { mediaLinksReply } from '../support/clients/read-replies.js';
import { textOf } from '../support/clients/service-client.js';
import { settableClock } from '../support/fakes/settable-clock.js';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';

const master = ['#EXTM3U', '#EXT-X-STREAM-INF:BANDWIDTH=1280000', '720/index.m3u8', ''].join('\n');
const variant = [
  ...['#EXTM3U', '#EXT-X-TARGETDURATION:6', '#EXT-X-MAP:URI="init.mp4"'],
  ...['#EXTINF:6.0,', 'one 1.m4s', '#EXT-X-BYTERANGE:2@1', 'two.ts', '#EXT-X-ENDLIST', ''],
].join('\n');

/** The URLs of one window are equal. */
const windowMs = 5 * 60_000;

/** Given a film with a stream whose files the bucket holds, and a share of it, at the beginning of a window. */
async function given(t: ExecutionContext) {
  const faults: Partial<Record<FakeOperation, Fault>> = {};
  const bucket = await givenFakeStorage(t, faults);
  const clock = settableClock(new Date(Math.ceil(Date.now() / windowMs) * windowMs));
  const project = await givenStorageProject(t, { clock });
  const { path, send, bind } = project;
  const storage = await bind({ endpoint: `http://127.0.0.1:${bucket.port}` });
  const store = async (key: string, body: string | Buffer, type = 'application/octet-stream') => {
    const url = `http://127.0.0.1:${bucket.port}/media/videos/${key}`;
    await fetch(url, {
      method: 'PUT',
      body: new Uint8Array(Buffer.from(body)),
      headers: { 'content-type': type },
    });
  };
  const call = async (method: string, to: string, body?: JsonObject): Promise<JsonObject> => {
    const reply = await send(method, to, body);
    t.true(reply.status < 300, `${method} ${to}: ${reply.text}`);
    return reply.text === '' ? {} : reply.json();
  };
  await store('film.mp4', 'film', 'video/mp4');
  await store('film/master.m3u8', master);
  await store('film/720/index.m3u8', variant);
  await store('film/720/one%201.m4s', 'first segment');
  await store('film/720/two.ts', 'second');
  await store('film/720/init.mp4', 'init');
  const type = 'application/vnd.apple.mpegurl';
  const asset = await call('POST', `${path}/assets`, {
    ...{ storage_id: storage.split('/').at(-1) ?? '', name: 'Film', object_key: 'film.mp4' },
    ...{ media_type: 'video/mp4', size: 4 },
    renditions: [{ kind: 'hls', object_key: 'film/master.m3u8', media_type: type, size: master.length }],
  });
  const at = `${path}/assets/${textOf(asset, 'id')}`;
  t.is((await call('POST', `${at}/uploaded`, {}))['upload'], 'complete');
  const share = await call('POST', `${path}/shares`, {
    asset_id: textOf(asset, 'id'),
    password: 'open sesame',
  });
  const service = await call('GET', '/openapi.json');
  const own = textOf((service['servers'] as JsonObject[])[0] ?? {}, 'url');
  const follow = (url: string) => project.visit(url.replace(own, ''));
  return { ...project, faults, bucket, clock, store, call, asset, at, storage, share, follow };
}

/** Returns a line of a playlist. */
const lineOf = (text: string, place: number): string => text.split('\n')[place] ?? '';
const urlOfStream = (data: unknown): string =>
  mediaLinksReply.parse(data).media.find(({ kind }) => kind === 'hls')?.url ?? '';

test('A visitor plays a stream of a private bucket', async (t) => {
  const { call, follow, share } = await given(t);
  const verify = `/api/v1/shares/${textOf(share, 'token')}/verify`;
  const opened = await call('POST', verify, { password: 'open sesame' });
  const stream = urlOfStream(opened['data']);

  // When the visitor's player follows the playlists
  const first = await follow(stream);
  t.is(first.status, 200);
  t.is(first.headers.get('content-type'), 'application/vnd.apple.mpegurl');
  t.is(first.headers.get('access-control-allow-origin'), '*');
  t.is(first.headers.get('cross-origin-resource-policy'), 'cross-origin');
  t.is(first.headers.get('cache-control'), 'private, max-age=300');
  const second = await follow(lineOf(first.text, 2));
  t.is(second.status, 200);

  // Then every reference is a signed URL that the bucket serves, and the other lines are as they were
  const [, init = ''] = /URI="([^"]+)"/.exec(lineOf(second.text, 2)) ?? [];
  const urls = [init, lineOf(second.text, 4), lineOf(second.text, 6)];
  t.deepEqual(await Promise.all(urls.map(async (url) => (await fetch(url)).text())), [
    ...['init', 'first segment', 'second'],
  ]);
  t.true(urls.every((url) => new URL(url).searchParams.has('X-Amz-Signature')));
  t.is((await fetch(lineOf(second.text, 6))).headers.get('content-type'), 'video/mp2t');
  t.deepEqual(
    [3, 5, 7].map((place) => lineOf(second.text, place)),
    ['#EXTINF:6.0,', '#EXT-X-BYTERANGE:2@1', '#EXT-X-ENDLIST'],
  );

  // And a changed token opens nothing
  const forged = stream.replace(/h1\.(.)/, (_, one: string) => `h1.${one === 'A' ? 'B' : 'A'}`);
  t.is((await follow(forged)).status, 404);
  t.is((await follow('/api/v1/hls/x/playlist.m3u8')).status, 404);
});

test('No URL of a stream outlives its share', async (t) => {
  const { call, follow, share, path, clock } = await given(t);
  const verify = `/api/v1/shares/${textOf(share, 'token')}/verify`;
  const opened = await call('POST', verify, { password: 'open sesame' });
  const end = clock.now().getTime() + 90_500;
  const expires_at = new Date(end).toISOString();
  await call('PATCH', `${path}/shares/${textOf(share, 'id')}`, { expires_at });
  const variantUrl = lineOf((await follow(urlOfStream(opened['data']))).text, 2);
  const late = await follow(variantUrl);
  t.is(late.headers.get('cache-control'), 'private, max-age=30');
  const signed = new URL(lineOf(late.text, 4)).searchParams;
  const from = String(signed.get('X-Amz-Date')).replace(/^(....)(..)(..T..)(..)(..)Z$/, '$1-$2-$3:$4:$5Z');
  const endsAt = Date.parse(from) + Number(signed.get('X-Amz-Expires')) * 1_000;
  t.true(endsAt <= end && endsAt > end - 1_000, `${from} ${endsAt} ${end}`);
  clock.advance(90_500);
  t.is((await follow(variantUrl)).status, 404);
});

test('No URL of a segment outlives the URL that a member got', async (t) => {
  // Given the URL of a member, who may leave the project
  const { call, follow, at, clock } = await given(t);
  const data = await call('POST', `${at}/media`, {});
  const end = clock.now().getTime() + 20 * 60_000;
  // When the player asks for the playlist late
  clock.advance(14 * 60_000);
  const variantUrl = lineOf((await follow(urlOfStream(data))).text, 2);
  const segment = new URL(lineOf((await follow(variantUrl)).text, 4)).searchParams;
  // Then the segments end with the URL
  const signedAt = (segment.get('X-Amz-Date') ?? '').replace(
    /^(....)(..)(..)T(..)(..)(..)Z$/,
    '$1-$2-$3T$4:$5:$6Z',
  );
  const endsMs = Date.parse(signedAt) + Number(segment.get('X-Amz-Expires')) * 1_000;
  t.is(endsMs, end);
});

test('A revoked share, a new password and a removed rendition end the stream', async (t) => {
  const { call, follow, share, path, at } = await given(t);
  const open = async (password: string) => {
    const opened = await call('POST', `/api/v1/shares/${textOf(share, 'token')}/verify`, { password });
    return urlOfStream(opened['data']);
  };
  const before = await open('open sesame');
  await call('PATCH', `${path}/shares/${textOf(share, 'id')}`, { password: 'another sesame' });
  t.is((await follow(before)).status, 404);
  const after = await open('another sesame');
  t.is((await follow(after)).status, 200);
  const own = urlOfStream(await call('POST', `${at}/media`, {}));
  await call('DELETE', `${path}/shares/${textOf(share, 'id')}`);
  t.is((await follow(after)).status, 404);
  t.is((await follow(own)).status, 200);
  await call('DELETE', `${at}/renditions/hls`);
  t.is((await follow(own)).status, 404);
});

test('A playlist that cannot be served says why, and one of a public CDN is served by the CDN', async (t) => {
  const { call, follow, at, store, faults, clock, storage, send } = await given(t);
  const link = async () => urlOfStream(await call('POST', `${at}/media`, {}));
  const url = await link();
  const read = async () => {
    // The service keeps a refusal for 10 s.
    clock.advance(10_000);
    const reply = await follow(url);
    return [reply.status, textOf(reply.json(), 'message')] as const;
  };
  await store('film/master.m3u8', '#EXTM3U\nhttps://evil.example.org/a.ts\n');
  const [status, message] = await read();
  t.is(status, 409);
  t.regex(message, /^line 2 of the playlist is an absolute URL/);
  await store('film/master.m3u8', `#EXTM3U\n${'#'.repeat(2 ** 20)}`);
  t.regex((await read())[1], /larger than 1 MiB/);
  faults.get = { status: 403 };
  t.is((await read())[0], 409);
  faults.get = { status: 503 };
  t.is((await read())[0], 503);
  faults.get = { status: 404 };
  t.is((await read())[0], 404);

  await call('PATCH', storage, { cdn_domain: 'cdn.example.org' });
  t.is((await send('PUT', `${storage}/delivery`, { mode: 'public' })).status, 200);
  t.is(await link(), 'https://cdn.example.org/videos/film/master.m3u8');

  delete faults.get;
  await store('film/master.m3u8', master);
  t.is((await follow(url)).status, 200);
  clock.advance(20 * 60_000);
  t.is((await follow(url)).status, 404);
});

test('Many players of one playlist cost one read of the bucket, until its URLs change', async (t) => {
  // Given a stream
  const { call, follow, at, bucket, clock, store } = await given(t);
  const stream = urlOfStream(await call('POST', `${at}/media`, {}));
  const readsOf = async (times: number): Promise<readonly [reads: number, texts: number]> => {
    const before = bucket.requests.length;
    const replies = await Promise.all(Array.from({ length: times }, () => follow(stream)));
    t.true(replies.every(({ status }) => status === 200));
    return [bucket.requests.length - before, new Set(replies.map(({ text }) => text)).size];
  };
  // When players ask at once and later in the window, then the bucket is asked once
  t.deepEqual(await readsOf(20), [1, 1]);
  clock.advance(windowMs - 1_000);
  t.deepEqual(await readsOf(5), [0, 1]);
  // When the window ends, then it is asked again
  clock.advance(1_000);
  t.deepEqual(await readsOf(5), [1, 1]);
  // And a stream that is still being written is asked for after a second
  await store('film/master.m3u8', '#EXTM3U\n#EXTINF:6.0,\na.ts\n');
  clock.advance(windowMs);
  t.deepEqual(await readsOf(5), [1, 1]);
  clock.advance(1_000);
  t.deepEqual(await readsOf(5), [1, 1]);
});

test('Players of a bucket that does not answer wait for one read, and no place stays taken', async (t) => {
  // Given a stream in a bucket that is silent
  const { call, follow, at, faults, bucket, clock } = await given(t);
  const stream = urlOfStream(await call('POST', `${at}/media`, {}));
  faults.get = 'silent';
  // When many players ask for its playlist
  const before = bucket.requests.length;
  const replies = await Promise.all(Array.from({ length: 20 }, () => follow(stream)));
  // Then the bucket is asked once
  t.true(replies.every(({ status, text }) => status === 503 && text.includes('bucket_unavailable')));
  t.is(bucket.requests.length - before, 1);
  // And it is asked again after 5 s
  delete faults.get;
  t.is((await follow(stream)).status, 503);
  clock.advance(5_000);
  t.is((await follow(stream)).status, 200);
});
