import test, { type ExecutionContext } from 'ava';
import { makeVisits } from '../../../../src/areas/shares/commands/visiting/visits.js';
import { openShare, shareAggregate } from '../../../../src/areas/shares/domain/share/share.js';
import type { Answer } from '../../../support/clients/http-app.js';
import { givenSharing } from '../../../support/given/sharing-service.js';

interface SharedJson {
  readonly assets: readonly { readonly id: string }[];
  readonly share_session: string;
}

/** Given a project with a storage. */
async function given(t: ExecutionContext) {
  const scene = await givenSharing(t);
  const { base, change, verify } = scene;
  const dataOf = (answer: Answer): SharedJson => {
    t.is(answer.status, 200, answer.text);
    return (answer.json as { data: SharedJson }).data;
  };
  return {
    ...{ ...scene, share: scene.ask, dataOf },
    tag: async (id: string, tags: readonly string[]): Promise<void> => {
      const answer = await change(`${base}/assets/${id}`, { tags });
      t.is(answer.status, 200, answer.text);
    },
    shown: async (token: string): Promise<readonly string[]> =>
      dataOf(await verify(token)).assets.map(({ id }) => id),
  };
}

const tokenOf = (answer: Answer) => (answer.json as { token: string }).token;

test('A share of a tag shows the assets that have it when the share is opened, newest first', async (t) => {
  const { service, owner, base, bind, storageId, add, tag, share, shown } = await given(t);
  const [old, young] = [await add('old.png', ['Press', 'x']), await add('young.png', ['press'])];
  const other = await add('other.png', ['x']);
  const made = await share({ tag: ' PRESS ' });
  t.is(made.status, 201, made.text);
  t.like(made.json, { tag: 'PRESS', asset_id: null, asset_ids: [], problem: null });
  const { id } = made.json as { id: string };
  t.like((await service.get(`${base}/shares/${id}`, owner)).json, { tag: 'PRESS' });
  t.deepEqual(await shown(tokenOf(made)), [young, old]);
  // When an asset gets the tag, and another one loses it
  await tag(other, ['x', 'press']);
  await tag(young, []);
  t.deepEqual(await shown(tokenOf(made)), [other, old]);
  // Assets of other projects and assets without a complete upload stay out
  const projectId = await service.makeProject(owner);
  await add('a', ['press'], { projectId, storageId: await bind(owner, `/api/v1/projects/${projectId}`) });
  const file = { name: 'a', object_key: 'b', media_type: 'image/png', size: 7, renditions: [] };
  const pending = { ...file, tags: ['press'], storage_id: storageId };
  t.is((await service.post(`${base}/assets`, pending, owner)).status, 201);
  t.deepEqual(await shown(tokenOf(made)), [other, old]);
  // A share of chosen assets has no tag
  t.like((await share({ asset_id: old })).json, { tag: null, asset_ids: [old] });
});

test('A session of a share of a tag stays valid while assets come and go', async (t) => {
  const { service, owner, base, add, tag, share, verify, renew, dataOf } = await given(t);
  const one = await add('one.png', ['press']);
  const made = await share({ tag: 'press', max_uses: 1 });
  const token = tokenOf(made);
  const { share_session } = dataOf(await verify(token));
  const two = await add('two.png', ['press']);
  const renewed = async () => dataOf(await renew(token, share_session)).assets.map(({ id }) => id);
  t.deepEqual(await renewed(), [two, one]);
  // When no asset has the tag, the share shows nothing, and the session goes on afterwards
  for (const asset of [one, two]) await tag(asset, []);
  t.is((await renew(token, share_session)).status, 404);
  t.is((await service.ask(`${base}/assets/${two}`, { method: 'DELETE', headers: owner })).status, 204);
  await tag(one, ['press']);
  t.deepEqual(await renewed(), [one]);
});

test('A share of a tag that no asset has does not open, counts no use and is not revoked', async (t) => {
  const { service, owner, base, add, share, verify, shown } = await given(t);
  const made = await share({ tag: 'later', max_uses: 1 });
  const token = tokenOf(made);
  const unknown = await verify('x'.repeat(22));
  const closed = await verify(token);
  t.deepEqual([closed.status, closed.json], [404, unknown.json]);
  t.is((await service.get(`/api/v1/shares/${token}`)).status, 404);
  const { id } = made.json as { id: string };
  t.like((await service.get(`${base}/shares/${id}`, owner)).json, { remaining_uses: 1 });
  const asset = await add('late.png', ['later']);
  t.deepEqual(await shown(token), [asset]);
});

test('A share of a tag shows the newest 50 of its assets', async (t) => {
  const { add, share, shown } = await given(t);
  const ids: string[] = [];
  for (let n = 0; n < 52; n += 1) ids.push(await add(`${n}.png`, ['press']));
  t.deepEqual(await shown(tokenOf(await share({ tag: 'press' }))), ids.slice(2).reverse());
});

test('A tag stands alone in a new share, and has 1 to 50 printable characters', async (t) => {
  const { add, share } = await given(t);
  const asset_id = await add('one.png', []);
  const wrong = [
    { tag: 'press', asset_id },
    { tag: 'press', asset_ids: [asset_id] },
    { tag: ' ' },
    { tag: 'x'.repeat(51) },
    { tag: 'a\nb' },
    { tag: null },
  ];
  for (const fields of wrong) {
    const answer = await share(fields);
    t.is(answer.status, 400, `${JSON.stringify(fields)}: ${answer.text}`);
  }
});

test('An asset that has lost the tag is out at once, also where the view of assets is behind', async (t) => {
  const { service, project, add, tag, share } = await given(t);
  const [kept, lost] = [await add('kept.png', ['press']), await add('lost.png', ['press'])];
  const { id } = (await share({ tag: 'press' })).json as { id: string };
  const { handler } = service.stores;
  const state = openShare((await handler.load(shareAggregate, id)).state, project);
  const query = { filter: { tag: 'press' }, sort: '-created_at', limit: 50 } as const;
  const behind = await service.commands.assets.list(project, query);
  await tag(lost, ['other']);
  const assets = { ...service.commands.assets, list: () => Promise.resolve(behind) };
  const found = await makeVisits({ ...service.stores, ...service.commands, assets }).findSharedAssets(state);
  t.deepEqual(
    found?.served.map(({ assetId }) => assetId),
    [kept],
  );
});

test('One asset of a share is found alone, and an asset that the share does not have is not found', async (t) => {
  const { service, project, add, share } = await given(t);
  const [tagged, named, other] = [
    await add('tagged.png', ['press']),
    await add('named.png', []),
    await add('other.png', []),
  ];
  const { handler } = service.stores;
  const servedIn = async (terms: object, only: string) => {
    const { id } = (await share(terms)).json as { id: string };
    const state = openShare((await handler.load(shareAggregate, id)).state, project);
    const found = await makeVisits({ ...service.stores, ...service.commands }).findSharedAssets(state, only);
    return found?.served.map(({ assetId }) => assetId) ?? [];
  };
  t.deepEqual(await servedIn({ tag: 'press' }, tagged), [tagged]);
  t.deepEqual(await servedIn({ tag: 'press' }, other), []);
  t.deepEqual(await servedIn({ asset_ids: [named, tagged] }, named), [named]);
  t.deepEqual(await servedIn({ asset_ids: [named, tagged] }, other), []);
});
