import { withoutFields } from '../../../../src/validation/fields.js';
import test, { type ExecutionContext } from 'ava';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { storageAggregate } from '../../../../src/areas/storages/domain/storage/storage.js';
import { appendEvents } from '../../../support/given/append-events.js';
import type { Answer } from '../../../support/clients/http-app.js';
import {
  givenOwnedProject,
  type Made,
  refuses,
  type OwnedProject,
} from '../../../support/given/project-over-http.js';
import { pluck } from '../../../support/given/pluck.js';

const request = {
  name: 'Rhine at dawn',
  object_key: '2026/rhine.mp4',
  media_type: 'video/mp4',
  size: 1_000,
  renditions: [{ kind: 'thumbnail', object_key: '2026/rhine.jpg', media_type: 'image/jpeg', size: 24 }],
};

/** An object belongs to one asset: each further asset of a test gets other keys. */
function requestOf(number: number) {
  if (number === 1) return request;
  const renditions = request.renditions.map((one) => ({ ...one, object_key: `${number}/${one.object_key}` }));
  return { ...request, object_key: `${number}/${request.object_key}`, renditions };
}

async function startWorld(t: ExecutionContext) {
  const world = await givenOwnedProject(t, {}, { base_path: 'videos' });
  const { make, storage_id } = world;
  let added = 0;
  return {
    ...world,
    add: (changes: object = {}) => make('assets', { ...requestOf((added += 1)), storage_id, ...changes }),
  };
}

/** Asserts that no request finds the asset at a path. */
async function missing(t: ExecutionContext, send: OwnedProject['send'], path: string): Promise<void> {
  for (const answer of [
    send('GET', path),
    send('DELETE', path),
    send('PATCH', path, { name: 'a' }),
    send('POST', `${path}/media`),
    send('POST', `${path}/upload-url`),
  ])
    await refuses(t, answer, '404 not_found');
}

test('An asset is added, read, listed, renamed and removed', async (t) => {
  const { at, send, storage_id, project, clock, get, owner } = await startWorld(t);
  const added = await send('POST', `${at}/assets`, {
    ...request,
    name: ' Rhine at dawn ',
    storage_id: storage_id.toUpperCase(),
  });
  const asset = added.json as Made;
  t.is(added.status, 201);
  t.deepEqual(asset, {
    ...{ id: asset.id, project_id: project, storage_id, ...request },
    ...{ upload: 'pending', object: null, differs: [], tags: [] },
    renditions: request.renditions.map((one) => ({ ...one, language: null })),
    created_at: clock.now().toISOString(),
    updated_at: clock.now().toISOString(),
  });
  const path = `${at}/assets/${asset.id}`;
  t.is(added.headers.get('location'), path);
  const tag = added.headers.get('etag') ?? '';
  t.regex(tag, /^"0-/);

  const read = await get(path, owner);
  t.deepEqual(read.json, asset);
  t.is(read.headers.get('etag'), tag);
  const other = await send('POST', `${at}/assets`, {
    ...requestOf(2),
    renditions: undefined,
    storage_id,
  });
  t.deepEqual((other.json as Made)['renditions'], []);
  const listed = (await get(`${at}/assets?limit=1`, owner)).json as { items: Made[]; next_cursor: string };
  t.is(listed.items.length, 1);
  const next = (await get(`${at}/assets?limit=1&cursor=${listed.next_cursor}`, owner)).json as {
    items: Made[];
  };
  t.deepEqual(
    [...listed.items, ...next.items].map(({ id }) => id).sort(),
    [asset.id, (other.json as Made).id].sort(),
  );

  const patch = (name: string, etag: string) => send('PATCH', path, { name }, { ...owner, 'if-match': etag });
  const renamed = await patch('Rhine at dusk', tag);
  t.like(renamed.json, { name: 'Rhine at dusk', object_key: request.object_key });
  await refuses(t, patch('Rhine at noon', tag), '412 precondition_failed');
  await refuses(t, send('DELETE', path, undefined, { ...owner, 'if-match': tag }), '412 precondition_failed');
  await refuses(t, send('PATCH', path, { name: ' ' }), '400 invalid_request');
  await refuses(t, send('PATCH', path, { name: 'a', object_key: 'b' }), '400 invalid_request');
  const removed = await send('DELETE', path, undefined, {
    ...owner,
    'if-match': renamed.headers.get('etag') ?? '',
  });
  t.is(removed.status, 204);
  await missing(t, send, path);
});

test('Renditions are put, replaced and removed after the asset was added, and count', async (t) => {
  const { add, at, send } = await startWorld(t);
  const { id } = await add({ renditions: [] });
  const path = `${at}/assets/${id}/renditions`;
  const file = (key: string, size: number) => ({ object_key: key, media_type: 'text/vtt', size });
  const used = async () => ((await send('GET', at)).json as { used_bytes: number }).used_bytes;
  const kinds = ({ json }: Answer) =>
    (json as never as { renditions: Made[] }).renditions.map(
      (one) => `${String(one['kind'])} ${String(one['language'])} ${String(one['size'])}`,
    );

  t.is((await send('PUT', `${path}/poster`, { ...file('a.jpg', 20), media_type: 'image/jpeg' })).status, 200);
  t.is((await send('PUT', `${path}/subtitles`, { ...file('de.vtt', 300), language: 'DE' })).status, 200);
  const put = await send('PUT', `${path}/subtitles`, { ...file('zh.vtt', 4_000), language: 'zh-hans' });
  t.deepEqual(kinds(put), ['poster null 20', 'subtitles de 300', 'subtitles zh-Hans 4000']);
  t.is(await used(), 1_000 + 4_320);
  // The same again changes nothing, and another file of the kind and language replaces it and frees its key.
  const again = await send('PUT', `${path}/subtitles`, { ...file('zh.vtt', 4_000), language: 'zh-Hans' });
  t.is(again.headers.get('etag'), put.headers.get('etag'));
  const replaced = await send('PUT', `${path}/subtitles`, { ...file('de-2.vtt', 100), language: 'de' });
  t.deepEqual(kinds(replaced), ['poster null 20', 'subtitles de 100', 'subtitles zh-Hans 4000']);
  t.is(await used(), 1_000 + 4_120);
  t.is((await send('PUT', `${path}/preview`, file('de.vtt', 0))).status, 200);

  const refused: readonly (readonly [kind: string, body: object, status: number])[] = [
    ['original', file('b', 1), 400],
    ['Poster', file('b', 1), 400],
    ['subtitles', file('b', 1), 400],
    ['subtitles', { ...file('b', 1), language: 'not a tag' }, 400],
    ['poster', { ...file('b', 1), language: 'de' }, 400],
    ['poster', { ...file('b', 1), object_key: 'a/../b' }, 400],
    ['poster', { object_key: 'b', media_type: 'a/b' }, 400],
    ['poster', file('b', 2 ** 41), 409],
  ];
  for (const [kind, body, status] of refused) {
    t.is((await send('PUT', `${path}/${kind}`, body)).status, status, JSON.stringify([kind, body]));
  }
  const other = await add();
  t.is(
    (await send('PUT', `${path}/poster`, file('2/2026/rhine.mp4', 1))).status,
    409,
    'another asset has it',
  );
  t.is((await send('PUT', `${at}/assets/${other.id}/renditions/hls`, file('de.vtt', 1))).status, 409);

  // Each language has its own upload URL and media URL.
  const url = (body: object) => send('POST', `${at}/assets/${id}/upload-url`, body);
  t.is((await url({ rendition: 'subtitles' })).status, 400, 'the language is missing');
  const upload = (await url({ rendition: 'subtitles', language: 'ZH-hans' })).json as Upload;
  t.is(new URL(upload.url).pathname, '/videos/zh.vtt');
  const { media } = (await send('POST', `${at}/assets/${id}/media`)).json as never as { media: Made[] };
  t.deepEqual(
    media.map((one) => [one['kind'], one['language']]),
    [
      ['original', undefined],
      ['poster', undefined],
      ['subtitles', 'de'],
      ['subtitles', 'zh-Hans'],
      ['preview', undefined],
    ],
  );

  const usedBefore = await used();
  t.is((await send('DELETE', `${path}/subtitles`)).status, 400, 'without a language');
  const removed = await send('DELETE', `${path}/subtitles?language=de`);
  t.deepEqual(kinds(removed), ['poster null 20', 'subtitles zh-Hans 4000', 'preview null 0']);
  t.is((await send('DELETE', `${path}/subtitles?language=de`)).status, 404);
  t.is(await used(), usedBefore - 100);
  // Removal frees the key at once.
  t.is((await send('PUT', `${at}/assets/${other.id}/renditions/hls`, file('de-2.vtt', 1))).status, 200);
});

test('An asset of another project does not exist', async (t) => {
  const { add, at, send, makeProject, owner } = await startWorld(t);
  const { id } = await add();
  const elsewhere = `/api/v1/projects/${await makeProject(owner)}/assets/${id}`;
  t.is((await send('GET', `${at}/assets/${id}`)).status, 200);
  await missing(t, send, elsewhere);
});

test('An asset without a given key has its id and its name as key, which no other asset gets', async (t) => {
  const { add, at, send, storage_id } = await startWorld(t);
  const own = { object_key: undefined, renditions: [] };
  const [one, other] = [await add({ ...own, name: ' a/Rhine ü ' }), await add({ ...own, name: 'a/Rhine ü' })];
  t.is(one['object_key'], `${one.id}/a/Rhine ü`);
  t.is(other['object_key'], `${other.id}/a/Rhine ü`);
  const file = { storage_id, name: 'Rhine', media_type: 'video/mp4', size: 1 };
  for (const object_key of [one['object_key'], other['object_key']]) {
    await refuses(t, send('POST', `${at}/assets`, { ...file, object_key }), '409 object_key_taken');
  }
  t.is((await send('POST', `${at}/assets`, { ...file, object_key: `${one.id}/b` })).status, 201);
  for (const name of ['..', '.', 'a/..', 'a/./b']) {
    const refused = await send('POST', `${at}/assets`, { ...file, name });
    t.is(refused.status, 400);
    t.regex((refused.json as { message: string }).message, /^name must not contain the segments/, name);
  }
});

test('An asset of another project, and a removed one, is 404 with any revision in If-Match', async (t) => {
  const { add, at, send, makeProject, owner } = await startWorld(t);
  const [{ id: kept }, { id: removed }] = [await add(), await add()];
  await send('DELETE', `${at}/assets/${removed}`);
  const elsewhere = `/api/v1/projects/${await makeProject(owner)}/assets/${kept}`;
  for (const path of [elsewhere, `${at}/assets/${removed}`]) {
    for (const tag of ['"0-aaaaaaaaaaaaaaaaaaaaaa"', '"7-x"']) {
      const headers = { ...owner, 'if-match': tag };
      await refuses(t, send('PATCH', path, { name: 'a' }, headers), '404 not_found');
      await refuses(t, send('DELETE', path, undefined, headers), '404 not_found');
    }
  }
});

test('An invalid asset is refused with the name of the field', async (t) => {
  const { at, send, storage_id, bind } = await startWorld(t);
  const cos = await bind({
    ...{ provider: 'cos', bucket: 'rivers-1250000000', region: 'ap-beijing', base_path: '' },
    credentials: { secret_id: 'canary-id', secret_key: 'canary-secret' },
  });
  const rendition = { kind: 'original', object_key: 'a', media_type: 'a/b', size: 1 };
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ object_key: 'a/../b' }, /^object_key /],
    [{ media_type: 'mp4' }, /^media_type /],
    [{ size: -1 }, /^size /],
    [{ size: 1.5 }, /^size /],
    [{ size: 5_497_558_138_881 }, /^size /],
    [{ name: '' }, /^name /],
    [{ storage_id: 'x' }, /^storage_id /],
    [{ renditions: [rendition] }, /^renditions\.0\.kind /],
    [{ kind: 'video' }, /kind/],
    // 1,024 bytes including the prefix `videos/`.
    [{ object_key: 'k'.repeat(1_018) }, /^object_key must be at most 1017 bytes/],
    [{ storage_id: cos, object_key: 'k'.repeat(851) }, /^object_key must be at most 850 bytes/],
  ];
  for (const [changes, message] of refused) {
    const answer = await send('POST', `${at}/assets`, { ...request, storage_id, ...changes });
    await refuses(t, answer, '400 invalid_request');
    t.regex((answer.json as { message: string }).message, message);
  }
});

test('An asset is stored in the named storage or in the default one', async (t) => {
  const { at, send, storage_id, bind, stores, owner, makeProject } = await startWorld(t);
  const addTo = (id?: string) => send('POST', `${at}/assets`, { ...request, storage_id: id });
  await refuses(t, addTo(), '409 conflict');
  const testId = '019b7d00-0000-7000-8000-0000000000aa';
  await appendEvents(
    stores.handler,
    { aggregate: storageAggregate, id: storage_id },
    [
      { type: 'StorageTestStarted', data: { test_id: testId, candidate: null } },
      { type: 'StorageTestSucceeded', data: { test_id: testId, warnings: [] } },
    ],
    stores.clock.now(),
  );
  t.is((await send('POST', `${at}/storages/${storage_id}/default`)).status, 200);
  t.like((await addTo()).json, { storage_id });
  const kept = await send('DELETE', `${at}/storages/${storage_id}`);
  await refuses(t, kept, '409 conflict');
  t.regex((kept.json as { message: string }).message, /assets are kept/);
  const pending = await bind();
  t.like((await addTo(pending)).json, { storage_id: pending });

  t.is((await send('POST', `${at}/storages/${pending}/disable`)).status, 200);
  const otherProjects = await bind({}, `/api/v1/projects/${await makeProject(owner)}`);
  for (const unusable of [pending, otherProjects, '019b7d00-0000-7000-8000-0000000000bb']) {
    const answer = await addTo(unusable);
    await refuses(t, answer, '409 conflict');
    t.regex(
      (answer.json as { message: string }).message,
      /^storage_id names no storage|^the storage is disabled/,
    );
  }
  t.is((await send('POST', `${at}/storages/${storage_id}/disable`)).status, 200);
  await refuses(t, addTo(), '409 conflict');
  // The default storage is deleted last; a deleted default counts as none.
  const { handler, clock } = stores;
  const target = { aggregate: storageAggregate, id: storage_id };
  await appendEvents(handler, target, [{ type: 'StorageDeleted', data: {} }], clock.now());
  const answer = await addTo();
  await refuses(t, answer, '409 conflict');
  t.regex((answer.json as { message: string }).message, /no default storage/);
});

interface Upload {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expires_at: string;
}

test('An upload URL is signed for 15 minutes, with type and size pinned', async (t) => {
  const { add, at, send, clock, bind } = await startWorld(t);
  const { id } = await add();
  const upload = (await send('POST', `${at}/assets/${id}/upload-url`)).json as Upload;
  const headers = { 'content-type': 'video/mp4', 'content-length': '1000' };
  t.like(upload, { method: 'PUT', headers });
  t.is(Date.parse(upload.expires_at), clock.now().getTime() + 900_000);
  const url = new URL(upload.url);
  t.is(url.origin, 'https://rivers.s3.eu-west-1.amazonaws.com');
  t.is(url.pathname, '/videos/2026/rhine.mp4');
  t.is(url.searchParams.get('X-Amz-SignedHeaders'), 'content-length;content-type;host');
  t.is(url.searchParams.get('X-Amz-Expires'), '900');

  const thumbnail = await send('POST', `${at}/assets/${id}/upload-url`, { rendition: 'thumbnail' });
  t.deepEqual((thumbnail.json as Upload).headers, { 'content-type': 'image/jpeg', 'content-length': '24' });
  const signed = new URL((thumbnail.json as Upload).url).searchParams;
  t.is(signed.get('X-Amz-SignedHeaders'), 'content-length;content-type;host');
  t.is(new URL((thumbnail.json as Upload).url).pathname, '/videos/2026/rhine.jpg');
  t.is(thumbnail.headers.get('cache-control'), 'no-store');
  t.is((await send('POST', `${at}/assets/${id}/upload-url`, { rendition: 'original' })).status, 200);
  await refuses(
    t,
    send('POST', `${at}/assets/${id}/upload-url`, { rendition: 'poster' }),
    '400 invalid_request',
  );

  const oss = await bind({
    provider: 'oss',
    region: 'cn-hangzhou',
    endpoint: 'https://oss-cn-hangzhou-internal.aliyuncs.com',
  });
  const kept = await add({ storage_id: oss });
  const answer = await send('POST', `${at}/assets/${kept.id}/upload-url`);
  const there = new URL((answer.json as Upload).url);
  t.is(there.host, 'rivers.oss-cn-hangzhou.aliyuncs.com');
  t.is(there.searchParams.get('x-oss-additional-headers'), 'content-length;host');
  const cos = await bind({
    ...{ provider: 'cos', bucket: 'rivers-1250000000', region: 'ap-beijing' },
    credentials: { secret_id: 'canary-id', secret_key: 'canary-secret' },
  });
  const inCos = await add({ storage_id: cos });
  const cosUrl = new URL(((await send('POST', `${at}/assets/${inCos.id}/upload-url`)).json as Upload).url);
  t.is(cosUrl.searchParams.get('q-header-list'), 'content-length;content-type;host');
});

test('A file that is too large for one request gets no upload URL', async (t) => {
  const { add, at, send, get, owner, stores, clock } = await startWorld(t);
  const { data } = (await get('/api/v1/auth/me', owner)).json as { data: { id: string } };
  const granted = { type: 'CapacityGranted', data: { source: 'operator', bytes: 2 ** 40 } } as const;
  await appendEvents(stores.handler, { aggregate: userAggregate, id: data.id }, [granted], clock.now());
  const size = 5 * 2 ** 30 + 1;
  const preview = { kind: 'preview', object_key: 'a', media_type: 'image/png', size };
  const { id } = await add({ size, renditions: [preview] });
  for (const body of [undefined, { rendition: 'preview' }]) {
    await refuses(t, send('POST', `${at}/assets/${id}/upload-url`, body), '409 conflict');
  }
});

test('Members get URLs of all files, to show or to save', async (t) => {
  const { add, at, send, commands, stores, signUp, project } = await startWorld(t);
  const { id } = await add({ name: 'Zürich' });
  const media = async (json?: unknown) => {
    const answer = await send('POST', `${at}/assets/${id}/media`, json);
    t.is(answer.status, 200, answer.text);
    t.is(answer.headers.get('cache-control'), 'no-store');
    return (answer.json as { media: { kind: string; url: string }[] }).media;
  };
  const links = await media();
  t.deepEqual(pluck(links, 'kind'), ['original', 'thumbnail']);
  const shown = new URL(links[0]?.url ?? '').searchParams;
  t.is(shown.get('response-content-type'), 'video/mp4');
  t.is(
    shown.get('response-content-disposition'),
    `inline; filename="Z_rich.mp4"; filename*=UTF-8''Z%C3%BCrich.mp4`,
  );
  const saved = await media({ disposition: 'attachment' });
  t.regex(
    new URL(saved[0]?.url ?? '').searchParams.get('response-content-disposition') ?? '',
    /^attachment; /,
  );
  await refuses(t, send('POST', `${at}/assets/${id}/media`, { disposition: 'x' }), '400 invalid_request');
  t.false(JSON.stringify(links).includes('canary-secret'));

  const stranger = await signUp('stranger');
  await refuses(t, send('POST', `${at}/assets/${id}/media`, undefined, stranger), '404 not_found');
  // Neither a disabled nor a deleted storage serves media.
  const asset = await commands.assets.find(project, id);
  const storageId = asset?.resource.storage_id ?? '';
  for (const change of ['disable', 'enable'] as const) {
    await send('POST', `${at}/storages/${storageId}/${change}`);
    const expected = change === 'disable' ? [409, 409] : [200, 200];
    const answers = [
      await send('POST', `${at}/assets/${id}/media`),
      await send('POST', `${at}/assets/${id}/upload-url`),
    ];
    t.deepEqual(pluck(answers, 'status'), expected);
  }
  const target = { aggregate: storageAggregate, id: storageId };
  await appendEvents(stores.handler, target, [{ type: 'StorageDeleted', data: {} }], stores.clock.now());
  await refuses(t, send('POST', `${at}/assets/${id}/media`), '409 conflict');
});

test('A repeated addition of an asset that was removed since is 409', async (t) => {
  // No reply is kept, as after a crash.
  const lost = () => Promise.reject(new Error('the store is away'));
  const world = await givenOwnedProject(t, { replySealer: { seal: lost, open: lost } });
  const { at, owner, storage_id, post, send } = world;
  const file = withoutFields(request, ['renditions']);
  for (const query of ['', '?object=delete']) {
    const headers = { ...owner, 'idempotency-key': `add${query}` };
    const added = await post(`${at}/assets`, { ...file, storage_id }, headers);
    t.is(added.status, 201, added.text);
    t.is((await send('DELETE', `${at}/assets/${(added.json as Made).id}${query}`)).status, 204);
    await refuses(t, post(`${at}/assets`, { ...file, storage_id }, headers), '409 conflict');
  }
});

test('A change of an asset that has changed since is 412, also where it would be refused', async (t) => {
  const { at, send, addAsset, owner, storage_id } = await givenOwnedProject(t);
  const added = await addAsset();
  const path = `${at}/assets/${(added.json as Made).id}`;
  const stale = { ...owner, 'if-match': added.headers.get('etag') ?? '' };
  t.is((await send('PATCH', path, { name: 'Elbe' })).status, 200);
  const huge = { object_key: 'a.jpg', media_type: 'image/jpeg', size: 2 ** 42 };
  const failed = '412 precondition_failed';
  await refuses(t, send('PATCH', path, { size: 2 ** 42 }, stale), failed);
  await refuses(t, send('PUT', `${path}/renditions/poster`, huge, stale), failed);
  t.is((await send('POST', `${at}/storages/${storage_id}/disable`, {})).status, 200);
  await refuses(t, send('PUT', `${path}/renditions/poster`, huge, stale), failed);
});

test('A rendition that is too large for one request is not sent to uploads in parts', async (t) => {
  const service = await givenOwnedProject(t);
  const owner = { aggregate: userAggregate, id: await service.verify('owner') };
  const granted = { type: 'CapacityGranted', data: { source: 'operator', bytes: 2 ** 43 } } as const;
  await appendEvents(service.stores.handler, owner, [granted], service.clock.now());
  const preview = { kind: 'preview', object_key: 'p', media_type: 'video/mp4', size: 2 ** 33 };
  const { id } = (await service.addAsset({ renditions: [preview] })).json as Made;
  const asset = `${service.at}/assets/${id}`;
  const answer = await service.send('POST', `${asset}/upload-url`, { rendition: 'preview' });
  await refuses(t, answer, '409 conflict');
  t.notRegex(answer.text, /in parts/);
});
