import test from 'ava';
import { password, startTestService, type TestService } from '../../../support/servers/http-service.js';
import { sessionOf } from '../../../support/clients/passkey-calls.js';
import { mailedCode } from '../../../support/given/mailed-codes.js';
import { codeOf } from '../../../support/given/replies.js';

interface Listed {
  readonly id: string;
  readonly current: boolean;
}
interface Bearer {
  readonly authorization: string;
}

const email = 'ada@example.com';
const newPassword = 'Better-Horse-8';

async function login({ post }: TestService, agent?: string, secret = password): Promise<Bearer> {
  const headers = agent === undefined ? {} : { 'user-agent': agent };
  return sessionOf(await post('/api/v1/auth/login', { email, password: secret }, headers));
}

async function loginByCode(service: TestService): Promise<Bearer> {
  await service.post('/api/v1/auth/email-code/send', { email });
  const code = await mailedCode(service);
  return sessionOf(await service.post('/api/v1/auth/email-code/login', { email, code }));
}

async function list({ get }: TestService, headers: Bearer, query = '') {
  const { json } = await get(`/api/v1/auth/sessions${query}`, { ...headers });
  return (json as { data: { items: readonly Listed[]; next_cursor: string | null } }).data;
}
const me = async ({ get }: TestService, headers: Bearer) =>
  (await get('/api/v1/auth/me', { ...headers })).status;

test('Sessions are listed newest first, and the requesting one is marked', async (t) => {
  const service = await startTestService(t);
  const first = await service.signUp('ada');
  await service.signUp('bob');
  service.clock.advance(1_000);
  const second = await login(service, 'Firefox');
  const { items, next_cursor: cursor } = await list(service, second);
  t.is(cursor, null);
  t.is(items.length, 2);
  t.like(items[0], {
    current: true,
    methods: ['pwd'],
    strengthened_at: null,
    user_agent: 'Firefox',
    created_at: '2026-01-02T03:04:06.000Z',
    last_used_at: '2026-01-02T03:04:06.000Z',
    expires_at: '2026-01-16T03:04:06.000Z',
  });
  t.false(items[1]?.current);
  t.deepEqual(
    (await list(service, first)).items.map(({ current }) => current),
    [false, true],
  );
});

test('A session that has ended in any way is not listed', async (t) => {
  const service = await startTestService(t);
  const { post, clock } = service;
  await service.signUp('ada');
  const fortnight = 14 * 86_400_000;
  clock.advance(fortnight);
  t.is((await list(service, await login(service))).items.length, 1, 'the first was not used for 14 days');
  const gone = await login(service);
  await post('/api/v1/auth/logout', {}, { ...gone });
  t.is((await list(service, await login(service))).items.length, 2, 'the second signed out');
  await post('/api/v1/auth/logout', { all: true }, { ...(await login(service)) });
  t.is((await list(service, await login(service))).items.length, 1, 'all signed out');
});

test('Sessions are read page by page, and ended ones are skipped', async (t) => {
  const service = await startTestService(t, { rates: { login: { limit: 1_000, seconds: 1 } } });
  await service.signUp('ada');
  for (let n = 0; n < 6; n += 1) {
    service.clock.advance(1_000);
    const headers = await login(service, `agent ${n}`);
    if (n % 2 === 0) await service.post('/api/v1/auth/logout', {}, { ...headers });
  }
  const asking = await login(service);
  const seen: string[] = [];
  for (let query = '?limit=2'; query !== '';) {
    const page = await list(service, asking, query);
    t.true(page.items.length <= 2);
    seen.push(...page.items.map(({ id }) => id));
    query = page.next_cursor === null ? '' : `?limit=2&cursor=${page.next_cursor}`;
  }
  t.is(seen.length, 5);
  t.deepEqual(seen, [...new Set(seen)].sort().reverse());
  t.deepEqual(
    seen,
    (await list(service, asking)).items.map(({ id }) => id),
  );
});

test('Password changes are limited per client address, like sign-ins', async (t) => {
  const { signUp, post } = await startTestService(t, { rates: { login: { limit: 2, seconds: 60 } } });
  const ada = await signUp('ada');
  const change = () =>
    post('/api/v1/auth/password', { current_password: 'wrong', new_password: newPassword }, ada);
  t.deepEqual([(await change()).status, (await change()).status], [401, 401]);
  const refused = await change();
  t.is(refused.status, 429);
  t.like(refused.json, { code: 'rate_limited' });
  t.is(refused.headers.get('retry-after'), '30');
});

test('Only its user ends a session', async (t) => {
  const service = await startTestService(t);
  const [ada, bob] = [await service.signUp('ada'), await service.signUp('bob')];
  const other = await login(service);
  const otherId = (await list(service, other)).items.find(({ current }) => current)?.id ?? '';
  const end = async (id: string, headers: Bearer) =>
    (await service.ask(`/api/v1/auth/sessions/${id}`, { method: 'DELETE', headers: { ...headers } })).status;
  t.is(await end(otherId, bob), 404);
  t.is(await me(service, other), 200);
  t.is(await end('0196a000-0000-7000-8000-0000000000ff', ada), 404);
  t.is(await end('x', ada), 404);
  t.is(await end(otherId.toUpperCase(), ada), 204);
  t.is(await me(service, other), 401);
  t.is(await end(otherId, ada), 204, 'a repetition too');
  t.is(await end((await list(service, ada)).items[0]?.id ?? '', ada), 204, 'the requesting session too');
  t.is(await me(service, ada), 401);
});

test('A password change ends all other sessions', async (t) => {
  const service = await startTestService(t);
  const first = await service.signUp('ada');
  const second = await login(service);
  const change = (body: object) => service.post('/api/v1/auth/password', body, { ...second });
  t.like((await change({ new_password: newPassword })).json, { code: 'invalid_request' });
  const wrong = await change({ current_password: 'Wrong-Horse-7', new_password: newPassword });
  t.deepEqual(codeOf(wrong), [401, 'invalid_credentials']);
  t.is(await me(service, first), 200);
  const changed = await change({ current_password: password, new_password: newPassword });
  t.is(changed.status, 204);
  t.is(changed.text, '');
  t.is(await me(service, second), 200);
  t.is(await me(service, first), 401);
  t.is((await service.post('/api/v1/auth/login', { email, password })).status, 401);
  t.is(await me(service, await login(service, undefined, newPassword)), 200);
});

test('After a sign-in by mailed code the password can be set without the old one', async (t) => {
  const service = await startTestService(t);
  const first = await service.signUp('ada');
  const second = await loginByCode(service);
  const change = () => service.post('/api/v1/auth/password', { new_password: newPassword }, { ...second });
  t.is((await change()).status, 204);
  t.is(await me(service, first), 401);
  t.is(await me(service, second), 200);
});
