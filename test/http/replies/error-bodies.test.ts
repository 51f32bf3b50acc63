import test from 'ava';
import { z } from 'zod';
import { Overloaded } from '../../../src/kit/semaphore.js';
import { CommandRejected } from '../../../src/event-sourcing/ports/errors.js';
import { noQuery } from '../../../src/http/route-spec.js';
import { startTestHttp } from '../../support/clients/http-app.js';
import { startTestService } from '../../support/servers/http-service.js';
import { testRoute } from '../../support/clients/test-route.js';

const replies = { 200: { description: 'It.', schema: z.strictObject({}) } } as const;
const putThing = testRoute('PUT /things', {
  request: {
    query: noQuery.extend({ limit: z.coerce.number().int().default(1) }),
    body: z.strictObject({ name: z.string(), endpoint: z.url() }),
  },
  idempotent: true,
  ifMatch: true,
  replies,
  handler: (_request) => ({ status: 200, body: {} }),
});
const problem = 'application/problem+json';

/** Returns each wrong field with its code. */
function codesOf({ text }: { readonly text: string }): readonly string[] {
  const { errors } = JSON.parse(text) as {
    readonly errors: readonly { readonly field: string; readonly code: string }[];
  };
  return errors.map(({ field, code }) => `${field} ${code}`);
}

test('The problems of body, query and headers are one reply', async (t) => {
  const { ask } = await startTestHttp(t, { routes: [putThing] });
  const reply = await ask('/things?limit=x', {
    method: 'PUT',
    json: { endpoint: 'no URL', 'größe "1"': 'secret' },
    headers: { 'if-match': 'x', 'idempotency-key': 'ä' },
  });
  t.is(reply.status, 400);
  t.deepEqual(reply.json, {
    code: 'invalid_request',
    message:
      'query.limit must be a number; name is missing; endpoint must be a URL; größe "1" is unknown; ' +
      'header.Idempotency-Key must be 1 to 255 visible ASCII characters; header.If-Match must be entity tags or *',
  });
  t.is(reply.headers.get('vary'), 'Accept');
});

test('A client that asks for application/problem+json gets the problems as RFC 9457 has them', async (t) => {
  const { ask } = await startTestHttp(t, { routes: [putThing] });
  const reply = await ask('/things', { method: 'PUT', json: { name: 1 }, headers: { accept: problem } });
  t.is(reply.headers.get('content-type'), problem);
  t.is(reply.headers.get('vary'), 'Accept');
  t.deepEqual(JSON.parse(reply.text), {
    type: 'http://localhost/docs#error-invalid_request',
    title: 'Invalid request',
    status: 400,
    detail: 'name must be a text; endpoint is missing',
    code: 'invalid_request',
    errors: [
      { field: 'name', code: 'type', message: 'name must be a text' },
      { field: 'endpoint', code: 'missing', message: 'endpoint is missing' },
    ],
  });
});

test.serial('The work on what a client accepts of an error is bounded', async (t) => {
  const { ask } = await startTestHttp(t, { routes: [putThing] });
  // Given a field near the limit of the headers, whose quotation marks the library pairs up
  const accept = `a/b;a="${'a/b;a="b",'.repeat(1_500)}`;
  const before = process.cpuUsage();
  for (let request = 0; request < 100; request += 1) {
    // When
    const { status, headers } = await ask('/nothing', { headers: { accept } });
    // Then
    t.is(status, 404);
    t.is(headers.get('content-type'), 'application/json');
  }
  t.true(process.cpuUsage(before).user < 2_000_000);
});

for (const [accept, isProblem] of [
  [problem, true],
  [`${problem}, application/json;q=0.9`, true],
  [`${problem};q=0.5, */*;q=0.1`, true],
  ['*/*', false],
  ['application/*', false],
  ['application/json', false],
  [`application/json, ${problem};q=0.9`, false],
  [`${problem};q=0`, false],
  ['text/html', false],
  ['', false],
  ['nonsense;;;,,', false],
] as const) {
  test(`An error for Accept ${accept} is ${isProblem ? 'a problem' : 'the default body'}`, async (t) => {
    const { ask } = await startTestHttp(t, { routes: [putThing] });
    const { headers, text } = await ask('/nothing', { headers: { accept } });
    t.is(headers.get('content-type'), isProblem ? problem : 'application/json');
    t.deepEqual(
      Object.keys(JSON.parse(text) as object),
      isProblem ? ['type', 'title', 'status', 'detail', 'code', 'errors'] : ['code', 'message'],
    );
    t.is(headers.get('vary'), 'Accept');
  });
}

test('Every status has both forms of the body', async (t) => {
  const service = await startTestService(t, { rates: { register: { limit: 1, seconds: 3_600 } } });
  const account = { email: 'ada@example.com', password: 'Correct-Horse-7' };
  await service.post('/api/v1/auth/register', account);
  const json = { headers: { accept: problem } };
  const statuses = new Set<number>();
  const keep = async (path: string, options: Parameters<typeof service.ask>[1]): Promise<void> => {
    const { status, headers, text } = await service.ask(path, options);
    t.is(headers.get('content-type'), problem, `${status}`);
    t.like(JSON.parse(text), { status, errors: [] }, text);
    statuses.add(status);
  };
  await keep('/api/v1/nothing', json);
  await keep('/api/v1/auth/register', { ...json, method: 'DELETE' });
  await keep('/api/v1/auth/me', json);
  await keep('/api/v1/auth/register', { ...json, method: 'POST', json: account });
  await keep('/api/v1/auth/login', {
    method: 'POST',
    headers: { accept: problem, 'content-type': 'text/plain' },
    body: '{}',
  });
  await keep('/api/v1/auth/login', {
    ...{ method: 'POST', headers: { accept: problem, 'content-type': 'application/json' } },
    body: `"${'x'.repeat(70_000)}"`,
  });
  await keep(`/api/v1/${'x'.repeat(5_000)}`, json);
  t.deepEqual([...statuses].sort(), [401, 404, 405, 413, 414, 415, 429]);

  for (const [error, status, code] of [
    [new Overloaded('a queue is full'), 503, 'overloaded'],
    [new Error('password=canary'), 500, 'internal_error'],
    [new CommandRejected('entitlement_required', 'no'), 403, 'entitlement_required'],
  ] as const) {
    const failing = testRoute('GET /things', {
      ...{ replies, errors: ['entitlement_required'] },
      handler: (_request) => Promise.reject(error),
    });
    const { ask } = await startTestHttp(t, { routes: [failing] });
    const { headers, text } = await ask('/things', json);
    t.is(headers.get('content-type'), problem);
    t.like(JSON.parse(text), { status, code, errors: [] });
    t.false(text.includes('canary'));
  }
});

test('A registration with a wrong address and a weak password names both', async (t) => {
  const { ask } = await startTestService(t);
  const reply = await ask('/api/v1/auth/register', {
    method: 'POST',
    json: { email: 'ada', password: 'short', nickname: 'x'.repeat(51) },
    headers: { accept: problem },
  });
  t.deepEqual(codesOf(reply), ['email format', 'nickname too_long', 'password too_short']);
});

test('A body that is a list gets no problem of a field that it cannot have', async (t) => {
  const { ask } = await startTestService(t);
  const reply = await ask('/api/v1/auth/register', {
    method: 'POST',
    json: [],
    headers: { accept: problem },
  });
  t.deepEqual(codesOf(reply), [' type']);
});

test('The fields that no variant knows are listed in part', async (t) => {
  const { signUp, verify, makeProject, ask, post } = await startTestService(t);
  const owner = await signUp('owner');
  await verify('owner');
  const path = `/api/v1/projects/${await makeProject(owner)}/storages`;
  const storage = { name: 'a', provider: 's3', bucket: 'rushes', region: 'eu-central-1' };
  const credentials = { access_key: 'AK', secret_key: 'SK' };
  const bound = await post(path, { ...storage, credentials }, owner);
  const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`k${at}`, 1]));
  const reply = await ask(`${path}/${(bound.json as { id: string }).id}/credentials`, {
    method: 'PUT',
    json: { credentials: many },
    headers: { ...owner, accept: 'application/problem+json' },
  });
  t.is(reply.status, 400);
  t.true(reply.text.length < 4_000, `${reply.text.length} characters`);
  t.regex(reply.text, / more/);
});
