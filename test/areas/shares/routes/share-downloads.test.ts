import test, { type ExecutionContext } from 'ava';
import { textOf } from '../../../support/clients/service-client.js';
import { answered } from '../../../support/clients/passkey-calls.js';
import { codeOf } from '../../../support/given/replies.js';
import { givenSharing } from '../../../support/given/sharing-service.js';

/** Given a share of two assets. */
async function given(t: ExecutionContext) {
  const scene = await givenSharing(t);
  const { add, verify, renew } = scene;
  const asset_ids = [await add('one.png'), await add('two.png')] as const;
  const { id, token } = await scene.share({ asset_ids });
  return {
    ...{ ...scene, path: `${scene.shares}/${id}`, asset_ids },
    open: async () => textOf(answered(await verify(token)), 'share_session'),
    save: (share_session: string, download: unknown) => renew(token, share_session, { download }),
    downloads: () => scene.events('ShareDownloaded'),
  };
}

test('A download counts once for an asset and an opening, and the accesses show it', async (t) => {
  const { service, owner, path, asset_ids, open, save, downloads } = await given(t);
  const [one, two] = asset_ids;
  const [first, second] = [await open(), await open()];
  const saved = await save(first, one);
  t.is(saved.status, 200, saved.text);
  t.deepEqual(
    (saved.json as { data: { assets: { id: string }[] } }).data.assets.map(({ id }) => id),
    asset_ids,
    'the reply has fresh URLs as without a download',
  );
  for (const [session, asset] of [
    [first, one],
    [first, two.toUpperCase()],
    [second, one],
  ] as const) {
    t.is((await save(session, asset)).status, 200);
  }
  t.deepEqual(
    (await downloads()).map(({ data }) => data['asset_id']),
    [one, two, one],
  );
  const { items } = (await service.get(`${path}/accesses`, owner)).json as { items: { downloads: number }[] };
  t.deepEqual(items.map((item) => item.downloads).sort(), [1, 2]);
  // A renewal without a download counts none
  t.is((await save(second, undefined)).status, 200);
  t.is((await downloads()).length, 3);
  t.like((await service.get(path, owner)).json, { downloads: 0 }, 'totals follow the log: see end-to-end');
});

test('Requests at the same moment count one download', async (t) => {
  const { asset_ids, open, save, downloads } = await given(t);
  const session = await open();
  const replies = await Promise.all(Array.from({ length: 5 }, () => save(session, asset_ids[0])));
  t.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
  t.is((await downloads()).length, 1);
});

test('No download counts where the share allows none, for an asset it does not show, and for no session', async (t) => {
  const { remove, change, path, base, asset_ids, add, open, save, downloads } = await given(t);
  const session = await open();
  t.deepEqual(codeOf(await save(session, await add('three.png'))), [404, 'not_found']);
  t.deepEqual(codeOf(await save(session, 'nonsense')), [400, 'invalid_request']);
  t.deepEqual(codeOf(await save(`${session}x`, asset_ids[0])), [401, 'invalid_credentials']);
  await remove(`${base}/assets/${asset_ids[1]}`);
  t.deepEqual(codeOf(await save(session, asset_ids[1])), [404, 'not_found']);
  t.is((await change(path, { allow_download: false })).status, 200);
  t.deepEqual(codeOf(await save(session, asset_ids[0])), [403, 'forbidden']);
  t.is((await save(session, undefined)).status, 200, 'the session goes on');
  t.deepEqual(await downloads(), []);
});
