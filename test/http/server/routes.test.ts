import test from 'ava';
import { agentSecret, password, startTestService } from '../../support/servers/http-service.js';

const credentials = { access_key: 'AKIAEXAMPLE', secret_key: 'canary-secret-key' };
const s3 = { name: 'Originals', provider: 's3', bucket: 'originals', region: 'eu-west-1', credentials };

test('A registration returns the wrapper with user and tokens, and must not be cached', async (t) => {
  const { post, get } = await startTestService(t);
  const answer = await post('/api/v1/auth/register', { email: 'Ada@Example.com', password, nickname: 'Ada' });
  t.is(answer.status, 201);
  t.is(answer.headers.get('cache-control'), 'no-store');
  t.like(answer.json, {
    code: 'ok',
    message: 'ok',
    data: {
      user: { email: 'Ada@Example.com', nickname: 'Ada', capacity_bytes: 1_073_741_824, used_bytes: 0 },
      tokens: { token_type: 'Bearer', expires_in: 600 },
    },
  });
  const { data } = answer.json as { data: { user: unknown; tokens: { access_token: string } } };
  const authorization = `Bearer ${data.tokens.access_token}`;
  const me = await get('/api/v1/auth/me', { authorization });
  t.is(me.status, 200);
  t.deepEqual(me.json, { code: 'ok', message: 'ok', data: { ...(data.user as object), platform_roles: [] } });
  t.is(
    (await get('/api/v1/auth/me', { authorization, 'if-none-match': me.headers.get('etag') ?? '' })).status,
    304,
  );
});

test('An invalid registration is refused with the name of the field', async (t) => {
  const { post } = await startTestService(t);
  const register = (body: unknown) => post('/api/v1/auth/register', body);
  const bad: [unknown, RegExp][] = [
    [{ email: 'nobody', password }, /^email /],
    [{ email: 'a@example.com', password: 'short1-A' }, /^password/],
    [{ email: 'a@example.com', password: 'alllowercase' }, /^password/],
    [{ email: 'a@example.com' }, /^password /],
    [{ email: 'a@example.com', password, nickname: 'x'.repeat(51) }, /^nickname /],
    [{ email: 'a@example.com', password, admin: true }, /admin/],
  ];
  for (const [body, message] of bad) {
    const answer = await register(body);
    t.is(answer.status, 400, JSON.stringify(body));
    t.like(answer.json, { code: 'invalid_request' });
    t.regex((answer.json as { message: string }).message, message);
  }
  t.is((await register({ email: 'a@example.com', password })).status, 201);
  const taken = await register({ email: 'A@Example.com', password });
  t.is(taken.status, 409);
  t.like(taken.json, { code: 'email_taken' });
});

test('Registrations are limited per address, and only 201 and 409 count', async (t) => {
  const { post, clock } = await startTestService(t, { rates: { register: { limit: 2, seconds: 3600 } } });
  const register = (email: string) => post('/api/v1/auth/register', { email, password });
  for (let round = 0; round < 5; round += 1) t.is((await register('nobody')).status, 400);
  t.is((await register('a@example.com')).status, 201);
  t.is((await register('a@example.com')).status, 409);
  const refused = await register('b@example.com');
  t.is(refused.status, 429);
  t.like(refused.json, { code: 'rate_limited' });
  t.is(refused.headers.get('retry-after'), '1800');
  clock.advance(1_800_000);
  t.is((await register('b@example.com')).status, 201);
});

test('A repeated registration with one key returns the same account and tokens', async (t) => {
  const { post, stores } = await startTestService(t);
  const register = (email: string) =>
    post('/api/v1/auth/register', { email, password }, { 'idempotency-key': 'once' });
  const first = await register('a@example.com');
  t.is(first.status, 201);
  t.is((await register('a@example.com')).text, first.text);
  t.like((await register('b@example.com')).json, { code: 'idempotency_key_reused' });
  const kept = JSON.stringify(await stores.stateStore.list('', { limit: 100 }));
  t.notRegex(kept, /example\.com|access_token|"once"|"eyJ/);
});

test('A project belongs to its creator, and no other user lists or finds it', async (t) => {
  const { signUp, post, get } = await startTestService(t);
  const [ada, bob] = [await signUp('ada'), await signUp('bob')];
  const made = await post('/api/v1/projects', { name: '  Launch  ' }, ada);
  t.is(made.status, 201);
  t.like(made.json, { name: 'Launch', role: 'owner', require_2fa: false, entitlements: { allow_s3: false } });
  const location = made.headers.get('location') ?? '';
  const found = await get(location, ada);
  t.deepEqual(found.json, made.json);
  t.is(found.headers.get('etag'), made.headers.get('etag'));
  t.is((await get(location.toUpperCase().replace('/API/V1/PROJECTS', '/api/v1/projects'), ada)).status, 200);
  t.is((await get(location, bob)).status, 404);
  t.is((await get('/api/v1/projects/0196a000-0000-7000-8000-0000000000ff', ada)).status, 404);
  t.like((await get('/api/v1/projects', ada)).json, { items: [made.json], next_cursor: null });
  t.deepEqual((await get('/api/v1/projects', bob)).json, { items: [], next_cursor: null });
});

test('A list is read page by page, newest first, without gaps or repetitions', async (t) => {
  const { signUp, post, get, clock } = await startTestService(t);
  const ada = await signUp('ada');
  for (const name of ['1', '2', '3', '4', '5']) {
    clock.advance(1000);
    await post('/api/v1/projects', { name }, ada);
  }
  const names: string[] = [];
  let cursor = '';
  for (let page = 0; page < 3; page += 1) {
    const { json } = await get(`/api/v1/projects?limit=2${cursor}`, ada);
    const { items, next_cursor } = json as { items: { name: string }[]; next_cursor: string | null };
    names.push(...items.map(({ name }) => name));
    t.is(next_cursor === null, page === 2);
    cursor = `&cursor=${next_cursor ?? ''}`;
  }
  t.deepEqual(names, ['5', '4', '3', '2', '1']);
  for (const bad of ['limit=0', 'limit=201', 'limit=1.5', 'cursor=', 'cursor=!!', 'cursor=AAAA']) {
    t.is((await get(`/api/v1/projects?${bad}`, ada)).status, 400, `for ${bad}`);
  }
});

test('A new storage is pending, and no reply, event or log contains its credentials', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const project = await service.makeProject(ada);
  const path = `/api/v1/projects/${project}/storages`;
  const made = await service.post(path, s3, ada);
  t.is(made.status, 201, made.text);
  t.like(made.json, {
    project_id: project,
    name: 'Originals',
    provider: 's3',
    status: 'pending',
    is_default: false,
    last_test_at: null,
    last_error: '',
    base_path: '',
    has_credentials: true,
  });
  const found = await service.get(made.headers.get('location') ?? '', ada);
  t.is(found.status, 200);
  t.deepEqual(found.json, made.json);
  t.is(found.headers.get('etag'), made.headers.get('etag'));
  t.like((await service.get(path, ada)).json, { items: [made.json], next_cursor: null });
  const log = await service.stores.eventStore.readAll({ after: null, limit: 500 });
  const everything =
    JSON.stringify(log.events.map(({ data }) => data)) + service.logLines.join('') + made.text;
  t.notRegex(everything, /canary|AKIAEXAMPLE|Correct-Horse/);
});

test('Creating a storage is 400 for a bad id or body, and 403 for strangers and without the entitlement', async (t) => {
  const { signUp, makeProject, post, get } = await startTestService(t);
  const [ada, bob] = [await signUp('ada'), await signUp('bob')];
  const project = await makeProject(ada);
  const path = (id: string) => `/api/v1/projects/${id}/storages`;
  const code = async (id: string, body: unknown, headers?: Record<string, string>) => {
    const answer = await post(path(id), body, headers);
    return [answer.status, (answer.json as { code?: string }).code];
  };
  t.deepEqual(await code(project, s3), [401, 'unauthorized']);
  t.deepEqual(await code('x', s3, ada), [400, 'invalid_request']);
  t.deepEqual(await code(project, s3, bob), [403, 'forbidden']);
  t.deepEqual(await code('0196a000-0000-7000-8000-0000000000ff', s3, ada), [403, 'forbidden']);
  const plain = ((await post('/api/v1/projects', { name: 'Plain' }, ada)).json as { id: string }).id;
  t.deepEqual(await code(plain, s3, ada), [403, 'entitlement_required']);
  const bad = [
    { ...s3, provider: 'gcs' },
    { ...s3, credentials: { access_key: 'a' } },
    { ...s3, credentials: { ...credentials, more: 'x' } },
    { ...s3, credentials: { secret_id: 'a', secret_key: 'b' } },
    { ...s3, credentials: { access_key: ' ', secret_key: 'b' } },
    { ...s3, name: '' },
    { ...s3, bucket: 'no spaces' },
    { ...s3, endpoint: 'http://203.0.113.9' },
    { ...s3, base_path: '../up' },
    { ...s3, unknown: 1 },
    { name: 'a', provider: 'cos', bucket: 'b-125', credentials: { secret_id: 'a', secret_key: 'b' } },
  ];
  for (const body of bad)
    t.deepEqual(await code(project, body, ada), [400, 'invalid_request'], JSON.stringify(body));
  t.is((await get(`${path(project)}/x`, ada)).status, 404);
  t.is((await get(`${path(project)}/0196a000-0000-7000-8000-0000000000ff`, ada)).status, 404);
});

test('A storage is found only in its project', async (t) => {
  const { signUp, makeProject, post, get } = await startTestService(t);
  const ada = await signUp('ada');
  const [one, other] = [await makeProject(ada), await makeProject(ada)];
  const { id } = (await post(`/api/v1/projects/${one}/storages`, s3, ada)).json as { id: string };
  t.is((await get(`/api/v1/projects/${one}/storages/${id}`, ada)).status, 200);
  t.is((await get(`/api/v1/projects/${other}/storages/${id}`, ada)).status, 404);
});

test('The twenty-first storage is a conflict, and a repeated twentieth is not', async (t) => {
  const { signUp, makeProject, post } = await startTestService(t);
  const ada = await signUp('ada');
  const path = `/api/v1/projects/${await makeProject(ada)}/storages`;
  for (let n = 1; n <= 20; n += 1) {
    t.is((await post(path, s3, { ...ada, 'idempotency-key': `${n}` })).status, 201, `storage ${n}`);
  }
  t.is((await post(path, s3, { ...ada, 'idempotency-key': '20' })).status, 201);
  const refused = await post(path, s3, ada);
  t.is(refused.status, 409);
  t.like(refused.json, { code: 'conflict' });
});

test('The peer list excludes the requesting node by its id, or else by its address', async (t) => {
  const { commands, stores, get } = await startTestService(t);
  const peers = '/api/v1/internal/peer-list';
  const headers = { 'x-agent-secret': agentSecret };
  const names = async (query = ''): Promise<string[]> => {
    const { json } = await get(`${peers}${query}`, headers);
    return (json as { items: { name: string }[] }).items.map(({ name }) => name).sort();
  };
  t.is((await get(peers)).status, 401);
  t.deepEqual(await names(), []);
  const ids: string[] = [];
  for (const [n, address] of ['127.0.0.1', '192.0.2.1', '2001:DB8:0::1', '127.0.0.1'].entries()) {
    stores.clock.advance(1000);
    const command = {
      commandId: `018f0000-0000-7000-8000-00000000000${n}`,
      causationId: 'c',
      correlationId: 'c',
    };
    const node = await commands.addNode(
      { name: `n${n}`, ip_address: address },
      { ...command, actor: 'operator', time: stores.clock.now() },
    );
    ids.push(node.resource.id);
  }
  t.deepEqual(await names(), ['n1', 'n2']);
  t.deepEqual(await names(`?node_id=${ids[1] ?? ''}`), ['n0', 'n2', 'n3']);
  t.deepEqual(await names('?node_id=unknown'), ['n0', 'n1', 'n2', 'n3']);
  t.deepEqual(await names('?node_id='), ['n0', 'n1', 'n2', 'n3']);
  const first = await get(`${peers}?node_id=unknown`, headers);
  const tag = first.headers.get('etag') ?? '';
  t.is((await get(`${peers}?node_id=unknown`, { ...headers, 'if-none-match': tag })).status, 304);
  const changes = { name: 'renamed' };
  await commands.changeNode(
    { nodeId: ids[1] ?? '', changes },
    {
      commandId: '018f0000-0000-7000-8000-0000000000aa',
      causationId: 'c',
      correlationId: 'c',
      actor: 'operator',
      time: stores.clock.now(),
    },
  );
  t.is((await get(`${peers}?node_id=unknown`, { ...headers, 'if-none-match': tag })).status, 200);
  t.deepEqual(await names(), ['n2', 'renamed']);
});
