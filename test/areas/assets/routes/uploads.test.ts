import test from 'ava';
import type { HeadAnswer } from '../../../../src/areas/storages/bucket/objects/head-object.js';
import { startTestService } from '../../../support/servers/http-service.js';

const password = 'open sesame';
const file = { name: 'Rhine', object_key: '2026/rhine.mp4', media_type: 'video/mp4', size: 1_000 };
const found = (changes: object = {}): HeadAnswer => ({
  kind: 'found',
  by: 'head',
  modified_at: null,
  object: { size: 1_000, entity_tag: 'a-tag', media_type: 'video/mp4', sha256: null, ...changes },
});

test('A share opens while the upload of its asset is complete, and tells its owner why it does not', async (t) => {
  // Given a share of an asset without a file
  let answer: HeadAnswer = { kind: 'missing' };
  const asked: string[] = [];
  const service = await startTestService(t, {
    buckets: {
      headObject: ({ provider, key }) => {
        asked.push(`${provider} ${key}`);
        return Promise.resolve(answer);
      },
    },
  });
  const owner = await service.signUp('owner');
  const at = `/api/v1/projects/${await service.makeProject(owner)}`;
  const make = async (path: string, body: object) => {
    const reply = await service.post(`${at}/${path}`, body, owner);
    t.is(reply.status, 201, reply.text);
    return reply.json as { id: string; token: string; problem: string | null };
  };
  const storage = await make('storages', {
    ...{ name: 'Media', provider: 's3', bucket: 'rivers', region: 'eu-west-1', base_path: 'videos' },
    credentials: { access_key: 'a-key', secret_key: 'a-secret' },
  });
  const asset = await make('assets', { ...file, storage_id: storage.id });
  const share = await make('shares', { asset_id: asset.id, password });
  t.is(share.problem, 'upload_pending');
  const visit = async () => (await service.post(`/api/v1/shares/${share.token}/verify`, { password })).status;
  const problem = async () => {
    const one = (await service.get(`${at}/shares/${share.id}`, owner)).json as typeof share;
    const list = (await service.get(`${at}/shares`, owner)).json as { items: (typeof share)[] };
    t.is(list.items[0]?.problem, one.problem);
    return one.problem;
  };
  const listed = async (upload: string) => {
    const reply = await service.get(`${at}/assets?upload=${upload}`, owner);
    t.is(reply.status, 200, reply.text);
    return (reply.json as { items: { id: string }[] }).items.map(({ id }) => id);
  };
  const confirm = (body: object = {}) => service.post(`${at}/assets/${asset.id}/uploaded`, body, owner);

  // When the bucket answers, then the asset, its share and the lists follow
  for (const [reply, upload, differs] of [
    [{ kind: 'missing' }, 'pending', []],
    [found({ size: 999 }), 'mismatched', ['size']],
    [found(), 'complete', []],
    [{ kind: 'missing' }, 'pending', []],
    [found({ sha256: 'b'.repeat(64) }), 'mismatched', ['sha256']],
  ] as const) {
    answer = reply;
    const confirmed = await confirm(differs[0] === 'sha256' ? { sha256: 'a'.repeat(64) } : {});
    t.is(confirmed.status, 200, confirmed.text);
    t.like(confirmed.json, {
      ...{ upload, differs },
      object: reply.kind === 'found' ? reply.object : null,
    });
    t.truthy(confirmed.headers.get('etag'));
    t.is(await visit(), upload === 'complete' ? 200 : 404);
    t.is(await problem(), upload === 'complete' ? null : `upload_${upload}`);
    for (const status of ['pending', 'complete', 'mismatched']) {
      t.deepEqual(await listed(status), status === upload ? [asset.id] : []);
    }
  }
  t.deepEqual(new Set(asked), new Set(['s3 videos/2026/rhine.mp4']));

  // and a bucket that gives no answer changes nothing
  answer = { kind: 'away' };
  const away = await confirm();
  t.deepEqual([away.status, (away.json as { code: string }).code], [503, 'bucket_unavailable']);
  t.is(away.headers.get('retry-after'), '10');
  answer = { kind: 'refused' };
  const refused = await confirm();
  t.deepEqual([refused.status, (refused.json as { code: string }).code], [409, 'conflict']);
  t.is((await confirm({ sha256: 'A' })).status, 400);
  t.is((await service.get(`${at}/assets?upload=x`, owner)).status, 400);
  t.is(await problem(), 'upload_mismatched');
});
