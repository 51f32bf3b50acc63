import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import type { Route } from '../../../src/http/route.js';
import { agentSecret, areaRoutes, startTestService } from '../../support/servers/http-service.js';

const id = '019b7d00-0000-7000-8000-00000000abcd';
const at = '2001-01-01T00:00:00Z';
const file = { name: 'a', object_key: 'a', media_type: 'video/mp4', size: 1 };
const storage = { name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1' };
const credentials = { access_key: 'AK', secret_key: 'SK' };
const passkey = {
  ...{ id: 'AAAA', type: 'public-key' },
  response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' },
};

/**
 * Bodies that the schema of a route accepts, and that a rule refuses without a look at any store, by the name of each route
 * that takes an `Idempotency-Key`. Empty: the schema says all.
 */
const refusedByRule: Readonly<Record<string, readonly object[]>> = {
  register: [
    { email: 'no address', password: 'Correct-Horse-7' },
    { email: 'ada@example.com', password: 'short' },
  ],
  createProject: [{ name: '  ' }],
  addMember: [{ email: 'no address', role: 'viewer' }],
  issueApiKey: [
    { name: ' ', scopes: ['asset:read'] },
    { name: 'k', scopes: ['asset:read', 'asset:read'] },
    { name: 'k', scopes: ['asset:read'], expires_at: at },
    { name: 'k', scopes: ['asset:read'], expires_at: '2101-01-01T00:00:00Z' },
  ],
  createStorage: [
    { ...storage, credentials, bucket: 'No' },
    { ...storage, credentials: { ...credentials, secret_key: '' } },
  ],
  addAsset: [
    { ...file, object_key: '../a' },
    { ...file, renditions: [{ ...file, kind: 'original', name: undefined }] },
  ],
  startUpload: [],
  createShare: [
    { asset_id: id, password: 'abc' },
    { asset_id: id, password: 'open sesame', expires_at: at },
    { asset_id: id, tag: 'press', password: 'open sesame' },
    { tag: ' ', password: 'open sesame' },
  ],
  mailShare: [
    { to: ['no address'] },
    { to: ['ada@example.com', 'Ada@Example.com'] },
    { to: ['ada@example.com'], message: 'x'.repeat(501) },
  ],
  verifyShare: [{ password: '' }],
  placeOrder: [
    { plan_id: 'capacity-100g', provider: 'standard', project_id: id },
    { plan_id: 'capacity-100g', provider: 'alipay', currency: 'USD' },
  ],
  refundOrder: [{ note: ' ' }, { note: 'x'.repeat(1_001) }],
  registerPasskey: [{ credential: passkey, name: ' ' }],
  enrolTotp: [],
  createNode: [
    { name: ' ', ip_address: '192.0.2.1' },
    { name: 'edge', ip_address: 'edge.example.com' },
  ],
};

/** Given an operator with a fresh second factor, who owns a project. Counts the writes of claims. */
async function given(t: ExecutionContext) {
  let claims = 0;
  const service = await startTestService(t, {
    storeOptions: {
      wrapState: (store) => ({
        ...store,
        compareAndSet: (key, ...rest) => {
          if (key.startsWith('idempotency/')) claims += 1;
          return store.compareAndSet(key, ...rest);
        },
      }),
    },
  });
  const headers = await service.signUp('ada');
  const project = await service.makeProject(headers);
  await service.passTwoFactor(headers);
  await service.grantRole('operator', 'ada');
  let keys = 0;
  return {
    routes: areaRoutes(service.commands, service.stores).filter(takesBody),
    clock: service.clock,
    claims: () => claims,
    /** Sends a body, with a new key by default. */
    send: (route: Route, body: string, key = `key-${(keys += 1)}`) => {
      const path = route.path
        .replace(':projectId', project)
        .replace(':paymentId', `standard-${'ab'.repeat(32)}@0`)
        .replace(/:\w+/g, id);
      const type = { 'content-type': 'application/json', 'idempotency-key': key };
      const credential = route.access.kind === 'agent' ? { 'x-agent-secret': agentSecret } : headers;
      return service.ask(path, { method: route.method, body, headers: { ...credential, ...type } });
    },
    stored: async () => (await service.stores.stateStore.list('idempotency/', { limit: 10 })).length,
  };
}

function takesBody({ request, raw }: Route): boolean {
  return raw === undefined && !(request.body instanceof z.ZodUndefined);
}

test('A body that the schema of its route refuses writes no claim of its Idempotency-Key, on every route', async (t) => {
  const { routes, send, claims, stored } = await given(t);
  t.true(routes.length > 30, `${routes.length} routes`);
  const bodies = ['[]', '{"', '{"a":{"b":1},"a":2}', '"text"'] as const;
  for (const [index, route] of routes.entries()) {
    const body = bodies[index % bodies.length] ?? '';
    const answer = await send(route, body);
    t.is(answer.status, 400, `${route.name} ${body}: ${answer.text}`);
  }
  t.is(claims(), 0);
  t.is(await stored(), 0);
});

test('A body that a rule refuses without a look at any store writes no claim of its Idempotency-Key', async (t) => {
  const { routes, send, claims, stored } = await given(t);
  const idempotent = routes.filter(({ idempotent: accepts }) => accepts !== undefined);
  // The table has every route that takes a key
  t.deepEqual(idempotent.map(({ name }) => name).sort(), Object.keys(refusedByRule).sort());
  for (const route of idempotent) {
    for (const body of refusedByRule[route.name] ?? []) {
      const answer = await send(route, JSON.stringify(body));
      t.is(answer.status, 400, `${route.name} ${JSON.stringify(body)}: ${answer.text}`);
      t.is(claims(), 0, `${route.name} ${JSON.stringify(body)}`);
    }
  }
  t.is(await stored(), 0);
  // A valid body writes its claim
  const [create] = idempotent.filter(({ name }) => name === 'createProject');
  if (create === undefined) return t.fail();
  t.is((await send(create, '{"name":"Rivers"}')).status, 201);
  t.true(claims() > 0);
  t.is(await stored(), 1);
  return undefined;
});

test('A repetition that comes after the time in its body gets the reply of the first attempt', async (t) => {
  const { routes, send, clock } = await given(t);
  const issue = routes.find(({ name }) => name === 'issueApiKey');
  if (issue === undefined) return t.fail();
  const expires_at = new Date(clock.now().getTime() + 10_000).toISOString();
  const body = JSON.stringify({ name: 'k', scopes: ['asset:read'], expires_at });
  const first = await send(issue, body, 'once');
  t.is(first.status, 201, first.text);
  clock.advance(60_000);
  const again = await send(issue, body, 'once');
  t.deepEqual([again.status, again.text], [201, first.text]);
  t.is((await send(issue, body)).status, 400);
  return undefined;
});
