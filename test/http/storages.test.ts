import test from 'ava';
import { storageAggregate } from '../../src/domain/storage/storage.js';
import { appendEvents } from '../support/append-events.js';
import { startTestService } from '../support/http-service.js';

const request = {
  ...{ name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1' },
  credentials: { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' },
};
const { credentials } = request;
const testId = '019b7d00-0000-7000-8000-0000000000aa';

/** Every change of a storage there is; the first ones change nothing that the others need. */
const changes: readonly (readonly [method: string, path: string, body: unknown, status: number])[] = [
  ['PATCH', '', { name: 'Archive' }, 200],
  ['PUT', '/delivery', { mode: 'public' }, 200],
  ['POST', '/default', {}, 200],
  ['PUT', '/credentials', { credentials: { ...credentials, secret_key: 'another' } }, 202],
  ['POST', '/disable', {}, 200],
  ['POST', '/enable', {}, 200],
  ['POST', '/test', {}, 202],
  ['DELETE', '', undefined, 204],
];

test('each change of a storage is refused where the storage has changed since it was read', async (t) => {
  // Given an active storage
  const { signUp, makeProject, post, ask, get, stores } = await startTestService(t);
  const owner = await signUp('owner');
  const storages = `/api/v1/projects/${await makeProject(owner)}/storages`;
  const { id } = (await post(storages, request, owner)).json as { id: string };
  const path = `${storages}/${id}`;
  await appendEvents(
    stores.handler,
    { aggregate: storageAggregate, id },
    [
      { type: 'StorageTestStarted', data: { test_id: testId, candidate: null } },
      { type: 'StorageTestSucceeded', data: { test_id: testId } },
    ],
    stores.clock.now(),
  );
  let stale = (await get(path, owner)).headers.get('etag') ?? '';
  await ask(path, { method: 'PATCH', json: { name: 'Rivers' }, headers: owner });
  for (const [method, below, json, status] of changes) {
    const change = (etag: string) =>
      ask(path + below, {
        method,
        ...(json === undefined ? {} : { json }),
        headers: { ...owner, 'if-match': etag },
      });
    const before = await get(path, owner);
    // When it is changed as it was before somebody else's change
    const refused = await change(stale);
    // Then nothing happens
    t.is(refused.status, 412, `${method} ${below}`);
    t.like(refused.json, { code: 'precondition_failed' });
    t.deepEqual((await get(path, owner)).json, before.json);
    // And as it is, it is changed
    stale = before.headers.get('etag') ?? '';
    t.is((await change(stale)).status, status, `${method} ${below}`);
    // What changes the project alone leaves the storage's revision as it is.
    if (below === '/default') stale = '"0-aaaaaaaaaaaaaaaaaaaaaa"';
  }
});

test('a key that no header can carry is refused at once, and not quoted', async (t) => {
  const { signUp, makeProject, post } = await startTestService(t);
  const owner = await signUp('owner');
  const storages = `/api/v1/projects/${await makeProject(owner)}/storages`;
  const wrong = { ...request, credentials: { ...credentials, access_key: 'kanarische-schlüssel' } };
  const refused = await post(storages, wrong, owner);
  t.is(refused.status, 400);
  t.deepEqual(refused.json, {
    code: 'invalid_request',
    message: 'credentials.access_key: must be of ASCII characters only',
  });
});
