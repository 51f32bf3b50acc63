import test from 'ava';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { textOf } from '../support/clients/service-client.js';
import { givenFakeStorage } from '../support/fakes/fake-storage.js';
import { startStorageService } from '../support/given/storage-project.js';

const service = startStorageService({ environment: { ALLOWED_ORIGINS: 'https://app.example.com' } });
test.after.always(async () => (await service).close());

const foreign =
  '<CORSRule><AllowedOrigin>https://shop.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>';

const codesOf = (storage: JsonObject): readonly string[] =>
  (storage['warnings'] as readonly JsonObject[]).map((warning) => textOf(warning, 'code'));

test('A bucket that refuses pages is active with a warning, until the service or its owner sets the rule', async (t) => {
  const storage = await givenFakeStorage(t);
  storage.cors.configuration = `<CORSConfiguration>${foreign}</CORSConfiguration>`;
  const { bind, send, until, get } = await (await service).project(t);
  const at = await bind({ endpoint: `http://127.0.0.1:${storage.port}` });
  t.deepEqual(codesOf((await get(at)).json()), []);
  await send('POST', `${at}/test`);
  const warned = await until(at, 'active');
  t.deepEqual(codesOf(warned), ['cors_missing']);
  t.is(warned['last_error'], '');
  const [warning] = warned['warnings'] as readonly [{ message: string; rule: { text: string } }];
  t.regex(
    warning.message,
    /^The bucket does not let pages of http:\/\/127\.0\.0\.1:\d+, https:\/\/app\.example\.com /,
  );
  t.like(JSON.parse(warning.rule.text), [{ AllowedMethods: ['GET', 'HEAD', 'PUT'] }]);

  // When the service sets the rule
  const set = await send('POST', `${at}/cors`, {});
  t.is(set.status, 200, set.text);
  t.deepEqual(codesOf(set.json()), []);
  t.true(storage.cors.configuration.includes(foreign));
  const revision = set.headers.get('etag');
  // Then a repetition changes neither the bucket nor the storage
  const rules = storage.cors.configuration;
  const again = await send('POST', `${at}/cors`, {});
  t.is(again.headers.get('etag'), revision);
  t.is(storage.cors.configuration, rules);
  await send('POST', `${at}/test`);
  t.deepEqual(
    codesOf(await until(at, 'active', (tested) => tested['updated_at'] !== set.json()['updated_at'])),
    [],
  );
});

test('A bucket that does not take the rule answers 409 with the cause, and keeps the warning', async (t) => {
  const denied = { status: 403, body: '<Error><Code>AccessDenied</Code><Message>canary</Message></Error>' };
  const storage = await givenFakeStorage(t, { cors: denied });
  const { bind, send, until, get } = await (await service).project(t);
  const at = await bind({ endpoint: `http://127.0.0.1:${storage.port}` });
  await send('POST', `${at}/test`);
  await until(at, 'active');
  const refused = await send('POST', `${at}/cors`, {});
  t.is(refused.status, 409, refused.text);
  t.like(refused.json(), { code: 'conflict' });
  t.regex(textOf(refused.json(), 'message'), /^cors_denied: .*PutBucketCORS/);
  t.notRegex(refused.text, /canary/);
  t.deepEqual(codesOf((await get(at)).json()), ['cors_missing']);

  t.is((await send('POST', `${at}/disable`, {})).status, 200);
  t.is((await send('POST', `${at}/cors`, {})).status, 409);
});

test('A storage has a second endpoint for browsers, which its test uses and its URLs name', async (t) => {
  const storage = await givenFakeStorage(t);
  const front = await givenFakeStorage(t);
  const { path, bind, send, until } = await (await service).project(t);
  const publicEndpoint = `http://127.0.0.1:${front.port}`;
  const at = await bind({ endpoint: `http://127.0.0.1:${storage.port}`, public_endpoint: publicEndpoint });
  await send('POST', `${at}/test`);
  await until(at, 'active', (tested) => tested['is_default'] === true);
  t.true(front.requests.some((request) => request.startsWith('PUT /media/videos/')));
  const asset = await send('POST', `${path}/assets`, {
    ...{ name: 'Rhine', object_key: 'rhine.mp4', media_type: 'video/mp4', size: 4 },
  });
  const upload = await send('POST', `${path}/assets/${textOf(asset.json(), 'id')}/upload-url`, {});
  t.true(textOf(upload.json(), 'url').startsWith(`${publicEndpoint}/media/videos/rhine.mp4?`), upload.text);

  // When an active storage gets another one, it is tested first
  const wrong = await givenFakeStorage(t, {
    put: { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' },
  });
  const moved = await send('PATCH', at, { public_endpoint: `http://127.0.0.1:${wrong.port}` });
  t.is(moved.status, 202, moved.text);
  const kept = await until(at, 'active', (tested) => tested['last_error'] !== '');
  t.regex(textOf(kept, 'last_error'), /^public_endpoint_wrong: /);
  t.is(kept['public_endpoint'], publicEndpoint);
  const removed = await send('PATCH', at, { public_endpoint: '' });
  t.is(removed.status, 202);
  await until(at, 'active', (tested) => tested['public_endpoint'] === '');
});
