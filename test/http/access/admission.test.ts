import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import type { AccessReader } from '../../../projections/projects/projects/reader.js';
import type { SessionAccess } from '../../../projections/accounts/sessions/reader.js';
import type { UserAccess } from '../../../projections/accounts/users/reader.js';
import { projectAccess, sessionAccess } from '../../../src/http/access/access.js';
import { makeAdmission, type RequestKind, shed } from '../../../src/http/access/admission.js';
import type { HttpDeps } from '../../../src/http/server/compose.js';
import { makeApiKey } from '../../../src/security/tokens/api-keys.js';
import { type Answer, exampleProject, startTestHttp } from '../../support/clients/http-app.js';
import { eventually } from '../../support/eventually.js';
import { partial } from '../../support/fakes/partial.js';
import { noFactors } from '../../../src/areas/accounts/domain/guard.js';
import { testRoute } from '../../support/clients/test-route.js';

const begun = new Date('2026-01-02T03:04:05.000Z');
const later = new Date('2027-01-01T00:00:00.000Z');
const project = exampleProject({});
const apiKeys = Array.from({ length: 20 }, (_, index) => index + 7).map((byte) =>
  makeApiKey((size) => Buffer.alloc(size, byte)),
);

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

/** The first two keys are of `project`, and each other one is of another project with the same payer. */
function projectOf(digest: string) {
  const index = apiKeys.findIndex((key) => key.digest === digest);
  return index < 2 ? project : { ...project, id: `0196a000-0000-7000-8000-0000000001${index + 10}` };
}

function digestOf(key: string): string {
  return apiKeys.find((one) => one.key === key)?.digest ?? '';
}

interface Working {
  readonly actor: string;
  readonly name: string;
  readonly end: () => void;
}

/**
 * Starts routes whose work lasts until the test ends it. The token `ada/1` is session 1 of the user `ada`. A session in
 * `ended` is over.
 */
async function given(t: ExecutionContext, options: Pick<HttpDeps, 'maxRequests' | 'requestMs'> = {}) {
  const working: Working[] = [];
  const ended = new Set<string>();
  let [arrived, most, now] = [0, 0, 0];
  const work = async (actor: string, name: string): Promise<void> => {
    now += 1;
    most = Math.max(most, now);
    await new Promise<void>((resolve) => working.push({ actor, name, end: resolve }));
    now -= 1;
  };
  const replies = { 200: { description: 'Done.', schema: z.strictObject({ name: z.string() }) } };
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
      const key = { keyId: digest, issuedBy: 'issuer', scopes: ['storage:read'] };
      return Promise.resolve({ ...key, project: projectOf(digest), expiresAt: later });
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
      testRoute('GET /work', {
        ...{ replies, access: sessionAccess(), request: { query } },
        handler: async ({ caller, query: { name } }) => {
          await work(caller.actor, name);
          return { status: 200, body: { name } };
        },
      }),
      testRoute('POST /make', {
        ...{ replies, access: sessionAccess() },
        request: { body: z.strictObject({ name: z.string() }) },
        idempotent: true,
        handler: async ({ caller, body: { name } }) => {
          await work(caller.actor, name);
          return { status: 200, body: { name } };
        },
      }),
      testRoute('GET /projects/:projectId/work', {
        replies,
        access: projectAccess({ role: 'viewer', apiKey: 'storage:read' }),
        request: { params: z.object({ projectId: z.uuid() }), query },
        handler: async ({ caller, query: { name } }) => {
          await work(caller.actor, name);
          return { status: 200, body: { name } };
        },
      }),
    ],
  });
  const endAll = (): void => {
    for (const { end } of working.splice(0)) end();
  };
  return {
    http,
    working,
    ended,
    endAll,
    /** Ends all work until these requests have their replies. */
    answered: async (answers: readonly Promise<Answer>[]): Promise<readonly Answer[]> => {
      const all = Promise.all(answers);
      let isOver = false;
      void all.then(() => (isOver = true));
      await eventually('all are answered', () => {
        endAll();
        return isOver;
      });
      return all;
    },
    arrived: () => arrived,
    most: () => most,
    get: (token: string, name = '') =>
      http.ask(`/work?name=${name}`, { headers: { authorization: `Bearer ${token}` } }),
    getByKey: (key = '', name = '') =>
      http.ask(`/projects/${projectOf(digestOf(key)).id}/work?name=${name}`, {
        headers: { 'x-api-key': key },
      }),
    names: () => working.map(({ name }) => name),
  };
}

test('A user runs a tenth of MAX_REQUESTS, a session half of that, and another user has other permits', async (t) => {
  const { get, working, arrived, most, answered } = await given(t, { maxRequests: 40 });
  const ofSession = Array.from({ length: 6 }, () => get('ada/1'));
  await eventually('6 arrive and 2 work', () => arrived() === 6 && working.length === 2);
  const ofUser = Array.from({ length: 6 }, (_, n) => get(`ada/${n + 2}`));
  await eventually('12 arrive and 4 work', () => arrived() === 12 && working.length === 4);
  const other = get('bob/1');
  await eventually('the other user works', () => working.some(({ actor }) => actor === 'user:bob'));
  const answers = await answered([...ofSession, ...ofUser, other]);
  t.true(answers.every(({ status }) => status === 200));
  t.is(most(), 5, 'four of one user and one of the other');
});

test('Keys of a project share its permits, and a key has half of them', async (t) => {
  const { getByKey, working, endAll, answered } = await given(t, { maxRequests: 40 });
  const [first, second] = apiKeys;
  for (const key of [first?.key, second?.key]) {
    const known = getByKey(key);
    await eventually('one works', () => working.length === 1);
    endAll();
    t.is((await known).status, 200);
  }
  const answers = Array.from({ length: 4 }, () => getByKey(first?.key));
  await eventually('2 work', () => working.length === 2);
  const others = Array.from({ length: 4 }, () => getByKey(second?.key));
  await eventually('4 work', () => working.length === 4);
  t.true((await answered([...answers, ...others])).every(({ status }) => status === 200));
});

test('Keys of all projects of a payer share its permits, so that they leave room for others', async (t) => {
  const { get, getByKey, working, endAll, answered, arrived } = await given(t, { maxRequests: 40 });
  const keys = apiKeys.slice(2).map(({ key }) => key);
  for (const key of keys) {
    const known = getByKey(key);
    await eventually('one works', () => working.length === 1);
    endAll();
    t.is((await known).status, 200);
  }
  const before = arrived();
  const answers = keys.flatMap((key) => [getByKey(key), getByKey(key)]);
  await eventually('4 work', () => working.length >= 4 && arrived() >= before + 4);
  const other = get('bob/1');
  await eventually('the other user works', () => working.some(({ actor }) => actor === 'user:bob'));
  t.is(working.length, 5);
  t.is((await answered([other, ...answers]))[0]?.status, 200);
});

/** Makes an admission of 40: 4 of an owner run, 2 of them writes, and 4 permits are kept. */
function givenAdmission(nowMs = () => 0) {
  const admission = makeAdmission({ requestsMax: 40, nowMs });
  const events: string[] = [];
  /** Sends a request, which runs until `end`. */
  const send = (name: string, key: string, kind: Partial<RequestKind> = {}) => {
    const permit = admission.of(new ServerResponse(new IncomingMessage(new Socket())), {
      isReserved: false,
      isWrite: false,
      ...kind,
    });
    const runs = (): unknown => events.push(`${name} runs`);
    const isShed = (error: unknown): unknown => events.push(error === shed ? `${name} is shed` : 'failed');
    try {
      const admitted = permit.admit({ key, credential: null });
      if (admitted === undefined) runs();
      else void admitted.then(runs, isShed);
    } catch (error) {
      isShed(error);
    }
    return permit;
  };
  const sendMany = (count: number, key: string, kind: Partial<RequestKind> = {}) =>
    Array.from({ length: count }, (_, n) => send(`${key}${n}`, key, kind));
  const happened = async (turns = 4): Promise<readonly string[]> => {
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    return events.splice(0);
  };
  return { send, sendMany, happened, counts: () => admission.counts() };
}

test('Beyond MAX_REQUESTS the oldest waiter of the owner with the most is shed, and a newcomer where none waits', async (t) => {
  const { send, sendMany, happened, counts } = givenAdmission();
  // Given a flood of one user and some requests of two others
  sendMany(5, 'bob');
  sendMany(20, 'flood');
  sendMany(11, 'eve');
  await happened();
  t.deepEqual(counts(), { running: 12, waiting: 24 });
  // When another user comes, then the oldest waiter of the flood goes
  send('carol', 'carol');
  t.deepEqual(await happened(), ['carol runs', 'flood4 is shed']);
  // and a further request of the flood takes the place of its next oldest one
  send('flood20', 'flood');
  t.deepEqual(await happened(), ['flood5 is shed']);
  t.deepEqual(counts(), { running: 13, waiting: 23 });

  const full = givenAdmission();
  for (let n = 0; n < 9; n += 1) full.sendMany(4, `user${n}`);
  await full.happened();
  full.send('carol', 'carol');
  t.deepEqual(await full.happened(), ['carol is shed']);
});

test('A request that sheds the only other one of its user begins in its turn', async (t) => {
  // Given a full process in a turn that is over after the first request, so that all others wait
  let nowMs = 0;
  const { send, happened, counts } = givenAdmission(() => (nowMs += 10));
  for (let n = 0; n < 36; n += 1) send(`user${n}`, `user${n}`);
  // When a user who waits sends another
  send('again', 'user7');
  // Then it takes the place of the first, and runs as those of the others do
  const events = await happened(60);
  t.is(events.filter((event) => event.endsWith('shed')).join(), 'user7 is shed');
  t.true(events.includes('again runs'));
  t.deepEqual(counts(), { running: 36, waiting: 0 });
});

test('A tenth of the permits is kept for callbacks and agents, which shed one another at the end', async (t) => {
  const { send, sendMany, happened } = givenAdmission();
  for (let n = 0; n < 9; n += 1) sendMany(4, `user${n}`);
  await happened();
  const reserved = { isReserved: true, isWrite: true };
  for (const name of ['one', 'two', 'three', 'four', 'five']) send(name, name, reserved);
  t.deepEqual(await happened(), ['one runs', 'two runs', 'three runs', 'four runs', 'five is shed']);
  // A flood of callbacks of one client leaves room for those of others
  const other = givenAdmission();
  other.sendMany(60, 'flood', reserved);
  await other.happened();
  other.send('genuine', 'platform', reserved);
  t.deepEqual(await other.happened(), ['genuine runs', 'flood22 is shed']);
});

test('Writes that wait leave half of the permits of their user to reads, and a permit that is given back starts the next', async (t) => {
  const { send, sendMany, happened, counts } = givenAdmission();
  const [write] = sendMany(4, 'ada', { isWrite: true });
  t.deepEqual(await happened(), ['ada0 runs', 'ada1 runs']);
  const [read] = [send('read', 'ada'), send('other read', 'ada'), send('third read', 'ada')];
  t.deepEqual(await happened(), ['read runs', 'other read runs']);
  read.end();
  t.deepEqual(await happened(), ['third read runs'], 'a write has no permit yet');
  write?.end();
  write?.end();
  t.deepEqual(await happened(), ['ada2 runs']);
  t.deepEqual(counts(), { running: 4, waiting: 1 });
});

test('The health of a process is answered while it has no room', async (t) => {
  const { http, get, working, answered } = await given(t, { maxRequests: 20 });
  const answers = Array.from({ length: 22 }, () => get('ada/1'));
  await eventually('one works', () => working.length === 1);
  // Of 18 permits one runs, so 4 of the 22 are shed.
  const shedFirst = await Promise.race(answers);
  t.like(shedFirst, { status: 503, json: { code: 'overloaded' } });
  t.is(shedFirst.headers.get('retry-after'), '1');
  t.is((await http.ask('/healthz')).status, 200);
  t.is((await http.ask('/readyz')).status, 200);
  await answered(answers);
});

test('A session that ends while its request waits is refused at its turn', async (t) => {
  const { get, working, arrived, ended, names, endAll } = await given(t, { maxRequests: 20 });
  const first = get('ada/1', 'first');
  await eventually('one works', () => working.length === 1);
  const waiting = get('ada/1', 'waiting');
  await eventually('2 arrive', () => arrived() === 2);
  ended.add('ada/1');
  endAll();
  t.is((await first).status, 200);
  t.like(await waiting, { status: 401, json: { code: 'invalid_token' } });
  t.deepEqual(names(), []);
});

test('A request whose client disconnects leaves its permit, and the next one works', async (t) => {
  const { http, get, working, arrived, names, endAll } = await given(t, { maxRequests: 20 });
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
  const options = { maxRequests: 20, requestMs: { totalMs: 1_000 } };
  const { get, working, endAll } = await given(t, options);
  const answers = await Promise.all([get('ada/1'), get('ada/1'), get('ada/1')]);
  t.deepEqual(
    answers.map(({ status, json }) => [status, (json as { readonly code: string }).code]),
    Array<[number, string]>(3).fill([503, 'store_unavailable']),
  );
  t.is(working.length, 1, 'the work beyond its limit keeps its permit');
  endAll();
  const next = get('ada/1', 'next');
  await eventually('one works', () => working.length === 1);
  t.is(working[0]?.name, 'next', 'the requests that were answered have left the line');
  endAll();
  await next;
});

test('Repetitions of a request under way wait for their turn, and all get its reply', async (t) => {
  const { http, working, arrived, endAll } = await given(t, { maxRequests: 20 });
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
  const { http, get, working, arrived, endAll } = await given(t, { maxRequests: 20 });
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
