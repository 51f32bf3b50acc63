import test, { type ExecutionContext } from 'ava';
import { addAsset } from '../../../support/given/given-share.js';
import type { Answer } from '../../../support/clients/http-app.js';
import { startTestService } from '../../../support/servers/http-service.js';

const password = 'open sesame';
const storage = {
  ...{ name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1' },
  credentials: { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' },
};

/** Given a share of two assets. */
async function given(t: ExecutionContext, fields: object = {}) {
  const service = await startTestService(t, { trustedProxies: ['127.0.0.1'] });
  const owner = await service.signUp('owner');
  const project = await service.makeProject(owner);
  const base = `/api/v1/projects/${project}`;
  const bound = await service.post(`${base}/storages`, storage, owner);
  const { id: storageId } = bound.json as { id: string };
  const add = (name: string): Promise<string> => {
    const file = { name, object_key: name, media_type: 'image/png', size: 7, renditions: [] };
    return addAsset(service.stores, { projectId: project, storageId }, file);
  };
  const asset_ids = [await add('one.png'), await add('two.png')] as const;
  const made = await service.post(`${base}/shares`, { asset_ids, password, ...fields }, owner);
  t.is(made.status, 201, made.text);
  const { id, token } = made.json as { id: string; token: string };
  const path = `${base}/shares/${id}`;
  return {
    ...{ service, owner, base, path, asset_ids, add },
    open: async (): Promise<string> => {
      const opened = await service.post(`/api/v1/shares/${token}/verify`, { password });
      return (opened.json as { data: { share_session: string } }).data.share_session;
    },
    save: (share_session: string, download: unknown): Promise<Answer> =>
      service.post(`/api/v1/shares/${token}/media`, { share_session, download }),
    downloads: async () => {
      const { events } = await service.stores.eventStore.readAll({ after: null, limit: 500 });
      return events.filter(({ type }) => type === 'ShareDownloaded');
    },
  };
}

const codeOf = (answer: Answer) => [answer.status, (answer.json as { code: string }).code];

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
  const { service, owner, path, base, asset_ids, add, open, save, downloads } = await given(t);
  const session = await open();
  t.deepEqual(codeOf(await save(session, await add('three.png'))), [404, 'not_found']);
  t.deepEqual(codeOf(await save(session, 'nonsense')), [400, 'invalid_request']);
  t.deepEqual(codeOf(await save(`${session}x`, asset_ids[0])), [401, 'invalid_credentials']);
  await service.ask(`${base}/assets/${asset_ids[1]}`, { method: 'DELETE', headers: owner });
  t.deepEqual(codeOf(await save(session, asset_ids[1])), [404, 'not_found']);
  const json = { allow_download: false };
  t.is((await service.ask(path, { method: 'PATCH', json, headers: owner })).status, 200);
  t.deepEqual(codeOf(await save(session, asset_ids[0])), [403, 'forbidden']);
  t.is((await save(session, undefined)).status, 200, 'the session goes on');
  t.deepEqual(await downloads(), []);
});
