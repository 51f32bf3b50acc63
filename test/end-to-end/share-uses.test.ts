import test from 'ava';
import { pluck } from '../support/given/pluck.js';
import { eventually } from '../support/eventually.js';
import { openStores } from '../support/servers/embedded-directory.js';
import { givenAsset, givenShare, sharePassword } from '../support/given/given-share.js';
import { asObject, makeServiceClient, textOf } from '../support/clients/service-client.js';
import { startInProcess } from '../support/servers/service-in-process.js';
import { makeDataDirectory } from '../support/servers/service-process.js';

// Two services, each with its own queues and caches, over the same stores
const directory = makeDataDirectory();
const world = start();
test.after.always(async () => {
  const { one, other, stores } = await world;
  await Promise.all([one.close(), other.close()]);
  await stores.close();
  await (await directory).remove();
});

async function start() {
  const { path } = await directory;
  const stores = { ...(await openStores(path)), allEmbedded: true };
  const options = { directory: path, stores, environment: { TRUSTED_PROXIES: '127.0.0.0/8' } };
  return { stores, one: await startInProcess(options), other: await startInProcess(options) };
}

for (const [whence, addressOf] of [
  ['50 addresses', (index: number) => `198.51.100.${index}`],
  ['one address', () => '198.51.100.200'],
] as const) {
  test(`A share of 20 uses opens for 20 of 50 visitors at once, from ${whence}, on two services`, async (t) => {
    // Given a share
    const { one, other, stores } = await world;
    const asset = await givenAsset(one.services);
    const { id, token } = await givenShare(one.services, asset, { max_uses: 20 });
    // When 50 visitors give the password at once
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const client = makeServiceClient(index % 2 === 0 ? one.url : other.url);
        const headers = { 'x-forwarded-for': addressOf(index) };
        return client.post(`/api/v1/shares/${token}/verify`, { password: sharePassword }, headers);
      }),
    );
    // Then 20 open it, each with a distinct number, and each access is recorded once
    const opened = replies.filter(({ status }) => status === 200);
    t.is(opened.length, 20, replies.map(({ status }) => status).join(' '));
    t.is(replies.filter(({ status }) => status === 404).length, 30);
    const left = opened.map(
      (reply) => (reply.json() as { data: { share: { remaining_uses: number } } }).data.share,
    );
    t.deepEqual(
      left.map(({ remaining_uses }) => remaining_uses).sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, index) => index),
    );
    const events = await stores.eventStore.read(`share-${id}`, { from: 0n, limit: 100 });
    const used = events
      .filter(({ type }) => type === 'ShareUsed')
      .map(({ data }) => textOf(data, 'access_id'));
    t.is(new Set(used).size, 20);
    for (const accessId of used) {
      const access = await stores.eventStore.read(`shareaccess-${accessId}`, { from: 0n, limit: 10 });
      t.deepEqual(pluck(access, 'type'), ['ShareVerified']);
    }
  });
}

test('A share counts its openings and the downloads that the pages of visitors report, on two services', async (t) => {
  const { one, other } = await world;
  const asset = await givenAsset(one.services);
  const { id, token } = await givenShare(one.services, asset);
  const open = async (url: string): Promise<string> => {
    const opened = await makeServiceClient(url).post(`/api/v1/shares/${token}/verify`, {
      password: sharePassword,
    });
    t.is(opened.status, 200, opened.text);
    return textOf(asObject(opened.json()['data']), 'share_session');
  };
  const sessions = [await open(one.url), await open(other.url), await open(one.url)];
  // When two visitors save the asset, one of them twice
  for (const [index, { url }] of [one, other, other].entries()) {
    const body = { share_session: sessions[index === 0 ? 0 : 1] ?? '', download: asset.assetId };
    t.is((await makeServiceClient(url).post(`/api/v1/shares/${token}/media`, body)).status, 200);
  }
  // Then both services show the counts
  for (const { services } of [one, other]) {
    const { shares } = services.readers;
    await eventually('the uses are shown', async () => {
      const found = await shares.find(asset.projectId, id);
      return found?.resource.views === 3 && found.resource.downloads === 2;
    });
  }
  const { items } = await one.services.readers.shares.page(
    asset.projectId,
    { limit: 10, descending: true },
    { now: new Date() },
  );
  t.like(items[0], { views: 3, downloads: 2 });
});
