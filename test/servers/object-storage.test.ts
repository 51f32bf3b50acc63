/*
 * Tests storages from binding a bucket to fetching media, through the service and on the server that S3_ENDPOINT,
 * S3_REGION, S3_ACCESS_KEY and S3_SECRET_KEY name. With the key pair, each test creates a bucket and deletes it.
 * S3_ALLOWED_CIDRS holds the server's address range when it is not public (default 127.0.0.0/8).
 *
 * In CI that server is OpenStack Swift with its s3api, which was not written for this project. It checks signatures
 * strictly: signature, region, expiry, method, host, every parameter, and signed headers.
 */
import { hash } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { realClock } from '../support/fakes/clock.js';
import { makeBucket, s3Server, type S3Server, type TestBucket } from '../support/servers/s3-server.js';
import { textOf } from '../support/clients/service-client.js';
import { givenStorageProject, type StorageProject } from '../support/given/storage-project.js';
import { suiteWith } from '../support/suite.js';

interface World extends StorageProject {
  readonly bucket: TestBucket;
  /** The correct configuration for the server. */
  readonly configuration: Readonly<Record<string, string>>;
  readonly credentials: { readonly access_key: string; readonly secret_key: string };
  readonly add: (asset: object) => Promise<string>;
  readonly upload: (asset: string, body: Buffer, changes?: Changes) => Promise<Response>;
  readonly link: (asset: string, request?: object) => Promise<URL>;
}

interface Changes {
  readonly rendition?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const minuteMs = 60_000;
const content = Buffer.from('The Rhine at dawn, all of it.\n');

const ask = (url: URL | string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(600_000) });

/**
 * Makes a project and a bucket.
 * @param clockMs the milliseconds by which the service's clock is ahead of the real one
 */
async function givenWorld(t: ExecutionContext, server: S3Server, clockMs = 0): Promise<World> {
  const clock = { ...realClock, now: () => new Date(Date.now() + clockMs) };
  const bucket = await makeBucket(t, server);
  const { allowedCidrs, endpoint, region, accessKey, secretKey } = server;
  const project = await givenStorageProject(t, { clock, allowedCidrs });
  const { path, send } = project;
  return {
    ...project,
    ...{ bucket, configuration: { endpoint, region, bucket: bucket.name } },
    credentials: { access_key: accessKey, secret_key: secretKey },
    add: async (asset) => {
      const request = { name: 'Rhine', media_type: 'video/mp4', size: content.length, ...asset };
      const reply = await send('POST', `${path}/assets`, request);
      t.is(reply.status, 201, reply.text);
      return `${path}/assets/${textOf(reply.json(), 'id')}`;
    },
    upload: async (asset, body, { rendition, headers = {} } = {}) => {
      const request = rendition === undefined ? {} : { rendition };
      const reply = await send('POST', `${asset}/upload-url`, request);
      t.is(reply.status, 200, reply.text);
      const { url, headers: signed } = reply.json() as { url: string; headers: Record<string, string> };
      // `fetch` sets the length of the body itself.
      const own = new Headers({ ...signed, ...headers });
      own.delete('content-length');
      return ask(url, { method: 'PUT', headers: own, body });
    },
    link: async (asset, request = {}) => {
      const reply = await send('POST', `${asset}/media`, { ...request });
      t.is(reply.status, 200, reply.text);
      const { media } = reply.json() as { media: { url: string }[] };
      return new URL(media[0]?.url ?? '');
    },
  };
}

/** Makes a world whose storage is active and is the default. */
async function givenStorage(t: ExecutionContext, server: S3Server): Promise<World> {
  const world = await givenWorld(t, server);
  const { configuration, credentials, bind, send, until } = world;
  const at = await bind({ ...configuration, credentials });
  t.is((await send('POST', `${at}/test`)).status, 202);
  await until(at, 'active', ({ is_default: isDefault }) => isDefault === true);
  return world;
}

const what =
  'The object storage suite runs when S3_ENDPOINT, S3_REGION, S3_ACCESS_KEY and S3_SECRET_KEY name a server';
suiteWith(test, s3Server, what, suite);

function suite(server: S3Server): void {
  test('An asset is uploaded as described, and fetched whole or in part with the signed headers', async (t) => {
    const { add, upload, link } = await givenStorage(t, server);
    const asset = await add({ name: 'Rhine "at" dawn – Köln', object_key: '2026/rhine.mp4' });
    t.is((await ask(await link(asset))).status, 404);
    t.is((await upload(asset, content.subarray(1))).status, 403, 'a size that differs from the description');
    t.is((await upload(asset, content, { headers: { 'content-type': 'text/html' } })).status, 403);
    t.is((await upload(asset, content)).status, 200);

    const url = await link(asset);
    const whole = await ask(url);
    t.is(whole.status, 200);
    t.deepEqual(Buffer.from(await whole.arrayBuffer()), content);
    t.is(whole.headers.get('content-type'), 'video/mp4');
    t.is(
      whole.headers.get('content-disposition'),
      `inline; filename="Rhine _at_ dawn _ K_ln.mp4"; filename*=UTF-8''Rhine%20%22at%22%20dawn%20%E2%80%93%20K%C3%B6ln.mp4`,
    );
    const part = await ask(url, { headers: { range: 'bytes=4-8' } });
    t.is(part.status, 206);
    t.is(await part.text(), 'Rhine');
    t.is(part.headers.get('content-range'), `bytes 4-8/${content.length}`);
    t.is(part.headers.get('content-type'), 'video/mp4');
    const saved = await ask(await link(asset, { disposition: 'attachment' }));
    t.regex(saved.headers.get('content-disposition') ?? '', /^attachment; /);
    await saved.arrayBuffer();
  });

  test('A share opens with its password, and its links serve the file, whole and in part, until it is revoked', async (t) => {
    const { path, add, upload, send, get } = await givenStorage(t, server);
    const asset = await add({ object_key: 'shared/rhine.mp4' });
    t.is((await upload(asset, content)).status, 200);
    const digest = hash('sha256', content);
    t.like((await send('POST', `${asset}/uploaded`, { sha256: digest })).json(), {
      upload: 'complete',
      object: { size: content.length, media_type: 'video/mp4', sha256: digest },
    });
    const terms = { password: 'open sesame', max_uses: 2, allow_download: false };
    const assetId = asset.split('/').at(-1) ?? '';
    const shared = await send('POST', `${path}/shares`, { asset_id: assetId, ...terms });
    t.is(shared.status, 201, shared.text);
    const verify = `/api/v1/shares/${textOf(shared.json(), 'token')}/verify`;
    t.is((await send('POST', verify, { password: 'wrong' })).status, 401);
    const opened = await send('POST', verify, { password: terms.password });
    t.is(opened.status, 200, opened.text);
    const { data } = opened.json() as { data: { media: { url: string }[]; share: JsonObject } };
    t.is(data.share['remaining_uses'], 1);
    const url = data.media[0]?.url ?? '';
    const whole = await ask(url);
    t.deepEqual(Buffer.from(await whole.arrayBuffer()), content);
    t.regex(whole.headers.get('content-disposition') ?? '', /^inline/);
    const part = await ask(url, { headers: { range: 'bytes=4-8' } });
    t.is(part.status, 206);
    t.is(await part.text(), 'Rhine');
    const shareId = textOf(shared.json(), 'id');
    const accesses = await get(`${path}/shares/${shareId}/accesses`);
    t.is((accesses.json()['items'] as JsonObject[]).length, 1);
    t.is((await send('DELETE', `${path}/shares/${shareId}`)).status, 204);
    t.is((await send('POST', verify, { password: terms.password })).status, 404);
  });

  test('A changed URL is refused', async (t) => {
    const { add, upload, link } = await givenStorage(t, server);
    const asset = await add({ object_key: 'rhine.mp4' });
    const other = await add({ object_key: 'ruhr.mp4' });
    for (const one of [asset, other]) t.is((await upload(one, content)).status, 200);
    const url = await link(asset);
    const changed = (change: (url: URL) => void): URL => {
      const copy = new URL(url);
      change(copy);
      return copy;
    };
    const tampered: Readonly<Record<string, URL>> = {
      type: changed(({ searchParams }) => searchParams.set('response-content-type', 'text/html')),
      'no type': changed(({ searchParams }) => searchParams.delete('response-content-type')),
      disposition: changed(({ searchParams }) => searchParams.set('response-content-disposition', 'inline')),
      'one parameter more': changed(({ searchParams }) => {
        searchParams.set('response-cache-control', 'no-store');
      }),
      life: changed(({ searchParams }) => searchParams.set('X-Amz-Expires', '604800')),
      signature: changed(({ searchParams }) => searchParams.set('X-Amz-Signature', '0'.repeat(64))),
      key: changed((copy) => {
        copy.pathname = copy.pathname.replace('rhine', 'ruhr');
      }),
      unsigned: changed((copy) => {
        copy.search = '';
      }),
    };
    for (const [what, to] of Object.entries(tampered)) {
      const reply = await ask(to);
      // Swift's S3 API answers 400 to a request without any signature.
      t.true(reply.status === 403 || (what === 'unsigned' && reply.status === 400), what);
      t.false((await reply.text()).includes(content.toString()), what);
    }
    const written = await ask(url, { method: 'PUT', body: 'changed' });
    t.is(written.status, 403);
    const removed = await ask(url, { method: 'DELETE' });
    t.is(removed.status, 403);
    t.is(await (await ask(url)).text(), content.toString());
  });

  const expiries: readonly (readonly [number, number, number])[] = [
    // A link lives 15 to 20 minutes, depending on the elapsed part of its window; an upload URL lives 15 minutes.
    [14, 200, 200],
    [21, 403, 403],
  ];
  for (const [minutes, fetched, stored] of expiries) {
    test(`A URL that was signed ${minutes} minutes ago answers ${fetched}`, async (t) => {
      const { bind, add, link, send, bucket, configuration, credentials } = await givenWorld(
        t,
        server,
        -minutes * minuteMs,
      );
      const at = await bind({ ...configuration, credentials });
      const asset = await add({ object_key: 'rhine.mp4', storage_id: at.split('/').at(-1) });
      await bucket.put('videos/rhine.mp4', content);
      t.is((await ask(await link(asset))).status, fetched);
      const upload = (await send('POST', `${asset}/upload-url`)).json();
      const headers = { 'content-type': 'video/mp4' };
      const reply = await ask(textOf(upload, 'url'), { method: 'PUT', headers, body: content });
      t.is(reply.status, stored);
    });
  }

  test('Keys and names with special characters work in URLs and in buckets', async (t) => {
    const { add, upload, link } = await givenStorage(t, server);
    for (const key of [
      "it's (a) *test*!",
      'a b+c%20d%2Fe&f=g#h?i;j,k:l@m$n',
      'ü/日本/😀/e\u0301.mp4',
      '~._-/...',
      `${'k'.repeat(200)}/${'ö'.repeat(100)}`,
    ]) {
      const asset = await add({ object_key: key, name: key.slice(0, 255) });
      t.is((await upload(asset, content)).status, 200, key);
      const reply = await ask(await link(asset));
      t.is(reply.status, 200, key);
      t.is(await reply.text(), content.toString());
    }
  });

  test('A rendition is uploaded under its kind, and an HTML page is served only as an attachment', async (t) => {
    const { add, upload, link, send } = await givenStorage(t, server);
    const asset = await add({
      object_key: 'page.html',
      media_type: 'text/html',
      renditions: [{ kind: 'preview', object_key: 'page.png', media_type: 'image/png', size: 8 }],
    });
    t.is((await upload(asset, content)).status, 200);
    t.is((await upload(asset, Buffer.from('an image'), { rendition: 'preview' })).status, 200);
    const page = await ask(await link(asset));
    t.regex(page.headers.get('content-disposition') ?? '', /^attachment; filename="Rhine.html"/);
    await page.arrayBuffer();
    const { media } = (await send('POST', `${asset}/media`, {})).json() as { media: { url: string }[] };
    const preview = await ask(media[1]?.url ?? '');
    t.is(await preview.text(), 'an image');
    t.is(preview.headers.get('content-type'), 'image/png');
  });

  const wrongs: readonly (readonly [string, string, (right: JsonObject) => JsonObject, number?])[] = [
    ['a wrong region', 'region_wrong', () => ({ region: 'eu-nowhere-9' })],
    [
      'a wrong secret',
      'signature_mismatch',
      () => ({ credentials: { access_key: server.accessKey, secret_key: 'not the secret' } }),
    ],
    ['a missing bucket', 'bucket_not_found', (right) => ({ bucket: `${textOf(right, 'bucket')}-not` })],
    ['a skewed clock', 'clock_skewed', () => ({}), 30 * minuteMs],
  ];
  for (const [what, code, wrongly, clockMs] of wrongs) {
    test(`The test of a storage reports ${what}`, async (t) => {
      const world = await givenWorld(t, server, clockMs);
      const { configuration, credentials, bind, send, until } = world;
      const at = await bind({ ...configuration, credentials, ...wrongly(configuration) });
      t.is((await send('POST', `${at}/test`)).status, 202);
      t.is(textOf(await until(at, 'failed'), 'last_error').split(':')[0], code);
    });
  }
}
