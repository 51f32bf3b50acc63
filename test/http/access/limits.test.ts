import test from 'ava';
import type { ExecutionContext } from 'ava';
import { z } from 'zod';
import { HttpError } from '../../../src/http/replies/error-codes.js';
import { defaultLimits, limitsFrom } from '../../../src/security/rates/limits.js';
import type { RouteLimit } from '../../../src/http/access/limits.js';
import { startTestHttp } from '../../support/clients/http-app.js';
import { startTestService } from '../../support/servers/http-service.js';
import { testRoute } from '../../support/clients/test-route.js';

const codeLimits: readonly [RouteLimit, RouteLimit] = [
  { name: 'email_code', counts: [200] },
  { name: 'email_code_day', counts: [200] },
];

/** Starts two routes that share the limit of the day. `/send` also has the limit of the burst. */
async function start(
  t: ExecutionContext,
  { trustedProxies = ['127.0.0.1'], wait = () => Promise.resolve() } = {},
) {
  const routeOf = (path: `/${string}`, limit: RouteLimit | readonly [RouteLimit, ...RouteLimit[]]) =>
    testRoute(`POST ${path}`, {
      request: { body: z.strictObject({ fail: z.boolean().optional() }) },
      replies: { 200: { description: 'Done.', schema: z.strictObject({}) } },
      errors: ['email_taken'],
      limit,
      handler: async ({ body }) => {
        await wait();
        if (body.fail === true) throw new HttpError('email_taken', 'email is taken');
        return { status: 200, body: {} };
      },
    });
  const routes = [
    routeOf('/send', codeLimits),
    routeOf('/day', codeLimits[1]),
    routeOf('/login', { name: 'login', counts: 'all' }),
  ];
  const { ask, clock } = await startTestHttp(t, { routes, trustedProxies });
  const post = async (path: string, client: string, json: object = {}) => {
    const { status, headers } = await ask(path, {
      method: 'POST',
      json,
      headers: { 'x-forwarded-for': client },
    });
    return status === 429 ? Number(headers.get('retry-after')) : status;
  };
  const times = async (count: number, path: string, client: string, json?: object) => {
    const answers: number[] = [];
    for (let index = 0; index < count; index += 1) answers.push(await post(path, client, json));
    return answers;
  };
  const allowed = async (path: string, client: string, json: object = {}) => {
    const headers = { 'x-forwarded-for': client };
    const reply = await ask(path, { method: 'POST', json, headers });
    const field = (name: string) => Number(reply.headers.get(name) ?? NaN);
    const names = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'retry-after'];
    return [reply.status, ...names.map(field)];
  };
  return { clock, post, times, allowed };
}

test('A reply tells what the limit that is nearest to a refusal still allows', async (t) => {
  const { allowed, times, clock } = await start(t);
  const client = '198.51.100.1';
  t.deepEqual(await allowed('/send', client), [200, 5, 4, 120, NaN]);
  t.deepEqual(await allowed('/send', client, { fail: true }), [409, 5, 4, 120, NaN], 'it does not count');
  t.deepEqual(await allowed('/send', client, { fail: 1 }), [400, NaN, NaN, NaN, NaN], 'it reaches no limit');
  await times(4, '/send', client);
  // The reset of a refusal is the time until an attempt is allowed.
  t.deepEqual(await allowed('/send', client), [429, 5, 0, 120, 120]);
  t.deepEqual(await allowed('/day', client), [200, 30, 24, 17_280, NaN]);
  await times(21, '/day', client);
  clock.advance(600_000);
  // The burst allows 5, and the day 3.
  t.deepEqual(await allowed('/send', client), [200, 30, 2, 80_040, NaN]);
});

test('Neither of two limits is charged when one refuses', async (t) => {
  const { times, clock } = await start(t);
  t.deepEqual(await times(8, '/send', '198.51.100.1'), [200, 200, 200, 200, 200, 120, 120, 120]);
  t.deepEqual(await times(1, '/send', '198.51.100.2'), [200], 'another client has separate limits');
  // If the three were charged to the day, it would be used up after 22 more.
  t.deepEqual(await times(26, '/day', '198.51.100.1'), [...Array<number>(25).fill(200), 2_880]);
  clock.advance(600_000);
  t.deepEqual(await times(3, '/send', '198.51.100.1'), [2_280, 2_280, 2_280], 'the day refuses');
  clock.advance(2_280_000);
  t.deepEqual(await times(1, '/send', '198.51.100.1'), [200], 'the day charged nothing to the burst');
});

test('Every reply to a session tells what the nearest of its limits still allows, and a public read tells nothing', async (t) => {
  const rates = { session: { limit: 5, seconds: 60 }, user: { limit: 7, seconds: 60 } };
  const { ask, signUp } = await startTestService(t, { rates });
  const first = await signUp('ada');
  const left = async (path: string, headers: Record<string, string>) => {
    const { status, headers: got } = await ask(path, { headers });
    return [status, got.get('ratelimit-limit'), got.get('ratelimit-remaining'), got.get('retry-after')];
  };
  t.deepEqual(await left('/api/v1/auth/me', first), [200, '5', '4', null]);
  t.deepEqual(await left('/api/v1/projects?surprise=1', first), [400, '5', '3', null]);
  t.deepEqual(await left('/api/v1/admin/nodes', first), [403, '5', '2', null]);
  const login = { email: 'ada@example.com', password: 'Correct-Horse-7' };
  const signedIn = await ask('/api/v1/auth/login', { method: 'POST', json: login });
  t.is(signedIn.headers.get('ratelimit-limit'), '20');
  const token = (signedIn.json as { data: { tokens: { access_token: string } } }).data.tokens.access_token;
  const second = { authorization: `Bearer ${token}` };
  t.deepEqual(
    await left('/api/v1/auth/me', second),
    [200, '7', '3', null],
    'the user is nearer than the session',
  );
  for (let index = 0; index < 3; index += 1) t.is((await left('/api/v1/auth/me', second))[0], 200);
  t.deepEqual(await left('/api/v1/auth/me', second), [429, '7', '0', '9']);
  t.deepEqual(await left('/api/v1/plans', {}), [200, null, null, null]);
});

test('A failure counts only under limits that count all replies, and bad requests reach no limit', async (t) => {
  const { times } = await start(t);
  t.deepEqual(await times(10, '/send', '198.51.100.1', { fail: true }), Array<number>(10).fill(409));
  t.deepEqual(await times(10, '/login', '198.51.100.1', { fail: 1 }), Array<number>(10).fill(400));
  t.deepEqual(await times(22, '/login', '198.51.100.1', { fail: true }), [
    ...Array<number>(20).fill(409),
    3,
    3,
  ]);
});

test('Concurrent requests do not exceed a limit that counts by the outcome', async (t) => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const { post } = await start(t, { wait: () => gate });
  // When seven of twelve have an answer, the others may end.
  let answered = 0;
  const answers = Array.from({ length: 12 }, async () => {
    const status = await post('/send', '198.51.100.1');
    answered += 1;
    if (answered === 7) open();
    return status;
  });
  t.deepEqual((await Promise.all(answers)).sort(), [
    ...Array<number>(7).fill(120),
    ...Array<number>(5).fill(200),
  ]);
});

test('A forged header makes no new bucket, and neither does another address of the same IPv6 network', async (t) => {
  const stranger = await start(t, { trustedProxies: [] });
  for (let index = 0; index < 5; index += 1) {
    t.is(await stranger.post('/send', `198.51.100.${index}`), 200);
  }
  t.is(await stranger.post('/send', '198.51.100.9'), 120);
  const { post } = await start(t);
  for (let index = 0; index < 5; index += 1) t.is(await post('/send', `2001:db8::${index + 1}`), 200);
  t.is(await post('/send', '2001:DB8:0:0:ffff::9'), 120);
  t.is(await post('/send', '2001:db8:0:1::1'), 200);
});

test('Limits change by name, and those for signing in fail closed even after a change', (t) => {
  const limits = limitsFrom({ login: { limit: 1, seconds: 2 } });
  t.deepEqual(limits.login, { limit: 1, seconds: 2, failsClosed: true });
  t.deepEqual({ ...limits, login: defaultLimits.login }, defaultLimits);
  t.throws(() => limitsFrom({ login: { limit: 1, seconds: 2 }, toString: { limit: 1, seconds: 1 } }), {
    message: /^LIMITS_FILE: there is no limit named toString; there are register, login, /,
  });
  const closed = ['register', 'login', 'email_code', 'email_code_day', 'refresh', 'two_factor'] as const;
  for (const name of closed) t.true(limits[name].failsClosed, name);
});

test('A 429 after wrong API keys has no figures for a guesser', async (t) => {
  const { get } = await startTestService(t);
  const wrong = () => get('/api/v1/projects', { 'x-api-key': 'stw_wrong' });
  let reply = await wrong();
  for (let tries = 1; reply.status === 401 && tries < 200; tries += 1) reply = await wrong();
  t.is(reply.status, 429);
  t.regex(reply.headers.get('retry-after') ?? '', /^\d+$/);
  t.is(reply.headers.get('ratelimit-limit'), null);
});
