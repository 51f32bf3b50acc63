import test from 'ava';
import type { HeadAnswer, HeadObject } from '../../../../src/areas/storages/bucket/objects/head-object.js';
import { pluck } from '../../../support/given/pluck.js';
import { givenOwnedProject, type Made, refuses } from '../../../support/given/project-over-http.js';

const password = 'open sesame';
const file = { name: 'Rhine', object_key: '2026/rhine.mp4', media_type: 'video/mp4', size: 1_000 };
const found = (changes: object = {}): HeadAnswer => ({
  kind: 'found',
  by: 'head',
  modified_at: null,
  object: { size: 1_000, entity_tag: 'a-tag', media_type: 'video/mp4', sha256: null, ...changes },
});

type Share = Made & { readonly token: string; readonly problem: string | null };

test('A share opens while the upload of its asset is complete, and tells its owner why it does not', async (t) => {
  // Given a share of an asset without a file
  let answer: HeadAnswer = { kind: 'missing' };
  const asked: string[] = [];
  const headObject: HeadObject = ({ provider, key }) => {
    asked.push(`${provider} ${key}`);
    return Promise.resolve(answer);
  };
  const service = await givenOwnedProject(t, { buckets: { headObject } }, { base_path: 'videos' });
  const { owner, at, make, storage_id } = service;
  const asset = await make('assets', { ...file, storage_id });
  const share = (await make('shares', { asset_id: asset.id, password })) as Share;
  t.is(share.problem, 'upload_pending');
  const visit = async () => (await service.post(`/api/v1/shares/${share.token}/verify`, { password })).status;
  const problem = async () => {
    const one = (await service.get(`${at}/shares/${share.id}`, owner)).json as Share;
    const list = (await service.get(`${at}/shares`, owner)).json as { items: Share[] };
    t.is(list.items[0]?.problem, one.problem);
    return one.problem;
  };
  const listed = async (upload: string) => {
    const reply = await service.get(`${at}/assets?upload=${upload}`, owner);
    t.is(reply.status, 200, reply.text);
    return pluck((reply.json as { items: Made[] }).items, 'id');
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
  await refuses(t, away, '503 bucket_unavailable');
  t.is(away.headers.get('retry-after'), '10');
  answer = { kind: 'refused' };
  await refuses(t, confirm(), '409 conflict');
  t.is((await confirm({ sha256: 'A' })).status, 400);
  t.is((await service.get(`${at}/assets?upload=x`, owner)).status, 400);
  t.is(await problem(), 'upload_mismatched');
});
