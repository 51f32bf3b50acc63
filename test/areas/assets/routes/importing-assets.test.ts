import test, { type ExecutionContext } from 'ava';
import { setTimeout } from 'node:timers/promises';
import type { ReadModelStore } from '../../../../src/event-sourcing/ports/read-model-store.js';
import {
  type ListedObject,
  type ListObjects,
  makeListObjects,
} from '../../../../src/areas/storages/bucket/objects/list-objects.js';
import { makeHeadObject } from '../../../../src/areas/storages/bucket/objects/head-object.js';
import type { OutgoingHttp } from '../../../../src/outgoing/outgoing-http.js';
import { aroundCalls } from '../../../support/fakes/around-calls.js';
import { countingReads } from '../../../support/clients/counting-reads.js';
import { givenOwnedProject } from '../../../support/given/project-over-http.js';
import type { BucketCalls } from '../../../support/given/given-commands.js';

interface Imported {
  readonly added: readonly {
    readonly object_key: string;
    readonly name: string;
    readonly media_type: string;
  }[];
  readonly skipped: readonly { readonly object_key: string; readonly reason: string }[];
  readonly next_cursor: string | null;
}

const listed = (key: string, size = 1): ListedObject => ({
  ...{ text: key, readings: [key], isSure: true, size, entity_tag: `tag of ${key}` },
});

/** Given a bucket that is bound to a project, and the import of its objects. */
async function start(t: ExecutionContext, buckets: Partial<BucketCalls>, base_path = '', more = {}) {
  const world = await givenOwnedProject(t, { buckets, ...more }, { base_path });
  const { at, owner, storage_id, post } = world;
  const ask = (body: object = {}, of = at) => post(`${of}/assets/import`, { storage_id, ...body }, owner);
  return { ...world, ask };
}

test('A bucket becomes assets page by page, and a repeated page adds nothing twice', async (t) => {
  // Given a bucket with files, folders and keys that no asset can have
  const objects = [
    { key: 'videos/2026/', size: 0 },
    { key: 'videos/2026/Rhine at dawn.MOV', size: 5 },
    { key: 'videos/2026/a\u0007.mp4', size: 1 },
    { key: 'videos/2026/notes', size: 2 },
    { key: 'videos/2026/ ', size: 2 },
    { key: 'videos/../b.mp4', size: 2 },
    { key: 'videos/huge.mp4', size: 2 ** 31 },
    { key: 'videos/河/雨.webp', size: 7 },
    { key: 'videos/z.vtt', size: 1 },
  ];
  let listing: 'works' | 'denied' | 'away' = 'works';
  const listObjects: ListObjects = ({ prefix, token, limit }) => {
    if (listing === 'away') return Promise.resolve({ kind: 'away' });
    if (listing === 'denied') {
      return Promise.resolve({ kind: 'refused', failure: { code: 'list_denied', hint: null } });
    }
    const found = objects.filter(({ key }) => key.startsWith(prefix));
    const from = Number(token);
    const page = found.slice(from, from + limit).map(({ key, size }) => listed(key, size));
    return Promise.resolve({
      kind: 'listed',
      objects: page,
      next: found.length > from + limit ? String(from + limit) : null,
    });
  };
  const { owner, storage_id, make, makeProject, ask } = await start(t, { listObjects }, 'videos');
  const page = async (body: object = {}): Promise<Imported> => {
    const reply = await ask(body);
    t.is(reply.status, 200, reply.text);
    return reply.json as Imported;
  };
  await make('assets', {
    ...{ storage_id, name: 'Notes', object_key: '2026/notes', media_type: 'text/plain', size: 2 },
  });

  // When its pages are imported, then each object that can be an asset is one, and the others have a reason
  const added: Imported['added'][number][] = [];
  const skipped: Imported['skipped'][number][] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const got: Imported = await page({ prefix: '2026', limit: 2, ...(cursor === null ? {} : { cursor }) });
    added.push(...got.added);
    skipped.push(...got.skipped);
    cursor = got.next_cursor;
    pages += 1;
  } while (cursor !== null);
  t.is(pages, 3);
  t.like(added, [
    {
      ...{ object_key: '2026/Rhine at dawn.MOV', name: 'Rhine at dawn.MOV', media_type: 'video/quicktime' },
      ...{
        size: 5,
        upload: 'complete',
        object: { size: 5, entity_tag: 'tag of videos/2026/Rhine at dawn.MOV' },
      },
    },
  ]);
  t.is(added.length, 1);
  t.deepEqual(
    new Map(skipped.map(({ object_key, reason }) => [object_key, reason])),
    new Map([
      ['2026/', 'not_a_file'],
      ['2026/a\u0007.mp4', 'key_not_possible'],
      ['2026/notes', 'already_an_asset'],
      ['2026/ ', 'name_not_possible'],
    ]),
  );

  // When the capacity ends, then the page stops, and says how many it added
  const full = await ask({});
  t.is(full.status, 409);
  t.like(full.json, { code: 'capacity_exceeded' });
  t.regex((full.json as { message: string }).message, /^0 objects of this page were added/);
  objects.splice(
    objects.findIndex(({ key }) => key === 'videos/huge.mp4'),
    1,
  );

  // And a repeated page adds only what is new
  const rest = await page();
  t.deepEqual(
    rest.added.map(({ object_key, media_type }) => `${object_key} ${media_type}`),
    ['河/雨.webp image/webp', 'z.vtt text/vtt'],
  );
  t.is(rest.next_cursor, null);
  t.deepEqual((await page()).added, []);
  const [one, other] = await Promise.all([page(), page()]);
  t.deepEqual([...one.added, ...other.added], []);

  // And a bucket that does not list says why
  listing = 'denied';
  const denied = await ask({});
  t.is(denied.status, 409);
  t.regex((denied.json as { message: string }).message, /^list_denied: /);
  listing = 'away';
  t.is((await ask({})).status, 503);
  for (const bad of [
    { limit: 201 },
    { limit: 0 },
    { cursor: '!' },
    { cursor: Buffer.from([255]).toString('base64url') },
    { cursor: Buffer.from('["a",null,null,0,1]').toString('base64url') },
    { cursor: Buffer.from(String.raw`["\ud800",null,null,1,1]`).toString('base64url') },
  ]) {
    t.is((await ask(bad)).status, 400, JSON.stringify(bad));
  }
  t.is((await ask({}, `/api/v1/projects/${await makeProject(owner)}`)).status, 409);
});

test('Two imports of a bucket at once make one asset of each object', async (t) => {
  const objects = Array.from({ length: 30 }, (_, index) => listed(`${String(index).padStart(2, '0')}.mp4`));
  const { ask } = await start(t, {
    listObjects: () => Promise.resolve({ kind: 'listed', objects, next: null }),
  });
  const replies = await Promise.all([ask(), ask()]);
  const pages = replies.map(({ json }) => json as Imported);
  t.deepEqual(
    pages.map(({ added, skipped }) => added.length + skipped.length),
    [30, 30],
  );
  t.is(
    pages.reduce((sum, { added }) => sum + added.length, 0),
    30,
  );
  t.true(pages.every(({ skipped }) => skipped.every(({ reason }) => reason === 'already_an_asset')));
});

interface Bucket {
  readonly title: string;
  /** The content of the list that the bucket gives for a token; `''` is the first page. */
  readonly pages: Readonly<Record<string, string>>;
  /** The keys that HEAD finds. */
  readonly heads?: readonly string[];
  /** For each call until the import ends: what was added, and each skipped text with its reason. */
  readonly calls: readonly (readonly string[] | 'list_unusable' | 'list_unreadable' | 'cursor_expired')[];
  readonly limit?: number;
}

const has = (...keys: readonly string[]) =>
  keys.map((key) => `<Contents><Key>${key}</Key><Size>5</Size></Contents>`).join('');
const cut = (token: string) =>
  `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`;
const whole = '<IsTruncated>false</IsTruncated>';
const known = (keys: readonly string[]) => keys.map((key) => `${key} known`);
const encoded = '<EncodingType>url</EncodingType>';

const buckets: readonly Bucket[] = [
  {
    title: 'lists folders before the files beside them',
    pages: { '': whole + has('a/x.jpg', 'a-b.jpg') },
    calls: [['a/x.jpg', 'a-b.jpg']],
  },
  {
    title: 'gives an empty page before the last one',
    pages: { '': cut('t1'), t1: whole + has('b.jpg') },
    calls: [[], ['b.jpg']],
  },
  {
    title: 'lists more than it was asked for',
    pages: { '': cut('t1') + has('a', 'b', 'c'), t1: whole },
    calls: [['a', 'b'], ['c'], []],
    limit: 2,
  },
  {
    title: 'lists an object twice, and more than it was asked for',
    pages: { '': whole + has('a', 'a', 'b') },
    calls: [['a'], ['b']],
    limit: 1,
  },
  {
    title: 'encodes keys, one of them in Latin-1',
    pages: { '': whole + encoded + has('a.jpg', 'Zo%EB.jpg', 'z.jpg') },
    calls: [['a.jpg', 'z.jpg', 'Zo%EB.jpg key_not_possible']],
  },
  {
    title: 'encodes keys and does not say so',
    pages: { '': whole + has('caf%C3%A9+1.jpg', 'caf&#233;.jpg') },
    heads: ['café+1.jpg'],
    calls: [['café+1.jpg', 'café.jpg']],
  },
  {
    title: 'says that it encodes keys, and leaves some as they are',
    pages: { '': whole + encoded + has('a+b', 'c%2520', 'd%3B') },
    heads: ['a+b', 'c%2520'],
    calls: [['a+b', 'c%2520', 'd; key_unconfirmed']],
  },
  {
    title: 'ignores tokens',
    pages: { '': cut('t1') + has('a'), t1: cut('t1') + has('a') },
    calls: [['a'], 'list_unusable'],
  },
  {
    title: 'gives its tokens in a circle',
    pages: {
      '': cut('t1') + has('a'),
      ...{ t1: cut('t2') + has('b'), t2: cut('t3') + has('a'), t3: cut('t1') + has('a', 'b') },
    },
    calls: [['a'], ['b'], ...[['a'], ['a', 'b'], ['b'], ['a'], ['a', 'b']].map(known), 'list_unusable'],
  },
  {
    title: 'forgets its tokens',
    pages: { '': cut('t1') + has('a') },
    calls: [['a'], 'cursor_expired'],
  },
];

for (const { title, pages, heads = [], calls, limit = 100 } of buckets) {
  test(`An import goes through a bucket that ${title}`, async (t) => {
    const http: OutgoingHttp = ({ method, url }) => {
      const { pathname, searchParams } = new URL(url);
      const reply = (status: number, body: string, headers = {}) =>
        Promise.resolve({ status, headers, body: Buffer.from(body) });
      if (method === 'HEAD') {
        const isThere = heads.includes(decodeURIComponent(pathname.slice(1)));
        return reply(isThere ? 200 : 404, '', { 'content-length': '5', etag: '"a-tag"' });
      }
      const page = pages[searchParams.get('continuation-token') ?? ''];
      return page === undefined
        ? reply(400, '<Error><Code>InvalidArgument</Code></Error>')
        : reply(200, `<ListBucketResult>${page}</ListBucketResult>`);
    };
    const deps = { http, now: () => new Date('2026-11-23T03:00:00Z') };
    const listObjects = makeListObjects(deps);
    const { ask } = await start(t, { listObjects, headObject: makeHeadObject(deps) });
    let cursor: string | null = null;
    for (const [index, expected] of calls.entries()) {
      t.is(cursor === null, index === 0);
      const reply = await ask({ limit, ...(cursor === null ? {} : { cursor }) });
      if (typeof expected === 'string') {
        const code = expected === 'cursor_expired' ? expected : 'conflict';
        t.like(reply, { status: 409, json: { code } });
        t.is((reply.json as { message: string }).message.startsWith(`${expected}: `), code === 'conflict');
        return;
      }
      t.is(reply.status, 200, reply.text);
      const { added, skipped, next_cursor } = reply.json as Imported;
      const words = skipped.map(
        ({ object_key, reason }) => `${object_key} ${reason.replace('already_an_asset', 'known')}`,
      );
      t.deepEqual([...added.map(({ object_key }) => object_key), ...words], [...expected]);
      cursor = next_cursor;
    }
    t.is(cursor, null);
  });
}

test('An import of known objects costs one call that returns their assets', async (t) => {
  const objects = Array.from({ length: 200 }, (_, index) => listed(`${String(index).padStart(3, '0')}.mp4`));
  const { wrapDocuments, costOf } = countingReads();
  const listObjects: ListObjects = ({ limit }) =>
    Promise.resolve({ kind: 'listed', objects: objects.slice(0, limit), next: null });
  const more = { storeOptions: { wrapDocuments } };
  const { at, send, ask } = await start(t, { listObjects }, '', more);
  const page = (limit: number) => ask({ limit });
  t.is(((await page(200)).json as Imported).added.length, 200);

  const [one, all] = [await costOf(() => page(1)), await costOf(() => page(200))];
  t.deepEqual({ calls: all.calls - one.calls, read: all.read - one.read }, { calls: 0, read: 199 });
  const removed = await send('GET', `${at}/assets?limit=1`);
  const [asset] = (removed.json as { items: readonly { id: string; object_key: string }[] }).items;
  t.is((await send('DELETE', `${at}/assets/${asset?.id}?object=delete`)).status, 204);
  const { skipped } = (await page(200)).json as Imported;
  const reasons = new Map(skipped.map(({ object_key, reason }) => [object_key, reason]));
  t.is(reasons.get(String(asset?.object_key)), 'being_deleted');
  t.is(skipped.filter(({ reason }) => reason === 'already_an_asset').length, 199);
});

test('An import of known objects with encoded keys asks the bucket for its list only', async (t) => {
  let heads = 0;
  const text = encodeURIComponent('河.webp');
  const page = `<ListBucketResult><IsTruncated>false</IsTruncated><EncodingType>url</EncodingType><Contents><Key>${text}</Key><Size>5</Size><ETag>"a-tag"</ETag></Contents></ListBucketResult>`;
  const http: OutgoingHttp = ({ method }) => {
    const isHead = method === 'HEAD';
    if (isHead) heads += 1;
    const headers = isHead ? { 'content-length': '5', etag: '"a-tag"' } : {};
    return Promise.resolve({ status: 200, headers, body: Buffer.from(isHead ? '' : page) });
  };
  const deps = { http, now: () => new Date('2026-11-23T03:00:00Z') };
  const buckets = { listObjects: makeListObjects(deps), headObject: makeHeadObject(deps) };
  const { ask } = await start(t, buckets);
  const first = (await ask()).json as Imported;
  t.deepEqual(
    first.added.map(({ object_key }) => object_key),
    ['河.webp'],
  );
  heads = 0;
  const again = (await ask()).json as Imported;
  t.deepEqual(again.skipped, [{ object_key: '河.webp', reason: 'already_an_asset' }]);
  t.is(heads, 0);
});

test('An import tells two equal files apart whose keys differ in a space and a plus sign', async (t) => {
  // Given a bucket that encodes keys, with the equal files `a b` and `a+b`, of which `a+b` is an asset
  let texts = ['a%2Bb'];
  const contents = (text: string) =>
    `<Contents><Key>${text}</Key><Size>5</Size><ETag>"a-tag"</ETag></Contents>`;
  const http: OutgoingHttp = ({ method, url }) => {
    const isHead = method === 'HEAD';
    const isThere = !isHead || ['/a%20b', '/a%2Bb'].includes(new URL(url).pathname);
    const list = `<ListBucketResult>${whole}${encoded}${texts.map(contents).join('')}</ListBucketResult>`;
    const headers = isHead ? { 'content-length': '5', etag: '"a-tag"' } : {};
    return Promise.resolve({ status: isThere ? 200 : 404, headers, body: Buffer.from(isHead ? '' : list) });
  };
  const deps = { http, now: () => new Date('2026-11-23T03:00:00Z') };
  const { ask } = await start(t, { listObjects: makeListObjects(deps), headObject: makeHeadObject(deps) });
  t.is(((await ask()).json as Imported).added.length, 1);
  // When both are imported
  texts = ['a+b', 'a%2Bb'];
  const { added, skipped } = (await ask()).json as Imported;
  // Then `a b` becomes an asset
  t.deepEqual(
    added.map(({ object_key }) => object_key),
    ['a b'],
  );
  t.deepEqual(skipped, [{ object_key: 'a+b', reason: 'already_an_asset' }]);
});

test('An import whose time is up before its first file reads one file, and skips none', async (t) => {
  // Given three files, and a store that answers only after the time of an import
  const objects = ['a.mp4', 'b.mp4', 'c.mp4'].map((key) => listed(key));
  const listObjects: ListObjects = () => Promise.resolve({ kind: 'listed', objects, next: null });
  const wrapDocuments = (store: ReadModelStore) =>
    aroundCalls(store, async (_name, run) => {
      await setTimeout(5);
      return run();
    });
  const { ask } = await start(t, { listObjects, importMs: 0 }, '', { storeOptions: { wrapDocuments } });

  // When the import is repeated with its cursor
  const added: (readonly string[])[] = [];
  let cursor: string | null = null;
  do {
    const reply = await ask(cursor === null ? {} : { cursor });
    t.is(reply.status, 200, reply.text);
    const page = reply.json as Imported;
    added.push(page.added.map(({ object_key }) => object_key));
    cursor = page.next_cursor;
  } while (cursor !== null);

  // Then each file is an asset
  t.deepEqual(added, [['a.mp4'], ['b.mp4'], ['c.mp4']]);
});

test('An imported file has the media type of its ending, and none of its whole name', async (t) => {
  const objects = ['mp4', 'film.mp4', 'a/mp4'].map((key) => listed(key));
  const { ask } = await start(t, {
    listObjects: () => Promise.resolve({ kind: 'listed', objects, next: null }),
  });
  const { added } = (await ask()).json as Imported;
  t.deepEqual(
    added.map(({ media_type }) => media_type),
    ['application/octet-stream', 'video/mp4', 'application/octet-stream'],
  );
});

test('An import names a storage of another project as one that does not exist', async (t) => {
  const { at, storage_id, send, signUp, makeProject, post } = await start(t, {});
  const other = await signUp('other');
  const foreign = `/api/v1/projects/${await makeProject(other)}`;
  const asked = async (id: string) =>
    (await post(`${foreign}/assets/import`, { storage_id: id }, other)).json;
  const unknown = await asked('019b7d00-0000-7000-8000-000000000001');
  t.deepEqual(await asked(storage_id), unknown);
  t.is((await send('POST', `${at}/storages/${storage_id}/disable`, {})).status, 200);
  t.deepEqual(await asked(storage_id), unknown);
});
