import test, { type ExecutionContext } from 'ava';
import { makeListReader } from '../../support/clients/list-reader.js';
import { addAsset } from '../../support/given/given-share.js';
import { startTestService } from '../../support/servers/http-service.js';

const password = 'open sesame';

async function start(t: ExecutionContext) {
  const service = await startTestService(t);
  const owner = await service.signUp('owner');
  await service.verify('owner');
  /** Signs in again: an access token lives 10 minutes. */
  const signIn = async (): Promise<{ readonly authorization: string }> => {
    const login = { email: 'owner@example.com', password: 'Correct-Horse-7' };
    const { json } = await service.post('/api/v1/auth/login', login);
    const { data } = json as { data: { tokens: { access_token: string } } };
    return { authorization: `Bearer ${data.tokens.access_token}` };
  };
  /** Posts a second later, because the lists are in order of creation. */
  const post: typeof service.post = (...request) => {
    service.clock.advance(1_000);
    return service.post(...request);
  };
  return { ...service, ...makeListReader(t, service, owner), post, owner, signIn };
}

test('Projects are listed by role, by words of their names, and in either order', async (t) => {
  const { post, signUp, verify, owner, list, refuses } = await start(t);
  const bo = await signUp('bo');
  await verify('bo');
  const ids: string[] = [];
  for (const name of ['Rhine at dawn', 'Elbe', 'Rhine at dusk']) {
    ids.push(((await post('/api/v1/projects', { name }, owner)).json as { id: string }).id);
  }
  const own = await post('/api/v1/projects', { name: 'Danube' }, bo);
  t.is(own.status, 201);
  for (const [index, role] of ['viewer', 'editor', 'viewer'].entries()) {
    const path = `/api/v1/projects/${ids[index] ?? ''}/members`;
    t.is((await post(path, { email: 'bo@example.com', role }, owner)).status, 201);
  }
  const path = '/api/v1/projects';
  const [first, second, third, fourth] = ['Rhine at dawn', 'Elbe', 'Rhine at dusk', 'Danube'];
  t.deepEqual(await list(path, '', 'name', bo), [fourth, third, second, first]);
  t.deepEqual(await list(path, 'sort=created_at', 'name', bo), [first, second, third, fourth]);
  t.deepEqual(await list(path, 'role=viewer', 'name', bo), [third, first]);
  t.deepEqual(await list(path, 'role=viewer&q=DAWN', 'name', bo), [first]);
  t.deepEqual(await list(path, 'q=rhi&sort=created_at', 'name', bo), [first, third]);
  t.deepEqual(await list(path, 'role=admin', 'name', bo), []);
  t.deepEqual(await list(path, 'q=-', 'name', bo), []);
  for (const wrong of ['role=boss', 'q=', 'sort=name']) await refuses(path, wrong);
});

test('Storages are listed by status and provider', async (t) => {
  const { makeProject, post, owner, list, refuses } = await start(t);
  const path = `/api/v1/projects/${await makeProject(owner)}/storages`;
  const keys = { s3: { access_key: 'AK', secret_key: 'SK' }, oss: { access_key: 'AK', secret_key: 'SK' } };
  const made: string[] = [];
  for (const [name, provider] of [
    ['a', 's3'],
    ['b', 'oss'],
    ['c', 's3'],
  ] as const) {
    const body = {
      name,
      provider,
      bucket: `rushes-${name}`,
      region: 'eu-central-1',
      credentials: keys[provider],
    };
    const bound = await post(path, provider === 'oss' ? { ...body, region: 'cn-hangzhou' } : body, owner);
    t.is(bound.status, 201, bound.text);
    made.push((bound.json as { id: string }).id);
  }
  t.is((await post(`${path}/${made[0] ?? ''}/disable`, {}, owner)).status, 200);
  t.deepEqual(await list(path, '', 'name'), ['c', 'b', 'a']);
  t.deepEqual(await list(path, 'provider=s3', 'name'), ['c', 'a']);
  t.deepEqual(await list(path, 'provider=s3&sort=created_at', 'name'), ['a', 'c']);
  t.deepEqual(await list(path, 'status=disabled', 'name'), ['a']);
  t.deepEqual(await list(path, 'status=pending', 'name'), ['c', 'b']);
  t.deepEqual(await list(path, 'status=disabled&provider=oss', 'name'), []);
  for (const wrong of ['status=off', 'provider=azure']) await refuses(path, wrong);
});

test('Shares are listed by what they are of and whether they open', async (t) => {
  const service = await start(t);
  const { stores, makeProject, post, owner, signIn, clock, list, refuses, ask } = service;
  const project = await makeProject(owner);
  const at = `/api/v1/projects/${project}`;
  const storage = { name: 'a', provider: 's3', bucket: 'rushes', region: 'eu-central-1' };
  const bound = await post(
    `${at}/storages`,
    { ...storage, credentials: { access_key: 'AK', secret_key: 'SK' } },
    owner,
  );
  const asset_id = await addAsset(stores, {
    projectId: project,
    storageId: (bound.json as { id: string }).id,
  });
  t.is(
    (await ask(`${at}/assets/${asset_id}`, { method: 'PATCH', json: { tags: ['Press'] }, headers: owner }))
      .status,
    200,
  );
  const share = async (terms: object) => {
    const made = await post(`${at}/shares`, { password, ...terms }, owner);
    t.is(made.status, 201, made.text);
    return made.json as { token: string; expires_at: string };
  };
  await share({ title: 'plain', asset_id });
  const { expires_at } = await share({ title: 'an hour', asset_id, expires_in: '1h' });
  await share({ title: 'tagged', tag: 'press' });
  const once = await share({ title: 'once', asset_id, max_uses: 1 });
  t.is((await post(`/api/v1/shares/${once.token}/verify`, { password })).status, 200);
  const path = `${at}/shares`;
  t.deepEqual(await list(path, '', 'title'), ['once', 'tagged', 'an hour', 'plain']);
  t.deepEqual(await list(path, 'state=open', 'title'), ['tagged', 'an hour', 'plain']);
  t.deepEqual(await list(path, 'state=used_up', 'title'), ['once']);
  t.deepEqual(await list(path, 'state=expired', 'title'), []);
  t.deepEqual(await list(path, 'tag=PRESS', 'title'), ['tagged']);
  clock.advance(Date.parse(expires_at) - clock.now().getTime() - 1_001);
  const later = await signIn();
  t.is(Date.parse(expires_at) - clock.now().getTime(), 1_001);
  clock.advance(1_000);
  t.deepEqual(await list(path, 'state=expired', 'title', later), []);
  clock.advance(1);
  t.deepEqual(await list(path, 'state=expired', 'title', later), ['an hour']);
  t.deepEqual(await list(path, `state=open&asset_id=${asset_id}`, 'title', later), ['plain']);
  const oldest = await list(path, `asset_id=${asset_id}&sort=created_at`, 'title', later);
  t.deepEqual(oldest, ['plain', 'an hour', 'once']);
  for (const wrong of ['state=revoked', 'tag=', 'asset_id=x']) await refuses(path, wrong, later);

  // A member of another project who knows the id of the asset learns nothing of its shares
  const elsewhere = `/api/v1/projects/${await makeProject(later)}/shares`;
  for (const query of ['', '&state=open', '&tag=press']) {
    const reply = await service.get(`${elsewhere}?limit=1&asset_id=${asset_id}${query}`, later);
    t.deepEqual(reply.json, { items: [], next_cursor: null });
  }
});

test('Orders of a user and of a project are listed by status', async (t) => {
  const { post, owner, makeProject, list, refuses } = await start(t);
  const project_id = await makeProject(owner);
  const ids: string[] = [];
  const capacity = { plan_id: 'capacity-100g', provider: 'stripe' };
  for (const body of [
    capacity,
    capacity,
    capacity,
    { plan_id: 'project-s3', provider: 'stripe', project_id },
  ]) {
    const placed = await post('/api/v1/orders', body, owner);
    t.is(placed.status, 201, placed.text);
    ids.push((placed.json as { id: string }).id);
  }
  t.is((await post(`/api/v1/orders/${ids[1] ?? ''}/cancel`, {}, owner)).status, 200);
  const path = '/api/v1/orders';
  const newest = ids.toReversed();
  t.deepEqual(await list(path, '', 'id'), newest);
  t.deepEqual(await list(path, 'sort=created_at', 'id'), ids);
  t.deepEqual(await list(path, 'status=canceled', 'id'), [ids[1]]);
  t.deepEqual(
    await list(path, 'status=created', 'id'),
    newest.filter((id) => id !== ids[1]),
  );
  t.deepEqual(await list(path, 'status=paid', 'id'), []);
  t.deepEqual(await list(`/api/v1/projects/${project_id}/orders`, 'status=created', 'id'), [ids[3]]);
  t.deepEqual(await list(`/api/v1/projects/${project_id}/orders`, 'status=paid', 'id'), []);
  for (const wrong of ['status=open', 'sort=status']) await refuses(path, wrong);
});

test('Members are listed by role and status, and API keys by whether they have expired', async (t) => {
  const { post, owner, makeProject, signUp, verify, list, refuses, clock, signIn } = await start(t);
  const at = `/api/v1/projects/${await makeProject(owner)}`;
  for (const name of ['bo', 'cy']) {
    await signUp(name);
    await verify(name);
  }
  for (const [email, role] of [
    ['bo@example.com', 'viewer'],
    ['cy@example.com', 'owner'],
    ['new@example.com', 'viewer'],
  ]) {
    const added = await post(`${at}/members`, { email, role }, owner);
    t.is(added.status, 201, added.text);
  }
  const path = `${at}/members`;
  const sorted = async (query: string) => (await list(path, query, 'email')).sort();
  t.deepEqual(await sorted('role=viewer'), ['bo@example.com', 'new@example.com']);
  t.deepEqual(await sorted('status=invited'), ['new@example.com']);
  t.deepEqual(await sorted('status=active'), ['bo@example.com', 'owner@example.com']);
  t.deepEqual(await sorted('status=offered'), ['cy@example.com']);
  t.deepEqual(await sorted('status=active&role=viewer'), ['bo@example.com']);
  for (const wrong of ['role=boss', 'status=gone']) await refuses(path, wrong);

  for (const [name, days] of [
    ['short', 1],
    ['long', 90],
  ] as const) {
    const expires_at = new Date(clock.now().getTime() + days * 86_400_000).toISOString();
    const issued = await post(`${at}/api-keys`, { name, scopes: ['asset:read'], expires_at }, owner);
    t.is(issued.status, 201, issued.text);
  }
  const keys = `${at}/api-keys`;
  t.deepEqual(await list(keys, 'expired=true', 'name'), []);
  clock.advance(86_400_000);
  const fresh = await signIn();
  t.deepEqual(await list(keys, 'expired=true', 'name', fresh), ['short']);
  t.deepEqual(await list(keys, 'expired=false', 'name', fresh), ['long']);
  t.deepEqual(await list(keys, '', 'name', fresh), ['long', 'short']);
});

test('Nodes are listed by status and type', async (t) => {
  const { post, owner, grantRole, passTwoFactor, ask, list } = await start(t);
  await grantRole('operator', 'owner');
  await passTwoFactor(owner);
  const path = '/api/v1/admin/nodes';
  for (const [n, node_type] of ['normal', 'high_defense', 'normal', 'normal'].entries()) {
    const made = await post(path, { name: `n${n}`, ip_address: `192.0.2.${n + 1}`, node_type }, owner);
    t.is(made.status, 201, made.text);
    if (n !== 2) continue;
    const to = `${path}/${(made.json as { id: string }).id}`;
    t.is((await ask(to, { method: 'PATCH', json: { mode: 'draining' }, headers: owner })).status, 200);
  }
  t.deepEqual(await list(path, '', 'name'), ['n0', 'n1', 'n2', 'n3']);
  t.deepEqual(await list(path, 'node_type=normal', 'name'), ['n0', 'n2', 'n3']);
  t.deepEqual(await list(path, 'status=draining', 'name'), ['n2']);
  t.deepEqual(await list(path, 'status=unknown&node_type=high_defense', 'name'), ['n1']);
});
