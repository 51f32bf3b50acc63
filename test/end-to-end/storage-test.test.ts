import test from 'ava';
import type { Lookup } from '../../src/outgoing/shared-lookup.js';
import { givenFakeStorage, type FakeOperation, type Fault } from '../support/fakes/fake-storage.js';
import { textOf } from '../support/clients/service-client.js';
import { givenStorageProject, startStorageService } from '../support/given/storage-project.js';

/** The configuration of a bucket on this machine. */
const onThisMachine = (port: number) => ({ endpoint: `http://127.0.0.1:${port}` });

const refusing = (operation: FakeOperation, code: string): Partial<Record<FakeOperation, Fault>> => ({
  [operation]: { status: 403, body: `<Error><Code>${code}</Code><Message>canary</Message></Error>` },
});

const service = startStorageService();
test.after.always(async () => (await service).close());

test('A test makes a working storage active, and the first one becomes the default', async (t) => {
  const storage = await givenFakeStorage(t);
  const { bind, send, until } = await (await service).project(t);
  const at = await bind(onThisMachine(storage.port));
  const started = await send('POST', `${at}/test`);
  t.is(started.status, 202, started.text);
  t.is(started.json()['status'], 'testing');
  // The default is a fact of the project. A reaction sets it after the storage's success.
  const active = await until(at, 'active', ({ is_default: isDefault }) => isDefault === true);
  t.is(active['last_error'], '');
  t.truthy(active['last_test_at']);
  t.is(storage.objects.size, 0);

  const second = await bind(onThisMachine(storage.port));
  await send('POST', `${second}/test`);
  t.false((await until(second, 'active'))['is_default']);
  t.true((await send('POST', `${second}/default`)).json()['is_default']);
  t.false((await until(at, 'active'))['is_default']);
});

test("A test of a storage that refuses reports the reason without the provider's own words", async (t) => {
  const storage = await givenFakeStorage(t, refusing('put', 'AccessDenied'));
  const { bind, send, until } = await (await service).project(t);
  const at = await bind(onThisMachine(storage.port));
  await send('POST', `${at}/test`);
  const failed = await until(at, 'failed');
  t.regex(textOf(failed, 'last_error'), /^write_denied: /);
  t.notRegex(JSON.stringify(failed), /canary/);
  t.like((await send('POST', `${at}/default`)).json(), { code: 'conflict' });
});

test('Another bucket of an active storage takes effect only after its test', async (t) => {
  const storage = await givenFakeStorage(t);
  const refuses = await givenFakeStorage(t, refusing('list', 'NoSuchBucket'));
  const { bind, send, until, get } = await (await service).project(t);
  const at = await bind(onThisMachine(storage.port));
  await send('POST', `${at}/test`);
  await until(at, 'active', ({ is_default: isDefault }) => isDefault === true);

  const elsewhere = { endpoint: `http://127.0.0.1:${refuses.port}`, bucket: 'lakes' };
  const before = (await get(at)).json();
  const tried = await send('PATCH', at, { ...elsewhere, name: 'Lakes', base_path: 'deep' });
  t.is(tried.status, 202, tried.text);
  t.deepEqual(tried.json(), before);
  const kept = await until(at, 'active', ({ last_error: error }) => error !== '');
  t.like(kept, {
    name: 'Media',
    base_path: 'videos',
    bucket: 'media',
    endpoint: `http://127.0.0.1:${storage.port}`,
  });
  t.regex(textOf(kept, 'last_error'), /^bucket_not_found: /);

  t.is((await send('PATCH', at, { bucket: 'lakes', name: 'Lakes', base_path: 'deep' })).status, 202);
  const moved = await until(at, 'active', ({ bucket }) => bucket === 'lakes');
  t.like(moved, { name: 'Lakes', base_path: 'deep', last_error: '' });
  // The test used the new bucket.
  t.true(storage.requests.some((request) => request.startsWith('PUT /lakes/deep/.stowage-probe-')));
});

test('New credentials of an active storage take effect only after their test', async (t) => {
  const storage = await givenFakeStorage(t);
  const { bind, send, until } = await (await service).project(t);
  const at = await bind(onThisMachine(storage.port));
  const replacement = { credentials: { access_key: 'another', secret_key: 'another secret' } };
  t.is((await send('PUT', `${at}/credentials`, replacement)).status, 200);
  await send('POST', `${at}/test`);
  const before = await until(at, 'active');
  const replaced = await send('PUT', `${at}/credentials`, replacement);
  t.is(replaced.status, 202, replaced.text);
  await until(at, 'active', ({ last_test_at: time }) => time !== before['last_test_at']);
  const wrongProvider = { credentials: { secret_id: 'a', secret_key: 'b' } };
  t.like((await send('PUT', `${at}/credentials`, wrongProvider)).json(), { code: 'invalid_request' });
});

test('A storage is disabled, enabled and deleted', async (t) => {
  const storage = await givenFakeStorage(t);
  const { bind, send, until, get } = await (await service).project(t);
  const at = await bind(onThisMachine(storage.port));
  t.is((await send('POST', `${at}/disable`)).json()['status'], 'disabled');
  t.is((await send('POST', `${at}/test`)).status, 409);
  t.is((await send('POST', `${at}/enable`)).json()['status'], 'pending');
  await send('POST', `${at}/test`);
  await until(at, 'active', ({ is_default: isDefault }) => isDefault === true);
  const other = await bind(onThisMachine(storage.port));
  // The default is deleted last.
  t.is((await send('DELETE', at)).status, 409);
  t.is((await send('DELETE', other)).status, 204);
  t.is((await send('DELETE', at)).status, 204);
  t.is((await get(at)).status, 404);
  t.is((await send('POST', `${at}/test`)).status, 404);
});

test('A storage that keeps assets cannot be deleted', async (t) => {
  const storage = await givenFakeStorage(t);
  const { path, bind, send } = await (await service).project(t);
  const at = await bind(onThisMachine(storage.port));
  const asset = await send('POST', `${path}/assets`, {
    ...{ storage_id: at.split('/').at(-1) ?? '', name: 'Clip', object_key: 'a.mp4' },
    ...{ media_type: 'video/mp4', size: 1 },
  });
  t.is(asset.status, 201, asset.text);
  const refused = await send('DELETE', at);
  t.is(refused.status, 409);
  t.like(refused.json(), { code: 'conflict' });
  t.is((await send('DELETE', `${path}/assets/${textOf(asset.json(), 'id')}`)).status, 204);
  t.is((await send('DELETE', at)).status, 204);
});

test('A member reads and changes how cdn_domain is used', async (t) => {
  const storage = await givenFakeStorage(t);
  const { bind, send, get } = await (await service).project(t);
  const at = await bind(onThisMachine(storage.port));
  t.deepEqual((await get(`${at}/delivery`)).json(), { mode: 'rewrite' });
  t.deepEqual((await send('PUT', `${at}/delivery`, { mode: 'public' })).json(), { mode: 'public' });
  t.deepEqual((await get(`${at}/delivery`)).json(), { mode: 'public' });
  t.is((await send('PUT', `${at}/delivery`, { mode: 'sideways' })).status, 400);
});

test('A server on premises is bound by its name over http', async (t) => {
  const storage = await givenFakeStorage(t);
  const lookup: Lookup = (_hostname, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
  const { bind, send, until } = await givenStorageProject(t, { outgoing: { lookup } });
  const at = await bind({ endpoint: `http://minio.storage.internal:${storage.port}` });
  await send('POST', `${at}/test`);
  await until(at, 'active');
  t.true(storage.requests.some((request) => request.startsWith('PUT /media/videos/.stowage-probe-')));
});

test('The look-ups of a storage count for the payer of its project', async (t) => {
  // Given a storage whose host does not exist
  const accounts: Promise<string>[] = [];
  const lookup: Lookup = (hostname, callback, account) => {
    accounts.push(account?.() ?? Promise.resolve('none'));
    callback(Object.assign(new Error(hostname), { code: 'ENOTFOUND' }), []);
  };
  const { bind, send, until, get } = await givenStorageProject(t, { outgoing: { lookup } });
  const at = await bind({ endpoint: 'https://nowhere.example' });
  // When it is tested and its rules are set
  await send('POST', `${at}/test`);
  await until(at, 'failed');
  await send('POST', `${at}/cors`);
  // Then each look-up is one of the owner
  const me = (await get('/api/v1/auth/me')).json();
  const { id } = me['data'] as { readonly id: string };
  t.true(accounts.length >= 2, `${accounts.length} look-ups`);
  t.deepEqual(new Set(await Promise.all(accounts)), new Set([id]));
});
