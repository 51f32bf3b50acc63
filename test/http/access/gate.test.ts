import { randomBytes } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import type { ProjectAccess, AccessReader } from '../../../projections/projects/projects/reader.js';
import type { SessionAccess } from '../../../projections/accounts/sessions/reader.js';
import type { UserAccess } from '../../../projections/accounts/users/reader.js';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { type GuardedAction, noFactors } from '../../../src/areas/accounts/domain/guard.js';
import {
  agentAccess,
  operatorAccess,
  projectAccess,
  sessionAccess,
  type AccessKind,
  type Policy,
  type ProjectPolicy,
} from '../../../src/http/access/access.js';
import type { HttpDeps } from '../../../src/http/server/compose.js';
import { noBody, noQuery } from '../../../src/http/route-spec.js';
import type { Route } from '../../../src/http/route.js';
import { makeApiKey } from '../../../src/security/tokens/api-keys.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { partial } from '../../support/fakes/partial.js';
import {
  exampleProject,
  noReaders,
  startTestHttp,
  type AskOptions,
  type TestHttp,
} from '../../support/clients/http-app.js';
import { testRoute } from '../../support/clients/test-route.js';

const who = z.strictObject({ actor: z.string() });
const replies = { 200: { description: 'Who called.', schema: who } };

function projectRoute({
  method = 'POST',
  ...policy
}: Partial<ProjectPolicy> & { method?: 'GET' | 'POST' } = {}): Route {
  return testRoute(`${method} /projects/:projectId/touch`, {
    replies,
    access: projectAccess({ role: 'admin', apiKey: 'refused', ...policy }),
    request: {
      params: z.object({ projectId: z.uuid() }),
      query: noQuery,
      body: method === 'GET' ? noBody : z.strictObject({ name: z.string() }),
    },
    handler: ({ caller }) => ({ status: 200, body: { actor: caller.actor } }),
  });
}

/** A route that tells who called. */
function whoRoute<Kind extends AccessKind>(access: Policy<Kind>, path: `/${string}` = '/who'): Route {
  return testRoute(`GET ${path}`, {
    ...{ access, replies },
    handler: ({ caller }) => ({ status: 200, body: { actor: caller.actor } }),
  });
}

const sessionRoute = (action: GuardedAction = 'use'): Route => whoRoute(sessionAccess(action));

/**
 * Users `admin`, `viewer`, `stranger`. The token of a user is the user's name. `key` is a key with the scope
 * storage:read.
 */
const { key, digest: keyDigest } = makeApiKey((size) => Buffer.alloc(size, 7));
const project = exampleProject({ admin: 'admin', viewer: 'viewer', totp: 'admin' });
const start = new Date('2026-01-02T03:04:05.000Z');

const passed = (at: Date): Partial<SessionAccess> => ({
  proofs: { authenticatedAt: start, passedAt: { totp: at, passkey: null } },
});

interface World {
  readonly project?: Partial<ProjectAccess>;
  readonly session?: Partial<SessionAccess> | null;
  readonly user?: Partial<UserAccess> | null;
  readonly keyScopes?: readonly string[];
  readonly keyExpiresAt?: Date;
}

const later = new Date('2027-01-01T00:00:00.000Z');
const someSession: Omit<SessionAccess, 'userId'> = {
  epoch: 3,
  proofs: { authenticatedAt: start, passedAt: { totp: null, passkey: null } },
  emailCodeAt: null,
  expiresAt: later,
};
const someUser: UserAccess = {
  epoch: 3,
  kept_session_id: null,
  factors: noFactors,
  platformRoles: [],
  banned: false,
  document: partial({}),
};

async function startWith(
  t: ExecutionContext,
  routes: readonly Route[],
  world: World = {},
): Promise<TestHttp> {
  const clock = makeTestClock(start.toISOString());
  const access: AccessReader = {
    session: ({ sessionId: userId, projectId }) => {
      if (userId === 'unreadable') throw new StoreUnavailable('no answer');
      const { session, user } = world;
      return Promise.resolve({
        session: session === null ? null : { userId, ...someSession, ...session },
        user:
          user === null ? null : { ...someUser, factors: { ...noFactors, totp: userId === 'totp' }, ...user },
        project: projectId === project.id ? { ...project, ...world.project } : null,
      });
    },
    apiKey: (digest) =>
      Promise.resolve(
        digest === keyDigest
          ? {
              ...{ keyId: 'k1', issuedBy: 'issuer' },
              project: { ...project, ...world.project },
              scopes: world.keyScopes ?? ['storage:read'],
              expiresAt: world.keyExpiresAt ?? later,
            }
          : null,
      ),
  };
  const accessTokens: HttpDeps['accessTokens'] = {
    ...noKeys,
    verify: (token) => {
      if (token === 'expired' || token === 'invalid') {
        const code = token === 'expired' ? 'token_expired' : 'invalid_token';
        return Promise.resolve({ valid: false, code });
      }
      return Promise.resolve({ valid: true, claims: claimsOf(token) });
    },
  };
  return startTestHttp(t, { routes, readers: { access }, accessTokens, clock });
}

const noKeys: HttpDeps['accessTokens'] = {
  verify: () => Promise.resolve({ valid: false, code: 'invalid_token' }),
  jwks: () => Promise.resolve({ keys: [] }),
};

const claimsOf = (name: string) => ({
  userId: name,
  sessionId: name,
  tokenId: 'jti',
  issuedAt: start,
  expiresAt: start,
  authenticatedAt: start,
  methods: ['pwd'],
});

const touch = `/projects/${project.id}/touch`;
const bearer = (name: string) => ({ authorization: `Bearer ${name}` });
const post = (headers: Record<string, string>, more: AskOptions = {}): AskOptions => ({
  method: 'POST',
  headers,
  json: { name: 'x' },
  ...more,
});

/** Checks the reply to a request. @param expected status and, for an error, its code */
async function expectCode(
  t: ExecutionContext,
  ask: readonly [http: TestHttp, path: string, options: AskOptions],
  expected: readonly [number, string | null],
): Promise<void> {
  const [http, path, options] = ask;
  const answer = await http.ask(path, options);
  const { code = null } = answer.json as { readonly code?: string };
  t.deepEqual([answer.status, code], [...expected], path);
}

test('Checks run in their order, so a request with several flaws gets the first error', async (t) => {
  const policy = { badId: 'invalid_request', onMissing: 'forbidden', entitlement: 'allow_s3' } as const;
  const http = await startWith(t, [projectRoute(policy)], {
    project: { requireTwoFactor: true, entitlements: { allow_s3: false } },
  });
  const bad = '/projects/nonsense/touch';
  const other = '/projects/0196a000-0000-7000-8000-0000000000ff/touch';
  const text = { 'content-type': 'text/plain' };
  // Every row repairs the flaw that the row before reported, and keeps the others.
  const large = { body: 'x'.repeat(70_000) };
  const send = (headers: Record<string, string>, more: AskOptions = {}): AskOptions => ({
    method: 'POST',
    headers: { ...text, ...headers },
    body: '{',
    ...more,
  });
  await expectCode(t, [http, '/nothing', send({}, large)], [404, 'not_found']);
  await expectCode(t, [http, bad, send({}, { ...large, method: 'PUT' })], [405, 'method_not_allowed']);
  await expectCode(t, [http, bad, send({}, large)], [413, 'payload_too_large']);
  await expectCode(t, [http, bad, send({})], [401, 'unauthorized']);
  await expectCode(t, [http, bad, send({ ...bearer('admin'), 'x-api-key': 'bad' })], [401, 'unauthorized']);
  await expectCode(t, [http, bad, send({ 'x-api-key': key })], [400, 'invalid_request']);
  await expectCode(t, [http, other, send({ 'x-api-key': key })], [403, 'api_key_not_allowed']);
  await expectCode(t, [http, other, send(bearer('viewer'))], [403, 'forbidden']);
  await expectCode(t, [http, touch, send(bearer('stranger'))], [403, 'forbidden']);
  await expectCode(t, [http, touch, send(bearer('viewer'))], [403, 'insufficient_role']);
  await expectCode(t, [http, touch, send(bearer('admin'))], [403, 'two_factor_required']);
  const relaxed = await startWith(t, [projectRoute(policy)], {
    project: { entitlements: { allow_s3: false } },
  });
  await expectCode(t, [relaxed, touch, send(bearer('admin'))], [403, 'entitlement_required']);
  const entitled = await startWith(t, [projectRoute(policy)]);
  await expectCode(t, [entitled, touch, send(bearer('admin'))], [415, 'unsupported_media_type']);
  const json = { 'content-type': 'application/json', ...bearer('admin') };
  await expectCode(t, [entitled, touch, send(json)], [400, 'invalid_json']);
  await expectCode(t, [entitled, touch, send(json, { body: '{}' })], [400, 'invalid_request']);
  await expectCode(t, [entitled, touch, post(bearer('admin'))], [200, null]);
});

test("On other routes a bad id, an unknown project and another user's project are all 404", async (t) => {
  const http = await startWith(t, [projectRoute()]);
  const paths = ['/projects/x/touch', '/projects/0196a000-0000-7000-8000-0000000000ff/touch'];
  for (const path of paths) await expectCode(t, [http, path, post(bearer('admin'))], [404, 'not_found']);
  await expectCode(t, [http, touch, post(bearer('stranger'))], [404, 'not_found']);
});

test('An API key passes by its scope, in its project, until it expires', async (t) => {
  const route = projectRoute({ apiKey: 'storage:read' });
  const headers = { 'x-api-key': key };
  await expectCode(t, [await startWith(t, [route]), touch, post(headers)], [200, null]);
  const other = await startWith(t, [route], { keyScopes: ['asset:read'] });
  await expectCode(t, [other, touch, post(headers)], [403, 'insufficient_scope']);
  const elsewhere = await startWith(t, [route], { project: { id: 'another' } });
  await expectCode(t, [elsewhere, touch, post(headers)], [404, 'not_found']);
  const expired = await startWith(t, [route], { keyExpiresAt: start });
  await expectCode(t, [expired, touch, post(headers)], [401, 'unauthorized']);
  const required = await startWith(t, [route], { project: { requireTwoFactor: true } });
  await expectCode(t, [required, touch, post(headers)], [200, null]);
  for (const bad of ['', `${key}x`, `stw_${'K'.repeat(38)}`, `${key}, ${key}`]) {
    const http = await startWith(t, [route]);
    await expectCode(t, [http, touch, post({ ...bearer('admin'), 'x-api-key': bad })], [401, 'unauthorized']);
  }
});

test("A valid token needs a session that has not ended and is not older than the user's epoch", async (t) => {
  const route = sessionRoute();
  const ask = async (token: string, world: World, expected: readonly [number, string | null]) => {
    await expectCode(t, [await startWith(t, [route], world), '/who', { headers: bearer(token) }], expected);
  };
  await ask('admin', {}, [200, null]);
  await ask('expired', {}, [401, 'token_expired']);
  await ask('invalid', {}, [401, 'invalid_token']);
  await ask('admin', { session: null }, [401, 'invalid_token']);
  await ask('admin', { session: { userId: 'viewer' } }, [401, 'invalid_token']);
  await ask('admin', { session: { epoch: 2 } }, [401, 'invalid_token']);
  await ask('admin', { session: { expiresAt: start } }, [401, 'invalid_token']);
  await ask('admin', { user: null }, [401, 'invalid_token']);
  await ask('unreadable', {}, [503, 'store_unavailable']);
  const http = await startWith(t, [route]);
  await expectCode(t, [http, '/who', {}], [401, 'unauthorized']);
  for (const header of ['Basic YTpi', 'Bearer', 'Bearer a b', 'admin']) {
    await expectCode(t, [http, '/who', { headers: { authorization: header } }], [401, 'unauthorized']);
  }
  await expectCode(t, [http, '/who', { headers: { authorization: 'bearer admin' } }], [200, null]);
  await expectCode(t, [http, '/who', { headers: { 'x-api-key': key } }], [403, 'api_key_not_allowed']);
});

test('A refusal without a token contains the challenge', async (t) => {
  const http = await startWith(t, [sessionRoute()]);
  t.is((await http.ask('/who')).headers.get('www-authenticate'), 'Bearer');
  const invalid = await http.ask('/who', { headers: bearer('invalid') });
  t.is(invalid.headers.get('www-authenticate'), 'Bearer error="invalid_token"');
});

test('With TOTP on, a session must have passed it, and recently where the route requires that', async (t) => {
  const minutesAgo = (minutes: number) => ({
    session: passed(new Date(start.getTime() - minutes * 60_000)),
  });
  const cases: [GuardedAction, World, number][] = [
    ['begin', {}, 200],
    ['use', {}, 403],
    ['use', minutesAgo(600), 200],
    ['add_totp', minutesAgo(16), 403],
    ['add_totp', minutesAgo(15), 200],
  ];
  for (const [action, world, status] of cases) {
    const http = await startWith(t, [sessionRoute(action)], world);
    const code = status === 403 ? 'two_factor_required' : null;
    await expectCode(t, [http, '/who', { headers: bearer('totp') }], [status, code]);
    await expectCode(t, [http, '/who', { headers: bearer('admin') }], [200, null]);
  }
});

test('Operators are users with this platform role whose session has passed a factor', async (t) => {
  const route = whoRoute(operatorAccess, '/admin');
  const ask = { headers: bearer('admin') };
  await expectCode(t, [await startWith(t, [route]), '/admin', ask], [403, 'insufficient_role']);
  const user = { platformRoles: ['operator'] };
  const granted = await startWith(t, [route], { user });
  await expectCode(t, [granted, '/admin', ask], [403, 'two_factor_required']);
  const withFactor = { ...user, factors: { ...noFactors, totp: true } };
  const weak = await startWith(t, [route], { user: withFactor });
  await expectCode(t, [weak, '/admin', ask], [403, 'two_factor_required']);
  const strong = await startWith(t, [route], { user: withFactor, session: passed(start) });
  await expectCode(t, [strong, '/admin', ask], [200, null]);
});

test('Auditors read every project without membership and change nothing, and operators do neither', async (t) => {
  const reads = projectRoute({ method: 'GET', auditors: 'admitted', apiKey: 'storage:read' });
  const ask = (world: World, route: Route) => startWith(t, [route], world);
  const user = { platformRoles: ['auditor'], factors: { ...noFactors, totp: true } };
  const auditor = { user, session: passed(start) };
  const get = { headers: bearer('stranger') };
  await expectCode(t, [await ask(auditor, reads), touch, get], [200, null]);
  await expectCode(t, [await ask(auditor, projectRoute()), touch, post(get.headers)], [404, 'not_found']);
  const operator = { user: { platformRoles: ['operator'] } };
  await expectCode(t, [await ask(operator, reads), touch, get], [404, 'not_found']);
  const unknown = '/projects/0196a000-0000-7000-8000-0000000000ff/touch';
  await expectCode(t, [await ask(auditor, reads), unknown, get], [404, 'not_found']);
  for (const weak of [{ user }, { user: { platformRoles: ['auditor'] } }]) {
    await expectCode(t, [await ask(weak, reads), touch, get], [403, 'two_factor_required']);
    await expectCode(t, [await ask(weak, reads), unknown, get], [404, 'not_found']);
    // As a member, an auditor needs no factor.
    const member = { ...weak.user, factors: noFactors };
    await expectCode(
      t,
      [await ask({ user: member }, reads), touch, { headers: bearer('admin') }],
      [200, null],
    );
  }
});

test('The agent secret is 503 while none is configured, then 401 unless it is one of the two', async (t) => {
  const route = whoRoute(agentAccess, '/agent');
  const ask = (secret?: string): AskOptions => ({
    headers: secret === undefined ? {} : { 'x-agent-secret': secret },
  });
  const none = await startTestHttp(t, { routes: [route], agentSecrets: ['', undefined] });
  await expectCode(t, [none, '/agent', ask()], [503, 'agent_secret_not_configured']);
  await expectCode(t, [none, '/agent', ask('')], [503, 'agent_secret_not_configured']);
  const two = await startTestHttp(t, { routes: [route], agentSecrets: ['new-sécret', 'old'] });
  const sent = Buffer.from('new-sécret', 'utf8').toString('latin1');
  for (const good of [sent, 'old', '  old ']) await expectCode(t, [two, '/agent', ask(good)], [200, null]);
  for (const bad of [undefined, '', 'old, old', 'Old', 'oldx', 'new-s']) {
    await expectCode(t, [two, '/agent', ask(bad)], [401, 'unauthorized']);
  }
});

test('A client that guesses agent secrets is refused after 20 in a minute, and other clients are not', async (t) => {
  const route = whoRoute(agentAccess, '/agent');
  const http = await startTestHttp(t, {
    routes: [route],
    agentSecrets: ['right'],
    trustedProxies: ['127.0.0.1'],
  });
  const statusOf = async (secret: string | null, client: string): Promise<number> => {
    const given: Record<string, string> = secret === null ? {} : { 'x-agent-secret': secret };
    return (await http.ask('/agent', { headers: { 'x-forwarded-for': client, ...given } })).status;
  };
  const [guesser, other] = ['198.51.100.1', '198.51.100.2'];
  for (let n = 0; n < 30; n += 1) t.is(await statusOf(null, guesser), 401, 'a missing secret is no guess');
  for (let n = 0; n < 20; n += 1) t.is(await statusOf(`guess ${n}`, guesser), 401);
  t.is(await statusOf('guess', guesser), 429);
  t.is(await statusOf('right', guesser), 429, 'or the limit would tell which secret is right');
  t.is(await statusOf('right', other), 200);
  http.clock.advance(3_000);
  t.is(await statusOf('right', guesser), 200);
});

test('A client that sends wrong API keys is refused after 60 in a minute, and a key that worked before works on', async (t) => {
  let lookups = 0;
  const keys = [1, 2].map(() => makeApiKey(randomBytes));
  const [known, unknown] = keys;
  if (known === undefined || unknown === undefined) return t.fail();
  const http = await startTestHttp(t, {
    routes: [sessionRoute()],
    readers: {
      access: {
        ...noReaders.access,
        apiKey: (digest) => {
          lookups += 1;
          const isRight = keys.some((key) => key.digest === digest);
          return Promise.resolve(
            isRight
              ? {
                  ...{ keyId: 'k', issuedBy: 'issuer' },
                  scopes: [],
                  expiresAt: new Date('2030-01-01'),
                  project: exampleProject({}),
                }
              : null,
          );
        },
      },
    },
  });
  const statusOf = async (key: string): Promise<number> =>
    (await http.ask('/who', { headers: { 'x-api-key': key } })).status;
  // Given a key that has worked
  t.is(await statusOf(known.key), 403);
  // When its neighbour sends wrong ones
  for (let n = 0; n < 60; n += 1) t.is(await statusOf(makeApiKey(randomBytes).key), 401);
  // Then a further one is refused without a look-up, and so is one that the process does not know
  t.is(lookups, 61);
  t.is(await statusOf(makeApiKey(randomBytes).key), 429);
  t.is(await statusOf(unknown.key), 429);
  t.is(lookups, 61);
  t.is(await statusOf(known.key), 403);
  http.clock.advance(1_000);
  return t.is(await statusOf(unknown.key), 403);
});

test('A session beyond its limit is 429', async (t) => {
  const http = await startTestHttp(t, {
    routes: [sessionRoute()],
    rates: { session: { limit: 2, seconds: 60 } },
    accessTokens: { ...noKeys, verify: (name) => Promise.resolve({ valid: true, claims: claimsOf(name) }) },
    readers: {
      access: {
        ...noReaders.access,
        session: ({ userId }) =>
          Promise.resolve({ session: { userId, ...someSession }, user: someUser, project: null }),
      },
    },
  });
  const ask = { headers: bearer('admin') };
  await expectCode(t, [http, '/who', ask], [200, null]);
  await expectCode(t, [http, '/who', ask], [200, null]);
  const answer = await http.ask('/who', ask);
  t.is(answer.status, 429);
  t.is(answer.headers.get('retry-after'), '30');
  await expectCode(t, [http, '/who', { headers: bearer('viewer') }], [200, null]);
  http.clock.advance(30_000);
  await expectCode(t, [http, '/who', ask], [200, null]);
});

test('An Idempotency-Key belongs to its caller, and each caller gets a separate reply', async (t) => {
  const route = testRoute('POST /made', {
    ...{ replies, access: sessionAccess('begin') },
    request: { body: z.strictObject({ name: z.string() }) },
    idempotent: true,
    handler: ({ caller }) => ({ status: 200, body: { actor: caller.actor } }),
  });
  const http = await startWith(t, [route]);
  for (const name of ['admin', 'viewer', 'admin']) {
    const answer = await http.ask('/made', post({ ...bearer(name), 'idempotency-key': 'k' }));
    t.deepEqual(answer.json, { actor: `user:${name}` });
  }
});
