import test, { type ExecutionContext } from 'ava';
import { appendEvents } from '../../../support/given/append-events.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import type { Answer } from '../../../support/clients/http-app.js';
import { startTestService } from '../../../support/servers/http-service.js';
import { type Headers, refuses, type OwnedProject } from '../../../support/given/project-over-http.js';

const gib = 2 ** 30;
/** The largest size that an asset may have. */
const hugeSize = 5 * 2 ** 40;
const idOf = ({ json }: Answer): string => (json as { id: string }).id;

async function startWorld(t: ExecutionContext) {
  const service = await startTestService(t);
  const { ask, get, post } = service;
  const bind = async (project: string, headers: Headers) => {
    const bucket = { name: 'Media', provider: 's3', bucket: 'rivers', region: 'eu-west-1' };
    const credentials = { access_key: 'AK', secret_key: 'SK' };
    return post(`/api/v1/projects/${project}/storages`, { ...bucket, credentials }, headers);
  };
  /** Returns a new project of the caller with a storage. */
  const project = async (headers: OwnedProject['owner']) => {
    const id = await service.makeProject(headers);
    const storage_id = idOf(await bind(id, headers));
    const path = `/api/v1/projects/${id}`;
    let added = 0;
    const add = (size: number, renditions: readonly object[] = [], as = headers) => {
      added += 1;
      const file = { name: 'a', object_key: `file ${added}`, media_type: 'video/mp4', storage_id, size };
      return post(`${path}/assets`, { ...file, renditions }, as);
    };
    const upload = (assetId: string, body: object = {}) =>
      post(`${path}/assets/${assetId}/upload-url`, body, headers);
    const shown = async () => (await get(path, headers)).json as { used_bytes: number; billed_to: string };
    return { id, path, add, upload, shown };
  };
  const used = async (headers: Headers) =>
    ((await get('/api/v1/auth/me', headers)).json as { data: { used_bytes: number } }).data.used_bytes;
  const remove = (path: string, headers: Headers) => ask(path, { method: 'DELETE', headers });
  const owner = await service.signUp('owner');
  return { ...service, project, used, remove, owner };
}

test('An asset beyond the capacity of the payer is refused when it is added, and leaves nothing', async (t) => {
  const { project, used, remove, owner } = await startWorld(t);
  const [one, other] = [await project(owner), await project(owner)];
  t.is(await used(owner), 0);
  const first = await one.add(gib - 100);
  t.is(first.status, 201);
  t.is((await other.add(100)).status, 201);
  t.is(await used(owner), gib);
  t.is((await one.shown()).used_bytes, gib - 100);
  t.is((await other.shown()).used_bytes, 100);
  await refuses(t, other.add(1), '409 capacity_exceeded');
  await refuses(t, one.add(hugeSize), '409 capacity_exceeded');
  t.is(await used(owner), gib);
  t.is((await one.upload(idOf(first))).status, 200);

  // What is removed is free at once.
  t.is((await remove(`${one.path}/assets/${idOf(first)}`, owner)).status, 204);
  t.is(await used(owner), 100);
  t.is((await other.add(gib - 100)).status, 201);
  // A deleted project counts no more.
  t.is((await remove(other.path, owner)).status, 204);
  t.is(await used(owner), 0);
  t.is((await one.add(gib)).status, 201);
});

test('Renditions have a size, and count', async (t) => {
  const { project, used, owner } = await startWorld(t);
  const { add, upload } = await project(owner);
  const rendition = (kind: string, size: number | undefined) => ({
    ...{ kind, object_key: kind, media_type: 'image/jpeg' },
    ...(size === undefined ? {} : { size }),
  });
  await refuses(t, add(1, [rendition('a', undefined)]), '400 invalid_request');
  await refuses(t, add(1, [rendition('a', -1)]), '400 invalid_request');
  await refuses(t, add(1, [rendition('a', gib)]), '409 capacity_exceeded');
  const added = await add(1, [rendition('a', 20), rendition('b', 300)]);
  t.is(added.status, 201);
  t.like(added.json, { renditions: [{ size: 20 }, { size: 300 }] });
  t.is(await used(owner), 321);
  const { json } = await upload(idOf(added), { rendition: 'b' });
  t.is((json as { headers: Record<string, string> }).headers['content-length'], '300');
});

test('Assets of a project use only the capacity of its payer (F2)', async (t) => {
  const { project, used, signUp, verify, post, ask, get, owner } = await startWorld(t);
  await verify('owner');
  const victim = await signUp('victim');
  const victimId = await verify('victim');
  const own = await project(victim);
  const asset = await own.add(1_000);
  t.is((await own.upload(idOf(asset))).status, 200);

  const attacked = await project(owner);
  await post(`${attacked.path}/members`, { email: 'victim@example.com', role: 'editor' }, owner);
  await ask(`${attacked.path}/members/${victimId}`, {
    method: 'PATCH',
    headers: owner,
    json: { role: 'owner' },
  });
  const listed = (await get('/api/v1/auth/invitations', victim)).json as {
    data: { items: { id: string }[] };
  };
  const accept = `/api/v1/auth/invitations/${listed.data.items[0]?.id ?? ''}/accept`;
  t.is((await post(accept, undefined, victim)).status, 200);
  // a) A declared size does not touch the other owner.
  await refuses(t, attacked.add(hugeSize), '409 capacity_exceeded');
  t.is((await attacked.add(gib)).status, 201);
  t.is(await used(victim), 1_000);
  t.is((await own.upload(idOf(asset))).status, 200);
  // b) The room of another owner does not count for the project.
  await refuses(t, attacked.add(1), '409 capacity_exceeded');
  await refuses(t, attacked.add(1, [], victim), '409 capacity_exceeded');
  t.is(await used(owner), gib);
  t.not((await attacked.shown()).billed_to, victimId);
  // Only who accepts the billing pays from then on.
  const offer = { method: 'PUT', headers: owner, json: { user_id: victimId } };
  t.is((await ask(`${attacked.path}/billing-offer`, offer)).status, 200);
  t.is(await used(victim), 1_000);
  const { data: open } = (await get('/api/v1/auth/invitations', victim)).json as typeof listed;
  t.is(
    (await post(`/api/v1/auth/invitations/${open.items[0]?.id ?? ''}/accept`, undefined, victim)).status,
    200,
  );
  t.is(await used(victim), 1_000 + gib);
  t.is(await used(owner), 0);
});

test('Assets that are added at once may exceed the capacity, and what was added beyond it cannot be uploaded', async (t) => {
  const { project, used, remove, owner } = await startWorld(t);
  const one = await project(owner);
  const projects = [one, await project(owner), await project(owner)];
  const size = gib / 4;
  const answers = await Promise.all(
    projects.flatMap(({ add, path }) =>
      Array.from({ length: 4 }, async () => ({ path, answer: await add(size) })),
    ),
  );
  const added = answers.filter(({ answer }) => answer.status === 201);
  t.true(added.length >= 4);
  t.is(await used(owner), added.length * size);
  await refuses(t, one.add(1), '409 capacity_exceeded');

  // When more was added, then no upload begins until the rest fits
  const [first] = added.filter(({ path }) => path === one.path);
  const upload = () => one.upload(first === undefined ? '' : idOf(first.answer));
  for (const { path, answer } of added.filter((other) => other !== first).slice(3)) {
    await refuses(t, upload(), '409 capacity_exceeded');
    t.is((await remove(`${path}/assets/${idOf(answer)}`, owner)).status, 204);
  }
  t.is((await upload()).status, 200);
});

test('While a view lags by more than 15 s, assets, storages and projects are not added, and orders are', async (t) => {
  const { project, owner, commands, post, ask } = await startWorld(t);
  const { id, path, add } = await project(owner);
  const asset = await add(1);
  const [storage] = await commands.storages.ids(id, { limit: 1 });
  const lags = new Map<string, number>();
  commands.viewLags.follow({ lagsMs: () => lags });
  const bucket = { name: 'More', provider: 's3', bucket: 'rivers', region: 'eu-west-1' };
  const storages = () =>
    post(`${path}/storages`, { ...bucket, credentials: { access_key: 'AK', secret_key: 'SK' } }, owner);
  const rows = [
    ['usage', () => add(1)],
    ['assets', () => add(1)],
    ['assets', () => post(`${path}/assets/import`, { storage_id: storage }, owner)],
    [
      'usage',
      () => ask(`${path}/assets/${idOf(asset)}`, { method: 'PATCH', headers: owner, json: { size: 2 } }),
    ],
    ['storage_configs', storages],
    ['projects', () => post('/api/v1/projects', { name: 'More' }, owner)],
  ] as const;
  for (const [view, addition] of rows) {
    lags.set(view, 15_001);
    const refused = await addition();
    await refuses(t, refused, '503 overloaded');
    t.truthy(refused.headers.get('retry-after'));
    lags.set(view, 15_000);
    t.true((await addition()).status < 300, view);
  }
  for (const view of ['usage', 'assets', 'storage_configs', 'projects', 'orders']) lags.set(view, 3_600_000);
  const order = { plan_id: 'capacity-100g', provider: 'stripe' };
  t.is((await post('/api/v1/orders', order, owner)).status, 201);
  const rename = { method: 'PATCH', headers: owner, json: { name: 'b' } };
  t.is((await ask(`${path}/assets/${idOf(asset)}`, rename)).status, 200);
});

test('While the view of assets lags by more than 15 s, no storage is deleted', async (t) => {
  // Given a storage that looks empty
  const { project, owner, commands, remove } = await startWorld(t);
  const { id, path } = await project(owner);
  const [storage] = await commands.storages.ids(id, { limit: 1 });
  const lags = new Map([['assets', 15_001]]);
  commands.viewLags.follow({ lagsMs: () => lags });
  // When it is deleted while assets of it may be missing in the view, then it stays
  await refuses(t, await remove(`${path}/storages/${storage}`, owner), '503 overloaded');
  lags.set('assets', 15_000);
  t.is((await remove(`${path}/storages/${storage}`, owner)).status, 204);
});

test('While the payer has less capacity than their assets use, nothing is uploaded', async (t) => {
  const { project, owner, stores, clock, get } = await startWorld(t);
  const { add, upload } = await project(owner);
  const asset = await add(1_000);
  const me = (await get('/api/v1/auth/me', owner)).json as { data: { id: string } };
  const revoked = { type: 'CapacityRevoked', data: { source: 'registration' } } as const;
  const target = { aggregate: userAggregate, id: me.data.id };
  await appendEvents(stores.handler, target, [revoked], clock.now());
  await refuses(t, upload(idOf(asset)), '409 capacity_exceeded');
});

test('A repeated addition and a repeated removal count once', async (t) => {
  const { project, used, post, remove, owner, get } = await startWorld(t);
  const { path } = await project(owner);
  const { items } = (await get(`${path}/storages`, owner)).json as { items: { id: string }[] };
  const facts = { name: 'a', object_key: 'a', media_type: 'video/mp4', size: 700, storage_id: items[0]?.id };
  const headers = { ...owner, 'idempotency-key': 'once-and-only-once' };
  const first = await post(`${path}/assets`, facts, headers);
  t.is(first.status, 201, first.text);
  await post(`${path}/assets`, facts, headers);
  t.is(await used(owner), 700);
  const asset = `${path}/assets/${idOf(first)}`;
  t.is((await remove(asset, owner)).status, 204);
  t.is((await remove(asset, owner)).status, 404);
  t.is(await used(owner), 0);
});
