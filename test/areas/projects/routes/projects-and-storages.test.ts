import test, { type ExecutionContext } from 'ava';
import { storageAggregate } from '../../../../src/areas/storages/domain/storage/storage.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { codeOf, fieldOf } from '../../../support/given/replies.js';
import { password, startTestService } from '../../../support/servers/http-service.js';
import { asObject, storageRequest } from '../../../support/clients/service-client.js';
import { appendEvents } from '../../../support/given/append-events.js';

type Headers = Readonly<Record<string, string>>;

async function startWithProject(t: ExecutionContext) {
  const service = await startTestService(t);
  const owner = await service.signUp('owner');
  await service.verify('owner');
  const url = `/api/v1/projects/${await service.makeProject(owner)}`;
  return {
    ...service,
    owner,
    url,
    patch: (json: unknown, headers: Headers = owner) => service.ask(url, { method: 'PATCH', json, headers }),
    remove: (headers: Headers = owner) => service.ask(url, { method: 'DELETE', headers }),
    join: async (name: string, role: string) => {
      const headers = await service.signUp(name);
      await service.verify(name);
      await service.post(`${url}/members`, { email: `${name}@example.com`, role }, owner);
      return headers;
    },
  };
}

test('A project is renamed, and the next read shows the change', async (t) => {
  const { patch, get, url, owner, clock } = await startWithProject(t);
  clock.advance(1_000);
  const changed = await patch({ name: ' Rivers ' });
  t.is(changed.status, 200);
  t.like(changed.json, { name: 'Rivers', role: 'owner', updated_at: clock.now().toISOString() });
  const found = await get(url, owner);
  t.deepEqual(found.json, changed.json);
  t.is(found.headers.get('etag'), changed.headers.get('etag'));
  t.is((await patch({})).headers.get('etag'), changed.headers.get('etag'));
  for (const bad of [{ name: '' }, { require_2fa: null }, { require_2fa: 'yes' }, { role: 'viewer' }]) {
    t.deepEqual(codeOf(await patch(bad)), [400, 'invalid_request'], JSON.stringify(bad));
  }
});

test('A project needs a name', async (t) => {
  const { post, patch, owner } = await startWithProject(t);
  for (const name of ['', '  ', 'x'.repeat(65), 'a\u0007']) {
    for (const reply of [await post('/api/v1/projects', { name }, owner), await patch({ name })]) {
      t.deepEqual(codeOf(reply), [400, 'invalid_request'], name);
      t.regex(JSON.stringify(reply.json), /"name must /);
    }
  }
});

test('A change or deletion of an outdated revision is 412', async (t) => {
  const { patch, get, remove, url, owner } = await startWithProject(t);
  const tag = (await get(url, owner)).headers.get('etag') ?? '';
  t.is((await patch({ name: 'Rivers' }, { ...owner, 'if-match': tag })).status, 200);
  const stale = { ...owner, 'if-match': tag };
  const changed = await patch({ name: 'Lakes' }, stale);
  t.deepEqual(codeOf(changed), [412, 'precondition_failed']);
  t.regex(changed.text, /has changed since/);
  t.deepEqual(codeOf(await remove(stale)), [412, 'precondition_failed']);
  const otherTag = { ...owner, 'if-match': '"abc"' };
  const unknown = await patch({ name: 'Lakes' }, otherTag);
  t.deepEqual(codeOf(unknown), [412, 'precondition_failed']);
  t.notRegex(unknown.text, /has changed/);
  t.deepEqual(codeOf(await remove(otherTag)), [412, 'precondition_failed']);
  // The flaw of the body is reported first.
  const long = { name: 'x'.repeat(65) };
  for (const headers of [stale, otherTag]) {
    t.deepEqual(codeOf(await patch(long, headers)), [400, 'invalid_request']);
  }
  const found = await get(url, owner);
  t.like(found.json, { name: 'Rivers' });
  t.is((await remove({ ...owner, 'if-match': found.headers.get('etag') ?? '' })).status, 204);
});

test('Only owners change or delete a project', async (t) => {
  const { patch, remove, join: joinAs, signUp, get, url, owner } = await startWithProject(t);
  for (const role of ['viewer', 'editor', 'admin']) {
    const headers = await joinAs(role, role);
    t.deepEqual(codeOf(await patch({ name: 'x' }, headers)), [403, 'insufficient_role'], role);
    t.deepEqual(codeOf(await remove(headers)), [403, 'insufficient_role'], role);
  }
  const stranger = await signUp('stranger');
  t.deepEqual(codeOf(await patch({ name: 'x' }, stranger)), [404, 'not_found']);
  t.deepEqual(codeOf(await remove(stranger)), [404, 'not_found']);
  t.is((await get(url, owner)).status, 200);
});

test('Only an owner with two-factor authentication can require it', async (t) => {
  const { patch, get, url, owner } = await startWithProject(t);
  t.deepEqual(codeOf(await patch({ name: 'x', require_2fa: true })), [403, 'two_factor_required']);
  t.like((await get(url, owner)).json, { name: 'Launch', require_2fa: false });
  t.is((await patch({ require_2fa: false })).status, 200);
});

test('A member without a second factor is refused from the next request on when it is required, and an auditor always', async (t) => {
  const scene = await startWithProject(t);
  const { patch, get, post, url, owner, clock, join: joinAs, signUp, commands } = scene;
  const viewer = await joinAs('viewer', 'viewer');
  const auditor = await signUp('auditor');
  await scene.grantRole('auditor', 'auditor');
  const key = await post(`${url}/api-keys`, { name: 'k', scopes: ['storage:read'] }, owner);
  t.deepEqual(codeOf(await get(url, auditor)), [403, 'two_factor_required']);
  // Given an owner who has turned it on
  await scene.passTwoFactor(owner);
  // When the owner requires it
  t.like((await patch({ require_2fa: true })).json, { require_2fa: true });
  // Then every caller without it is refused
  t.is((await get(url, owner)).status, 200);
  for (const headers of [viewer, auditor]) {
    t.deepEqual(codeOf(await get(url, headers)), [403, 'two_factor_required']);
  }
  const apiKey = { 'x-api-key': fieldOf(key, 'key') };
  t.is((await get(`${url}/storages`, apiKey)).status, 200, 'keys pass');
  t.is((await patch({ require_2fa: false })).status, 200);
  t.is((await get(url, viewer)).status, 200);
  // And a session of the owner that has not passed the second factor is refused
  const signedIn = await commands.login(
    { email: 'owner@example.com', password, client: { ip: '127.0.0.1', known: null }, userAgent: null },
    givenContext(7_002, clock.now()),
  );
  const unproved = { authorization: `Bearer ${signedIn.tokens.access_token}` };
  const addition = { email: 'new@example.com', role: 'viewer' };
  t.deepEqual(codeOf(await post(`${url}/members`, addition, unproved)), [403, 'two_factor_required']);
  t.deepEqual(codeOf(await post(`${url}/api-keys`, {}, unproved)), [403, 'two_factor_required']);
  t.deepEqual(codeOf(await scene.remove(unproved)), [403, 'two_factor_required']);
});

test('A deleted project cannot be reached by any member or key', async (t) => {
  const { remove, get, post, url, owner, join: joinAs, ask } = await startWithProject(t);
  const editor = await joinAs('editor', 'editor');
  const bound = fieldOf(await post(`${url}/storages`, storage, owner), 'id');
  const scopes = ['storage:read'];
  const key = fieldOf(await post(`${url}/api-keys`, { name: 'k', scopes }, owner), 'key');
  t.is((await get(`${url}/storages`, { 'x-api-key': key })).status, 200);
  t.is((await remove()).status, 204);
  t.deepEqual(codeOf(await get(`${url}/storages`, { 'x-api-key': key })), [401, 'unauthorized']);
  for (const headers of [owner, editor]) {
    for (const path of ['', '/members', '/api-keys', '/storages', `/storages/${bound}`]) {
      t.deepEqual(codeOf(await get(`${url}${path}`, headers)), [404, 'not_found'], path);
    }
    t.like((await get('/api/v1/projects', headers)).json, { items: [] });
  }
  t.is((await post(`${url}/members`, { email: 'a@example.com', role: 'viewer' }, owner)).status, 404);
  t.is((await post(`${url}/storages`, {}, owner)).status, 403);
  t.is((await remove()).status, 404);
  t.is((await ask(url, { method: 'PATCH', json: { name: 'x' }, headers: owner })).status, 404);
});

const storage = storageRequest('Rushes');
const credentials = asObject(storage['credentials']);
const testId = '019b7d00-0000-7000-8000-0000000000aa';

/** Every change of a storage. The first ones change nothing that the others need. */
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

test('Each change of a storage is refused if the storage has changed since the read', async (t) => {
  // Given an active storage
  const { signUp, makeProject, post, ask, get, stores } = await startTestService(t);
  const owner = await signUp('owner');
  const storages = `/api/v1/projects/${await makeProject(owner)}/storages`;
  const id = fieldOf(await post(storages, storage, owner), 'id');
  const path = `${storages}/${id}`;
  await appendEvents(
    stores.handler,
    { aggregate: storageAggregate, id },
    [
      { type: 'StorageTestStarted', data: { test_id: testId, candidate: null } },
      { type: 'StorageTestSucceeded', data: { test_id: testId, warnings: [] } },
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
    // When it is changed with the tag from before another change
    const refused = await change(stale);
    // Then nothing happens
    t.is(refused.status, 412, `${method} ${below}`);
    t.like(refused.json, { code: 'precondition_failed' });
    t.deepEqual((await get(path, owner)).json, before.json);
    // And with the current tag it is changed
    stale = before.headers.get('etag') ?? '';
    t.is((await change(stale)).status, status, `${method} ${below}`);
    // A change of the project alone leaves the storage's revision unchanged.
    if (below === '/default') stale = '"0-aaaaaaaaaaaaaaaaaaaaaa"';
  }
});

test('A storage of another project, and a deleted one, is 404 with any revision in If-Match', async (t) => {
  // Given a storage that is asked for in another project of the same owner, and a deleted storage
  const { signUp, makeProject, post, ask } = await startTestService(t);
  const owner = await signUp('owner');
  const storages = `/api/v1/projects/${await makeProject(owner)}/storages`;
  const elsewhere = `/api/v1/projects/${await makeProject(owner)}/storages`;
  const add = async () => fieldOf(await post(storages, storage, owner), 'id');
  const [kept, deleted] = [await add(), await add()];
  await ask(`${storages}/${deleted}`, { method: 'DELETE', headers: owner });
  for (const path of [`${elsewhere}/${kept}`, `${storages}/${deleted}`]) {
    for (const [method, below, json] of changes) {
      for (const ifMatch of [{}, { 'if-match': '"0-aaaaaaaaaaaaaaaaaaaaaa"' }, { 'if-match': '"7-x"' }]) {
        const answer = await ask(path + below, {
          method,
          ...(json === undefined ? {} : { json }),
          headers: { ...owner, ...ifMatch },
        });
        t.deepEqual(codeOf(answer), [404, 'not_found'], `${method} ${below}`);
      }
    }
  }
});

test('An access key that no header can carry is refused at once and not quoted', async (t) => {
  const { signUp, makeProject, post } = await startTestService(t);
  const owner = await signUp('owner');
  const storages = `/api/v1/projects/${await makeProject(owner)}/storages`;
  const wrong = { ...storage, credentials: { ...credentials, access_key: 'kanarische-schlüssel' } };
  const refused = await post(storages, wrong, owner);
  t.is(refused.status, 400);
  t.deepEqual(refused.json, {
    code: 'invalid_request',
    message: 'credentials.access_key must be of ASCII characters only',
  });
});
