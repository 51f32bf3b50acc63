import test from 'ava';
import { addAsset, sharedFile } from '../../../support/given/given-share.js';
import { askCdn } from '../../../support/cdn/verify-cdn-token.js';
import { givenOwnedProject } from '../../../support/given/project-over-http.js';

test('A token of a CDN is sealed, never shown, and in the media URLs of shares, which it ends', async (t) => {
  const domain = { provider: 'oss', region: 'cn-hangzhou', cdn_domain: 'cdn.example.com' };
  const service = await givenOwnedProject(t, {}, domain);
  const { at, owner, project, send, make, storage_id } = service;
  const delivery = `${at}/storages/${storage_id}/delivery`;
  const put = (json: unknown) => send('PUT', delivery, json);
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
  for (const json of [set.json, (await service.get(delivery, owner)).json])
    t.deepEqual(json, { mode: 'token', token });
  // Then a share has URLs that the CDN serves until they end
  const asset_id = await addAsset(service.stores, { projectId: project, storageId: storage_id });
  const shared = await make('shares', { asset_id, password: 'open sesame' });
  const verify = `/api/v1/shares/${String(shared['token'])}/verify`;
  const opened = await service.post(verify, { password: 'open sesame' });
  const [link] = (opened.json as { data: { media: { url: string; expires_at: string }[] } }).data.media;
  const settings = { scheme: 'alibaba_a', key, validSeconds: 1_800 };
  const ask = (time: Date) => askCdn(link?.url ?? '', time, settings);
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

test('A document of a share has a URL that shows it where the storage has no cdn_domain any more', async (t) => {
  const domain = { cdn_domain: 'cdn.example.com' };
  const service = await givenOwnedProject(t, {}, domain);
  const { at, project, send, make, storage_id } = service;
  const storage = `${at}/storages/${storage_id}`;
  // Given a storage whose domain serves without signatures, and that has lost its domain
  t.is((await send('PUT', `${storage}/delivery`, { mode: 'public' })).status, 200);
  const file = { ...sharedFile, media_type: 'application/pdf', renditions: [] };
  const asset_id = await addAsset(service.stores, { projectId: project, storageId: storage_id }, file);
  const shared = await make('shares', { asset_id, password: 'open sesame' });
  const open = async () => {
    const opened = await service.post(`/api/v1/shares/${String(shared['token'])}/verify`, {
      password: 'open sesame',
    });
    return (opened.json as { data: { media: { url: string; inline_url?: string }[] } }).data.media[0];
  };
  t.is((await open())?.inline_url, undefined);
  t.is((await send('PATCH', storage, { cdn_domain: '' })).status, 200);
  // Then the bucket signs its URLs, and one of them shows the document
  t.regex((await open())?.inline_url ?? '', /[?&]response-content-disposition=inline/);
});
