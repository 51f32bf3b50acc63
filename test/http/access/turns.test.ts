import test from 'ava';
import type { ExecutionContext } from 'ava';
import { z } from 'zod';
import type { AccessReader } from '../../../projections/projects/access-reader.js';
import type { SessionAccess } from '../../../projections/accounts/sessions/reader.js';
import type { UserAccess } from '../../../projections/accounts/users/reader.js';
import { projectAccess, sessionAccess } from '../../../src/http/access/access.js';
import type { HttpDeps } from '../../../src/http/server/compose.js';
import { makeRoute } from '../../../src/http/route.js';
import { noBody, noParams, noQuery } from '../../../src/http/route-spec.js';
import { makeApiKey } from '../../../src/security/tokens/api-keys.js';
import { exampleProject, startTestHttp } from '../../support/clients/http-app.js';
import { eventually } from '../../support/eventually.js';
import { partial } from '../../support/fakes/partial.js';
import { noFactors } from '../../../src/areas/accounts/domain/guard.js';

const begun = new Date('2026-01-02T03:04:05.000Z');
const later = new Date('2027-01-01T00:00:00.000Z');
const project = exampleProject({});
const apiKeys = [7, 8].map((byte) => makeApiKey((size) => Buffer.alloc(size, byte)));

const session: Omit<SessionAccess, 'userId'> = {
  epoch: 0,
  proofs: { authenticatedAt: begun, passedAt: { totp: null, passkey: null } },
  emailCodeAt: null,
  expiresAt: later,
};
const user: UserAccess = {
  epoch: 0,
  kept_session_id: null,
  factors: noFactors,
  platformRoles: [],
  banned: false,
  document: partial({}),
};

interface Working {
  readonly actor: string;
  readonly name: string;
  readonly end: () => void;
}

/**
 * Starts routes whose work lasts until the test ends it. The token `ada/1` is session 1 of the user `ada`. A session in
 * `ended` is over.
 */
async function given(t: ExecutionContext, options: Pick<HttpDeps, 'maxRequestsPerUser' | 'requestMs'> = {}) {
  const working: Working[] = [];
  const ended = new Set<string>();
  let [arrived, most, now] = [0, 0, 0];
  const work = async (actor: string, name: string): Promise<void> => {
    now += 1;
    most = Math.max(most, now);
    await new Promise<void>((resolve) => working.push({ actor, name, end: resolve }));
    now -= 1;
  };
  const common = {
    tag: 'Test',
    summary: 'Work',
    replies: { 200: { description: 'Done.', schema: z.strictObject({ name: z.string() }) } },
    errors: [],
  } as const;
  const query = z.object({ name: z.string() });
  const access: AccessReader = {
    session: ({ sessionId, userId }) =>
      Promise.resolve({
        session: ended.has(sessionId) ? null : { ...session, userId },
        user,
        project: null,
      }),
    apiKey: (digest) => {
      arrived += 1;
      const key = { keyId: digest, issuedBy: 'issuer', project, scopes: ['storage:read'] };
      return Promise.resolve({ ...key, expiresAt: later });
    },
  };
  const http = await startTestHttp(t, {
    requestMs: { totalMs: 600_000 },
    ...options,
    readers: { access },
    accessTokens: {
      jwks: () => Promise.resolve({ keys: [] }),
      verify: (token) => {
        arrived += 1;
        const [userId = ''] = token.split('/');
        const times = { issuedAt: begun, expiresAt: later, authenticatedAt: begun };
        const claims = { userId, sessionId: token, tokenId: 'jti', methods: ['pwd'], ...times };
        return Promise.resolve({ valid: true, claims });
      },
    },
    routes: [
      makeRoute({
        ...common,
        method: 'GET',
        path: '/work',
        name: 'work',
        access: sessionAccess(),
        request: { params: noParams, query, body: noBody },
        handler: async ({ caller, query: { name } }) => {
          await work(caller.actor, name);
          return { status: 200, body: { name } };
        },
      }),
      makeRoute({
        ...common,
        method: 'POST',
        path: '/make',
        name: 'make',
        access: sessionAccess(),
        request: { params: noParams, query: noQuery, body: z.strictObject({ name: z.string() }) },
        idempotent: true,
        handler: async ({ caller, body: { name } }) => {
          await work(caller.actor, name);
          return { status: 200, body: { name } };
        },
      }),
      makeRoute({
        ...common,
        method: 'GET',
        path: '/projects/:projectId/work',
        name: 'workInProject',
        access: projectAccess({ role: 'viewer', apiKey: 'storage:read' }),
        request: { params: z.object({ projectId: z.uuid() }), query, body: noBody },
        handler: async ({ caller, query: { name } }) => {
          await work(caller.actor, name);
          return { status: 200, body: { name } };
        },
      }),
    ],
  });
  return {
    http,
    working,
    ended,
    arrived: () => arrived,
    most: () => most,
    get: (token: string, name = '') =>
      http.ask(`/work?name=${name}`, { headers: { authorization: `Bearer ${token}` } }),
    getByKey: (key = '', name = '') =>
      http.ask(`/projects/${project.id}/work?name=${name}`, { headers: { 'x-api-key': key } }),
    names: () => working.map(({ name }) => name),
    endAll: () => {
      for (const { end } of working.splice(0)) end();
    },
  };
}

test('At most four requests of all sessions of a user work at once, and another user has other places', async (t) => {
  const { get, working, arrived, most, endAll } = await given(t);
  const answers = Array.from({ length: 12 }, (_, n) => get(`ada/${n % 5}`));
  await eventually('12 arrive and 4 work', () => arrived() === 12 && working.length === 4);
  const other = get('bob/1');
  await eventually('the other user works', () => working.some(({ actor }) => actor === 'user:bob'));
  t.is(working.length, 5);
  working.pop()?.end();
  t.is((await other).status, 200, 'while the requests of the first user wait');
  for (let left = 12; left > 0; left -= 4) {
    await eventually('4 work', () => working.length === 4);
    endAll();
  }
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  t.deepEqual(statuses, Array<number>(12).fill(200));
  t.is(most(), 5, 'four of one user and one of the other');
});

test('At most four requests of an API key work at once, and another key has other places', async (t) => {
  const { getByKey, working, most, endAll } = await given(t);
  const [first, second] = apiKeys;
  const answers = Array.from({ length: 8 }, () => getByKey(first?.key));
  await eventually('4 work', () => working.length === 4);
  const other = getByKey(second?.key);
  await eventually('5 work', () => working.length === 5);
  endAll();
  t.is((await other).status, 200);
  await eventually('4 work', () => working.length === 4);
  endAll();
  t.true((await Promise.all(answers)).every(({ status }) => status === 200));
  t.is(most(), 5);
});

test('A session with 100 requests under way is refused a further one, and its other requests are served', async (t) => {
  const { get, working, arrived, endAll } = await given(t);
  const answers = Array.from({ length: 100 }, () => get('ada/1'));
  await eventually('100 arrive and 4 work', () => arrived() === 100 && working.length === 4);
  const refused = await get('ada/1');
  t.is(refused.status, 429);
  t.like(refused.json, { code: 'rate_limited' });
  t.is(refused.headers.get('retry-after'), '1');
  for (let left = 100; left > 0; left -= 4) {
    await eventually('4 work', () => working.length === 4);
    endAll();
  }
  t.true((await Promise.all(answers)).every(({ status }) => status === 200));
  const next = get('ada/1');
  await eventually('one works', () => working.length === 1);
  endAll();
  t.is((await next).status, 200);
});

test('The requests of one session do not go before the first one of another session of the user', async (t) => {
  const { get, working, arrived, names, endAll } = await given(t, { maxRequestsPerUser: 2 });
  const many = Array.from({ length: 6 }, () => get('ada/1', 'many'));
  await eventually('6 arrive and 2 work', () => arrived() === 6 && working.length === 2);
  const one = get('ada/2', 'one');
  await eventually('7 arrive', () => arrived() === 7);
  working.shift()?.end();
  await eventually('2 work', () => working.length === 2);
  t.deepEqual(names(), ['many', 'one']);
  for (let left = 6; left > 0; left -= 2) {
    await eventually('2 work', () => working.length === 2);
    endAll();
  }
  t.is((await one).status, 200);
  t.true((await Promise.all(many)).every(({ status }) => status === 200));
});

test('A session that ends while its request waits is refused at its turn', async (t) => {
  const { get, working, arrived, ended, names, endAll } = await given(t, { maxRequestsPerUser: 1 });
  const first = get('ada/1', 'first');
  await eventually('one works', () => working.length === 1);
  const waiting = get('ada/2', 'waiting');
  await eventually('2 arrive', () => arrived() === 2);
  ended.add('ada/2');
  endAll();
  t.is((await first).status, 200);
  t.like(await waiting, { status: 401, json: { code: 'invalid_token' } });
  t.deepEqual(names(), []);
});

test('A request whose client disconnects leaves the line, and the next one works', async (t) => {
  const { http, get, working, arrived, names, endAll } = await given(t, { maxRequestsPerUser: 1 });
  const first = get('ada/1', 'first');
  await eventually('one works', () => working.length === 1);
  const client = new AbortController();
  const gone = fetch(`${http.origin}/work?name=gone`, {
    headers: { authorization: 'Bearer ada/1' },
    signal: client.signal,
  });
  await eventually('2 arrive', () => arrived() === 2);
  const next = get('ada/1', 'next');
  await eventually('3 arrive', () => arrived() === 3);
  client.abort(new Error('the client left'));
  await t.throwsAsync(() => gone, { message: 'the client left' });
  await eventually('the log has the request', () =>
    http.logLines.some((line) => line.includes('"status":429')),
  );
  t.false(
    http.logLines.some((line) => line.includes('request failed')),
    'a disconnected client is no failure of the service',
  );
  endAll();
  t.is((await first).status, 200);
  await eventually('one works', () => working.length === 1);
  t.deepEqual(names(), ['next']);
  endAll();
  t.is((await next).status, 200);
});

test('A request that waits until its limit is 503, wrote nothing and never works', async (t) => {
  const options = { maxRequestsPerUser: 1, requestMs: { totalMs: 1_000 } };
  const { get, working, endAll } = await given(t, options);
  const answers = await Promise.all([get('ada/1'), get('ada/1'), get('ada/1')]);
  t.deepEqual(
    answers.map(({ status, json }) => [status, (json as { readonly code: string }).code]),
    Array<[number, string]>(3).fill([503, 'store_unavailable']),
  );
  t.is(working.length, 1, 'the work beyond its limit keeps its place');
  endAll();
  const next = get('ada/1', 'next');
  await eventually('one works', () => working.length === 1);
  t.is(working[0]?.name, 'next', 'the requests that were answered have left the line');
  endAll();
  await next;
});

test('Repetitions of a request under way wait in its line, and all get its reply', async (t) => {
  const { http, working, arrived, endAll } = await given(t, { maxRequestsPerUser: 2 });
  const make = () =>
    http.ask('/make', {
      method: 'POST',
      json: { name: 'x' },
      headers: { authorization: 'Bearer ada/1', 'idempotency-key': 'one' },
    });
  const first = make();
  await eventually('one works', () => working.length === 1);
  const repeated = [make(), make(), make()];
  await eventually('4 arrive', () => arrived() === 4);
  endAll();
  const answers = await Promise.all([first, ...repeated]);
  t.deepEqual(
    answers.map(({ status, text }) => [status, text]),
    Array<[number, string]>(4).fill([200, '{"name":"x"}']),
  );
  t.is(working.length, 0, 'the work ran once');
});

test('A shutdown answers the requests that wait for their turn', async (t) => {
  const { http, get, working, arrived, endAll } = await given(t, { maxRequestsPerUser: 1 });
  const answers = [get('ada/1'), get('ada/1'), get('ada/1')];
  await eventually('3 arrive and 1 work', () => arrived() === 3 && working.length === 1);
  const closed = http.server.close();
  for (let left = 3; left > 0; left -= 1) {
    await eventually('one works', () => working.length === 1);
    endAll();
  }
  t.true((await Promise.all(answers)).every(({ status }) => status === 200));
  await closed;
});
