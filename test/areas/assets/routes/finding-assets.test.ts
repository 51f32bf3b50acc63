import test, { type ExecutionContext } from 'ava';
import { textOf } from '../../../support/clients/service-client.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { pluck } from '../../../support/given/pluck.js';
import { givenOwnedProject, refuses } from '../../../support/given/project-over-http.js';

interface Listed {
  readonly items: readonly { readonly id: string; readonly name: string; readonly tags: readonly string[] }[];
  readonly next_cursor: string | null;
}

const files = [
  { name: 'Rhine at dawn', media_type: 'video/mp4', size: 30, tags: ['rivers', 'Köln'] },
  { name: 'IMG_4711 RhineDusk.jpg', media_type: 'image/jpeg', size: 50_000_000, tags: ['rivers'] },
  { name: 'Élbe, früh', media_type: 'image/PNG ; charset=x', size: 7, tags: [] },
  { name: '莱茵河的黎明', media_type: 'video/webm', size: 8, tags: ['KÖLN'] },
  { name: 'atlas', media_type: 'application/pdf', size: 100, tags: [] },
];

async function start(t: ExecutionContext) {
  const world = await givenOwnedProject(t);
  const { at, owner, storage_id, get, post } = world;
  const foreign = `/api/v1/projects/${await world.makeProject(owner)}`;
  const add = (file: object, path = at) => post(`${path}/assets`, file, owner);
  const list = async (query: string) => {
    const answer = await get(`${at}/assets${query}`, owner);
    t.is(answer.status, 200, answer.text);
    return answer.json as Listed;
  };
  const names = async (query: string) => pluck((await list(query)).items, 'name');
  return { ...world, foreign, foreignStorage: await world.bind({}, foreign), storage_id, add, list, names };
}

test('Assets are found by words, type, tag, time and upload, all at once, in each order and in pages', async (t) => {
  const { clock, at, foreign, storage_id, foreignStorage, add, list, names, get, owner, ask } =
    await start(t);
  const ids: string[] = [];
  for (const [index, file] of files.entries()) {
    clock.advance(1_000);
    const added = await add({ ...file, object_key: `own/${index}`, storage_id });
    t.is(added.status, 201, added.text);
    ids.push(textOf(added.json as never, 'id'));
    await add({ ...file, object_key: `own/${index}`, storage_id: foreignStorage }, foreign);
  }
  const [dawn, dusk, elbe, dusky, atlas] = pluck(files, 'name');

  const found: Readonly<Record<string, readonly (string | undefined)[]>> = {
    '': [atlas, dusky, elbe, dusk, dawn],
    '?q=rhine': [dusk, dawn],
    '?q=RHI+daw': [dawn],
    '?q=rhinedusk': [dusk],
    '?q=dusk': [dusk],
    '?q=4711': [dusk],
    '?q=img4711': [],
    '?q=img_4711': [dusk],
    '?q=hine': [],
    '?q=elbe+FRUH': [elbe],
    '?q=at': [atlas, dawn],
    [`?q=${encodeURIComponent('黎明')}`]: [dusky],
    [`?q=${encodeURIComponent('河')}`]: [dusky],
    '?q=%2B%2B': [],
    '?q=.*': [],
    '?media_type=image/*': [elbe, dusk],
    '?media_type=image/png': [elbe],
    '?media_type=VIDEO/MP4': [dawn],
    '?tag=rivers': [dusk, dawn],
    [`?tag=${encodeURIComponent('köln')}`]: [dusky, dawn],
    '?tag=river': [],
    '?upload=pending&tag=rivers&media_type=image/*': [dusk],
    '?upload=complete': [],
    '?upload=complete&tag=rivers': [],
    '?tag=rivers&q=dawn': [dawn],
    '?tag=rivers&sort=name': [dusk, dawn],
    '?sort=created_at': [dawn, dusk, elbe, dusky, atlas],
    '?sort=name': [atlas, elbe, dusk, dawn, dusky],
    '?sort=-name': [dusky, dawn, dusk, elbe, atlas],
    '?sort=size&media_type=video/*': [dusky, dawn],
    '?sort=-size': [dusk, atlas, dawn, dusky, elbe],
  };
  for (const [query, expected] of Object.entries(found)) {
    t.deepEqual(await names(query), expected, query);
  }

  const after = (asset: number) => new Date(clock.now().getTime() - (4 - asset) * 1_000).toISOString();
  for (const sort of ['created_at', '-created_at', 'name', '-name', 'size', '-size']) {
    t.deepEqual(
      (await names(`?created_after=${after(2)}&sort=${sort}`)).toSorted(),
      [atlas, dusky].sort(),
      `the time itself does not count, by ${sort}`,
    );
    // In pages of 2, each asset appears once and in the same order.
    const whole = await names(`?sort=${sort}`);
    const paged: string[] = [];
    for (let query: string | null = `?sort=${sort}&limit=2`; query !== null;) {
      const page: Listed = await list(query);
      t.true(page.items.length <= 2);
      paged.push(...page.items.map(({ name }) => name));
      query = page.next_cursor === null ? null : `?sort=${sort}&limit=2&cursor=${page.next_cursor}`;
    }
    t.deepEqual(paged, whole, sort);
  }

  // A filtered page has no more assets than the limit either.
  const first = await list('?media_type=video/*&limit=1');
  t.deepEqual(pluck(first.items, 'name'), [dusky]);
  const second = await list(`?media_type=video/*&limit=1&cursor=${first.next_cursor ?? ''}`);
  t.deepEqual(pluck(second.items, 'name'), [dawn]);

  const { next_cursor: cursor } = await list('?sort=name&limit=2');
  for (const query of [
    `?sort=size&cursor=${cursor}`,
    '?sort=age',
    '?media_type=image',
    '?media_type=*/*',
    '?created_after=yesterday',
    '?q=',
    '?cursor=abc',
  ]) {
    t.is((await get(`${at}/assets${query}`, owner)).status, 400, query);
  }

  // Another name, type and other tags are found at once, and the old ones no longer.
  const path = `${at}/assets/${ids[0] ?? ''}`;
  const change = { name: 'Mosel', tags: [' Trier '], media_type: 'audio/flac', size: 101 };
  const changed = await ask(path, { method: 'PATCH', json: change, headers: owner });
  t.like(changed.json, { ...change, tags: ['Trier'] });
  t.deepEqual(await names('?q=mosel&tag=TRIER&media_type=audio/flac'), ['Mosel']);
  t.deepEqual(await names('?q=dawn'), []);
  t.deepEqual(await names('?tag=rivers'), [dusk]);
  t.is((await names('?sort=size')).at(-2), 'Mosel');
});

test('Tags and a changed description have the limits of a new asset', async (t) => {
  const { at, storage_id, add, ask, owner } = await start(t);
  const file = { name: 'Rhine', object_key: 'a', media_type: 'video/mp4', size: 1, storage_id };
  const many = (count: number) => Array.from({ length: count }, (_, index) => `tag ${index}`);
  const refused = [[''], ['x'.repeat(51)], ['a\nb'], ['Ä', 'ä'], many(21)];
  for (const tags of refused) t.is((await add({ ...file, tags })).status, 400, JSON.stringify(tags));
  const added = await add({ ...file, tags: many(20) });
  t.is(added.status, 201, added.text);
  const path = `${at}/assets/${textOf(added.json as never, 'id')}`;
  const patch = (json: object) => ask(path, { method: 'PATCH', json, headers: owner });
  for (const json of [{ tags: ['Ä', 'ä'] }, { size: -1 }, { media_type: 'mp4' }, { object_key: 'b' }]) {
    t.is((await patch(json)).status, 400, JSON.stringify(json));
  }
  t.is((await patch({ size: 5 * 2 ** 40 })).status, 409, 'more than the capacity');
  t.like((await patch({ size: 1_000 })).json, { size: 1_000 });
  const { used_bytes } = (await ask(at, { headers: owner })).json as { used_bytes: number };
  t.is(used_bytes, 1_000);
  t.like((await patch({ size: 10, tags: [] })).json, { size: 10, tags: [] });
  t.like((await ask(at, { headers: owner })).json, { used_bytes: 10 });
  t.is((await patch({})).status, 200);
});

test('Shares are listed by their asset', async (t) => {
  const { at, foreign, storage_id, add, post, get, owner } = await start(t);
  const ids: string[] = [];
  for (const object_key of ['a', 'b']) {
    const asset = await add({ name: object_key, object_key, media_type: 'video/mp4', size: 1, storage_id });
    ids.push(textOf(asset.json as never, 'id'));
  }
  for (const asset_id of [ids[0], ids[0], ids[1]]) {
    const share = await post(`${at}/shares`, { asset_id, password: 'open sesame' }, owner);
    t.is(share.status, 201, share.text);
  }
  const count = async (query: string, path = at) => {
    const answer = await get(`${path}/shares${query}`, owner);
    t.is(answer.status, 200, answer.text);
    return (answer.json as Listed).items.length;
  };
  t.is(await count(''), 3);
  t.is(await count(`?asset_id=${ids[0] ?? ''}`), 2);
  t.is(await count(`?asset_id=${ids[1]?.toUpperCase() ?? ''}&limit=1`), 1);
  t.is(await count(`?asset_id=${ids[0] ?? ''}`, foreign), 0);
  t.is((await get(`${at}/shares?asset_id=x`, owner)).status, 400);
});

test('An object of a storage belongs to one asset, until the asset is removed', async (t) => {
  const { at, foreign, storage_id, foreignStorage, add, ask, owner } = await start(t);
  const file = { name: 'Rhine', object_key: 'a.mp4', media_type: 'video/mp4', size: 1, storage_id };
  const thumbnail = { kind: 'thumbnail', object_key: 'a.jpg', media_type: 'image/jpeg', size: 1 };
  const first = await add({ ...file, renditions: [thumbnail] });
  t.is(first.status, 201, first.text);
  const taken = [
    { ...file },
    { ...file, object_key: 'a.jpg' },
    { ...file, object_key: 'b.mp4', renditions: [thumbnail] },
    { ...file, object_key: 'b.mp4', renditions: [{ ...thumbnail, object_key: 'a.mp4' }] },
  ];
  for (const body of taken) {
    const answer = await add(body);
    t.is(answer.status, 409);
    t.like(answer.json, { code: 'object_key_taken' });
  }
  // A refused addition keeps none of its keys, and other storages have other objects.
  t.is((await add({ ...file, object_key: 'b.mp4' })).status, 201);
  t.is((await add({ ...file, storage_id: foreignStorage }, foreign)).status, 201);
  t.is((await add({ ...file, object_key: 'A.mp4' })).status, 201, 'keys have capitals');
  // Of many additions at once, one wins.
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => add({ ...file, object_key: 'race.mp4' })),
  );
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409, 409, 409]);

  const path = `${at}/assets/${textOf(first.json as never, 'id')}`;
  t.is((await ask(path, { method: 'DELETE', headers: owner })).status, 204);
  t.is((await add({ ...file, renditions: [thumbnail] })).status, 201, 'removal frees the keys at once');
});

test('A rendition that was put again as it is frees its key when it is removed', async (t) => {
  const { at, send, addAsset } = await givenOwnedProject(t);
  const path = async () => {
    const { json } = await addAsset();
    return `${at}/assets/${textOf(json as never, 'id')}/renditions/thumbnail`;
  };
  const [one, other] = [await path(), await path()];
  const file = { object_key: 'a.jpg', media_type: 'image/jpeg', size: 1 };
  t.is((await send('PUT', one, file)).status, 200);
  t.is((await send('PUT', one, file)).status, 200);
  t.is((await send('DELETE', one)).status, 200);
  const put = await send('PUT', other, file);
  t.is(put.status, 200, put.text);
});

test('An addition that wrote nothing because a store was away keeps no key', async (t) => {
  let isAway = false;
  const wrap = (store: EventStore): EventStore => ({
    ...store,
    append: (stream, ...rest) =>
      isAway && stream.startsWith('asset-')
        ? Promise.reject(new StoreUnavailable('the log is away'))
        : store.append(stream, ...rest),
  });
  const { addAsset } = await givenOwnedProject(t, { storeOptions: { wrap } });
  isAway = true;
  await refuses(t, addAsset({ object_key: 'a.mp4' }), '503 store_unavailable');
  isAway = false;
  const again = await addAsset({ object_key: 'a.mp4' });
  t.is(again.status, 201, again.text);
});
