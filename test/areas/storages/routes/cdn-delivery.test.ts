import test from 'ava';
import { addAsset, sharedFile } from '../../../support/given/given-share.js';
import { askCdn } from '../../../support/cdn/verify-cdn-token.js';
import { startTestService } from '../../../support/servers/http-service.js';

test('A token of a CDN is sealed, never shown, and in the media URLs of shares, which it ends', async (t) => {
  const service = await startTestService(t);
  const owner = await service.signUp('owner');
  const base = `/api/v1/projects/${await service.makeProject(owner)}`;
  const storage = {
    ...{
      name: 'Rushes',
      provider: 'oss',
      bucket: 'rushes',
      region: 'cn-hangzhou',
      cdn_domain: 'cdn.example.com',
    },
    credentials: { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' },
  };
  const { id } = (await service.post(`${base}/storages`, storage, owner)).json as { id: string };
  const delivery = `${base}/storages/${id}/delivery`;
  const put = (json: unknown) => service.ask(delivery, { method: 'PUT', json, headers: owner });
  const key = 'canaryKey1234567';
  const token = { scheme: 'alibaba_a', valid_seconds: 1_800 };
  // Given the wrong forms
  for (const wrong of [
    { mode: 'token' },
    { mode: 'public', token: { ...token, keys: { key } } },
    { mode: 'token', token: { ...token, keys: {} } },
    { mode: 'token', token: { scheme: 'alibaba_d', keys: { key } } },
    { mode: 'token', token: { scheme: 'cloudfront', keys: { key_pair_id: 'K1', private_key: key } } },
  ]) {
    const refused = await put(wrong);
    t.is(refused.status, 400, JSON.stringify(wrong));
    t.false(refused.text.includes(key));
  }
  // When a token is set
  const set = await put({ mode: 'token', token: { ...token, keys: { key } } });
  t.is(set.status, 200, set.text);
  t.deepEqual(
    [set.json, (await service.get(delivery, owner)).json],
    [
      { mode: 'token', token },
      { mode: 'token', token },
    ],
  );
  // Then a share has URLs that the CDN serves until they end
  const assetId = await addAsset(service.stores, { projectId: base.split('/').at(-1) ?? '', storageId: id });
  const shared = await service.post(`${base}/shares`, { asset_id: assetId, password: 'open sesame' }, owner);
  const { token: shareToken } = shared.json as { token: string };
  const opened = await service.post(`/api/v1/shares/${shareToken}/verify`, { password: 'open sesame' });
  const [link] = (opened.json as { data: { media: { url: string; expires_at: string }[] } }).data.media;
  const settings = { scheme: 'alibaba_a', key, validSeconds: 1_800 };
  const ask = (at: Date) => askCdn(link?.url ?? '', at, settings);
  t.deepEqual(ask(service.clock.now()), { path: `/${sharedFile.object_key}` });
  const end = Date.parse(link?.expires_at ?? '');
  t.true(end - service.clock.now().getTime() <= 20 * 60_000);
  t.is(ask(new Date(end)), 'expired');
  // And no event has the key, and another mode needs none
  const { events } = await service.stores.eventStore.readAll({ after: null, limit: 500 });
  t.true(events.some(({ type }) => type === 'StorageDeliveryChanged'));
  t.false(JSON.stringify(events.map(({ data }) => data)).includes(key));
  t.deepEqual((await put({ mode: 'origin' })).json, { mode: 'origin' });
  t.deepEqual((await service.get(delivery, owner)).json, { mode: 'origin' });
});
