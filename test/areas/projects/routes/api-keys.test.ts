import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { type Answer, noReaders } from '../../../support/clients/http-app.js';
import { codeOf } from '../../../support/given/replies.js';
import { startTestService, type TestService } from '../../../support/servers/http-service.js';

type Headers = Awaited<ReturnType<TestService['signUp']>>;
interface Key {
  readonly id: string;
  readonly key: string;
}

const dayMs = 86_400_000;

async function startWithProject(t: ExecutionContext, options: Parameters<typeof startTestService>[1] = {}) {
  const service = await startTestService(t, options);
  const owner = await service.signUp('owner');
  await service.verify('owner');
  const project = await service.makeProject(owner);
  const url = `/api/v1/projects/${project}`;
  const path = `${url}/api-keys`;
  const issue = (body: object = {}, headers: Headers = owner): Promise<Answer> =>
    service.post(path, { name: 'Export', scopes: ['storage:read'], ...body }, headers);
  return {
    ...service,
    owner,
    project,
    url,
    path,
    issue,
    issued: async (body: object = {}, headers: Headers = owner): Promise<Key> => {
      const answer = await issue(body, headers);
      t.is(answer.status, 201, answer.text);
      return answer.json as Key;
    },
    /** Reads the storages with a key. */
    use: (key: string, more: Readonly<Record<string, string>> = {}) =>
      service.get(`${url}/storages`, { 'x-api-key': key, ...more }),
    remove: (target: string, headers: Headers = owner) => service.ask(target, { method: 'DELETE', headers }),
    join: async (name: string, role: string) => {
      const headers = await service.signUp(name);
      const id = await service.verify(name);
      const added = await service.post(`${url}/members`, { email: `${name}@example.com`, role }, owner);
      t.is(added.status, 201);
      return { id, headers };
    },
  };
}

test('Repetitions that wait for the first attempt get its key', async (t) => {
  // Given a log that is slow to take a key, so that all attempts have passed the gate before
  const wrap = (store: EventStore): EventStore => ({
    ...store,
    append: async (...append) => {
      if (append[2].some(({ type }) => type === 'ApiKeyIssued')) await wait(200);
      return store.append(...append);
    },
  });
  const { post, path, owner } = await startWithProject(t, { storeOptions: { wrap } });
  const issue = () =>
    post(path, { name: 'Export', scopes: ['storage:read'] }, { ...owner, 'idempotency-key': 'one' });
  const answers = await Promise.all([issue(), issue(), issue()]);
  t.deepEqual(
    answers.map(({ status, text }) => [status, text]),
    answers.map(() => [201, answers[0].text]),
  );
});

test('A key is shown once and works where its scope is named', async (t) => {
  const { issue, use, get, path, url, owner, verify, clock } = await startWithProject(t);
  const answer = await issue({ name: ' Nightly ' });
  t.is(answer.status, 201);
  t.is(answer.headers.get('cache-control'), 'no-store');
  const { key, ...shown } = answer.json as Key;
  t.regex(key, /^stw_[0-9A-Za-z]{38}$/);
  t.deepEqual(shown as object, {
    id: shown.id,
    name: 'Nightly',
    prefix: key.slice(0, 8),
    last_four: key.slice(-4),
    scopes: ['storage:read'],
    expires_at: new Date(clock.now().getTime() + 365 * dayMs).toISOString(),
    issued_by: await verify('owner'),
    created_at: clock.now().toISOString(),
  });
  const listed = await get(path, owner);
  t.deepEqual(listed.json, { items: [shown], next_cursor: null });
  t.false(listed.text.includes(key.slice(8, 38)));
  t.is((await use(key)).status, 200);
  for (const other of [url, path, `${url}/members`]) {
    t.deepEqual(codeOf(await get(other, { 'x-api-key': key })), [403, 'api_key_not_allowed'], other);
  }
});

test('A key without the scope, or of another project, is refused', async (t) => {
  const { issued, use, makeProject, owner, get } = await startWithProject(t);
  const other = await issued({ scopes: ['storage:test', 'order:read'] });
  t.deepEqual(codeOf(await use(other.key)), [403, 'insufficient_scope']);
  const { key } = await issued();
  const elsewhere = `/api/v1/projects/${await makeProject(owner)}/storages`;
  t.deepEqual(codeOf(await get(elsewhere, { 'x-api-key': key })), [404, 'not_found']);
});

test('A bad key is 401 even beside a good token, and a good one decides alone', async (t) => {
  const { issued, use, owner, signUp } = await startWithProject(t);
  const { key } = await issued();
  const typo = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  for (const bad of ['', 'stw_', typo, `${key} ${key}`, key.toLowerCase()]) {
    t.deepEqual(codeOf(await use(bad, owner)), [401, 'unauthorized'], bad);
  }
  t.is((await use(key, await signUp('stranger'))).status, 200);
});

test('A malformed key causes no read of a store', async (t) => {
  let asked = 0;
  const { get, stores } = await startTestService(t, {
    readers: {
      access: {
        ...noReaders.access,
        apiKey: () => {
          asked += 1;
          return Promise.resolve(null);
        },
      },
    },
  });
  t.truthy(stores);
  const path = '/api/v1/projects/0196a000-0000-7000-8000-0000000000ff/storages';
  for (const key of ['x', `stw_${'k'.repeat(38)}`, `stw_${'0'.repeat(38)}`]) {
    t.is((await get(path, { 'x-api-key': key })).status, 401);
  }
  t.is(asked, 0);
});

test('A revoked key is refused from the next request on', async (t) => {
  const { issued, use, remove, path, get, owner } = await startWithProject(t);
  const [one, other] = [await issued(), await issued()];
  t.is((await use(one.key)).status, 200);
  t.is((await remove(`${path}/${one.id}`)).status, 204);
  t.deepEqual(codeOf(await use(one.key)), [401, 'unauthorized']);
  t.is((await use(other.key)).status, 200);
  t.is((await remove(`${path}/${one.id}`)).status, 404);
  t.is(((await get(path, owner)).json as { items: unknown[] }).items.length, 1);
});

test('A key ends at its time, to the millisecond', async (t) => {
  const { issued, use, clock } = await startWithProject(t);
  const endsAt = new Date(clock.now().getTime() + 5_000);
  const { key } = await issued({ expires_at: endsAt.toISOString() });
  clock.advance(4_999);
  t.is((await use(key)).status, 200);
  clock.advance(1);
  t.deepEqual(codeOf(await use(key)), [401, 'unauthorized']);
});

test('A key beyond its limit is 429, never 401, and another key stays usable', async (t) => {
  const rates = { api_key: { limit: 2, seconds: 60 } };
  const { issued, use, clock } = await startWithProject(t, { rates });
  const [{ key }, { key: other }] = [await issued(), await issued()];
  t.deepEqual([(await use(key)).status, (await use(key)).status], [200, 200]);
  const refused = await use(key);
  t.deepEqual(codeOf(refused), [429, 'rate_limited']);
  t.is(refused.headers.get('retry-after'), '30');
  t.is((await use(other)).status, 200);
  clock.advance(30_000);
  t.is((await use(key)).status, 200);
});

test('A key may end after now and within 365 days', async (t) => {
  const { issue, clock } = await startWithProject(t);
  const at = (ms: number) => new Date(clock.now().getTime() + ms).toISOString();
  t.like((await issue({ expires_at: at(365 * dayMs) })).json, { expires_at: at(365 * dayMs) });
  t.like((await issue({ expires_at: at(1).replace('Z', '+00:00') })).json, { expires_at: at(1) });
  for (const bad of [at(365 * dayMs + 1), at(0), at(-1), 'tomorrow', 1]) {
    const answer = await issue({ expires_at: bad });
    t.deepEqual(codeOf(answer), [400, 'invalid_request'], String(bad));
    t.regex((answer.json as { message: string }).message, /^expires_at /);
  }
});

test('Names and scopes are validated', async (t) => {
  const { issue } = await startWithProject(t);
  for (const bad of [
    { name: '' },
    { name: 'x'.repeat(65) },
    { scopes: [] },
    { scopes: ['storage:read', 'storage:read'] },
    { scopes: ['storage:write'] },
    { scopes: 'storage:read' },
    { key: 'mine' },
  ]) {
    t.deepEqual(codeOf(await issue(bad)), [400, 'invalid_request'], JSON.stringify(bad));
  }
});

test('Keys are revoked when their issuer is removed, leaves or is no longer an admin', async (t) => {
  const { join, issued, use, remove, ask, url, owner } = await startWithProject(t);
  const demote = (id: string, role: string) =>
    ask(`${url}/members/${id}`, { method: 'PATCH', json: { role }, headers: owner });
  const stays = await issued();
  const ends: [string, (id: string, headers: Headers) => Promise<Answer>][] = [
    ['removed', (id) => remove(`${url}/members/${id}`)],
    ['left', (id, headers) => remove(`${url}/members/${id}`, headers)],
    ['demoted', (id) => demote(id, 'editor')],
  ];
  for (const [how, end] of ends) {
    const admin = await join(how, 'admin');
    const { key } = await issued({}, admin.headers);
    t.is((await use(key)).status, 200);
    t.true((await end(admin.id, admin.headers)).status < 300);
    t.deepEqual(codeOf(await use(key)), [401, 'unauthorized'], how);
    t.true((await ask(`${url}/api-keys`, { headers: admin.headers })).status >= 403);
  }
  t.is((await use(stays.key)).status, 200);
});

test('Only admins and owners manage keys', async (t) => {
  const { join, issue, path, get, remove, issued, makeProject, owner } = await startWithProject(t);
  const { id } = await issued();
  for (const role of ['viewer', 'editor']) {
    const { headers } = await join(role, role);
    t.deepEqual(codeOf(await issue({}, headers)), [403, 'insufficient_role']);
    t.deepEqual(codeOf(await get(path, headers)), [403, 'insufficient_role']);
    t.deepEqual(codeOf(await remove(`${path}/${id}`, headers)), [403, 'insufficient_role']);
  }
  const elsewhere = `/api/v1/projects/${await makeProject(owner)}/api-keys`;
  t.deepEqual(codeOf(await remove(`${elsewhere}/${id}`)), [404, 'not_found']);
  t.deepEqual(codeOf(await remove(`${path}/x`)), [404, 'not_found']);
  t.is((await remove(`${path}/${id}`)).status, 204);
});

test('No key is stored or logged in the clear', async (t) => {
  const { issued, use, stores, logLines, get, path, owner } = await startWithProject(t);
  const { key } = await issued();
  await use(key);
  const { events } = await stores.eventStore.readAll({ after: null, limit: 500 });
  const kept = JSON.stringify([
    events.map(({ data, metadata, id }) => [id, data, metadata]),
    await stores.stateStore.list('', { limit: 500 }),
    logLines,
    (await get(path, owner)).text,
  ]);
  t.true(kept.includes(key.slice(-4)), 'the search finds the shown part of the key');
  t.false(kept.includes(key.slice(4, 36)));
  t.false(kept.includes(key.slice(9, 35)));
});
