import test from 'ava';
import { z } from 'zod';
import {
  CommandRejected,
  OutcomeUnknown,
  PreconditionFailed,
  StoreUnavailable,
} from '../../../src/event-sourcing/ports/errors.js';
import { Overloaded } from '../../../src/kit/semaphore.js';
import { type Route } from '../../../src/http/route.js';
import { startTestHttp } from '../../support/clients/http-app.js';
import { testRoute } from '../../support/clients/test-route.js';

const thing = z.strictObject({ name: z.string() });

/** Makes a route with a test's reply. */
function getThing(answer: () => Promise<{ name: string }>, more: Partial<Route> = {}): Route {
  return {
    ...testRoute('GET /things/:thingId', {
      request: { params: z.object({ thingId: z.uuid() }) },
      replies: { 200: { description: 'It.', schema: thing } },
      errors: ['precondition_failed', 'entitlement_required'],
      entityTag: true,
      handler: async (_request) => ({ status: 200, body: await answer(), revision: 7n }),
    }),
    ...more,
  };
}

const putThing = testRoute('PUT /things', {
  request: {
    query: z.object({ limit: z.coerce.number().int().min(1).max(200).default(50) }),
    body: z.strictObject({ name: z.string().max(10), tags: z.array(z.unknown()).optional() }),
  },
  replies: { 200: { description: 'It.', schema: thing } },
  ifMatch: true,
  handler: ({ body, query, expectedRevision }) => ({
    status: 200,
    body: {
      name: `${body.name} ${query.limit} ${expectedRevision === undefined ? 'any' : `[${expectedRevision.toString()}]`}`,
    },
  }),
});

const optionalThing = testRoute('POST /things/touch', {
  request: { body: z.strictObject({ name: z.string().optional() }) },
  replies: { 200: { description: 'It.', schema: thing } },
  handler: ({ body }) => ({ status: 200, body: { name: body.name ?? 'untouched' } }),
});

const id = '0196a000-0000-7000-8000-00000000000a';
const found = getThing(() => Promise.resolve({ name: 'box' }));

test('A resource has revision and digest as its tag, and is not sent again to a client that holds it', async (t) => {
  let name = 'box';
  const http = await startTestHttp(t, { routes: [getThing(() => Promise.resolve({ name }))] });
  const first = await http.ask(`/things/${id}`);
  t.is(first.status, 200);
  const tag = first.headers.get('etag') ?? '';
  t.regex(tag, /^"7-[\w-]{22}"$/);
  for (const field of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const again = await http.ask(`/things/${id}`, { headers: { 'if-none-match': field } });
    t.is(again.status, 304, `for ${field}`);
    t.is(again.text, '');
    t.is(again.headers.get('etag'), tag);
    t.is(again.headers.get('content-type'), null);
  }
  t.is((await http.ask(`/things/${id}`, { headers: { 'if-none-match': '"7-x"' } })).status, 200);
  // Data that a reader takes from another stream may change at the same revision.
  name = 'bag';
  t.is((await http.ask(`/things/${id}`, { headers: { 'if-none-match': tag } })).status, 200);
});

test('HEAD gets the reply of GET without the body', async (t) => {
  const http = await startTestHttp(t, { routes: [found] });
  const get = await http.ask(`/things/${id}`);
  const head = await http.ask(`/things/${id}`, { method: 'HEAD' });
  t.is(head.status, 200);
  t.is(head.text, '');
  for (const name of ['etag', 'content-length', 'content-type']) {
    t.is(head.headers.get(name), get.headers.get(name), `for ${name}`);
  }
});

test('Paths match exactly, unknown ones are 404, and wrong methods are 405 with the allowed ones', async (t) => {
  const http = await startTestHttp(t, { routes: [found, putThing, optionalThing] });
  for (const path of ['/Api', '/Things', '/things/', `/things/${id}/`, '/nothing', `//things/${id}`]) {
    const answer = await http.ask(path);
    t.is(answer.status, path === '/things' ? 405 : 404, `for ${path}`);
    t.like(answer.json, { code: 'not_found' });
  }
  for (const method of ['DELETE', 'OPTIONS', 'PATCH', 'PROPFIND']) {
    const answer = await http.ask(`/things/${id}`, { method });
    t.is(answer.status, 405, `for ${method}`);
    t.is(answer.headers.get('allow'), 'GET, HEAD');
    t.like(answer.json, { code: 'method_not_allowed' });
  }
  t.is((await http.ask('/things/not-an-id')).status, 404);
  // A path without a parameter is another path than that of a resource.
  for (const method of ['GET', 'HEAD', 'DELETE']) {
    const fixed = await http.ask('/things/touch', { method });
    t.is(fixed.status, 405, method);
    t.is(fixed.headers.get('allow'), 'POST');
  }
});

test('A request keeps an acceptable id of its caller and gets one otherwise', async (t) => {
  const http = await startTestHttp(t, { routes: [found] });
  const named = await http.ask('/healthz', { headers: { 'x-request-id': 'abc-1.2:3_4' } });
  t.is(named.headers.get('x-request-id'), 'abc-1.2:3_4');
  for (const bad of ['a b', 'x'.repeat(65), 'é', '{}']) {
    const answer = await http.ask('/healthz', { headers: { 'x-request-id': bad } });
    t.regex(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/, `for ${bad}`);
  }
});

test('Replies forbid what JSON does not need, and force https where the public URL is https', async (t) => {
  for (const [publicUrl, transport] of [
    ['http://localhost', null],
    ['https://api.example.org', 'max-age=31536000; includeSubDomains'],
  ] as const) {
    const http = await startTestHttp(t, { routes: [found], publicUrl });
    for (const path of ['/healthz', '/nothing', `/things/${id}`]) {
      const { headers } = await http.ask(path);
      t.is(headers.get('strict-transport-security'), transport, path);
      t.is(headers.get('cross-origin-resource-policy'), 'same-origin');
      t.is(headers.get('permissions-policy'), 'camera=(), geolocation=(), microphone=(), payment=(), usb=()');
      t.is(headers.get('x-content-type-options'), 'nosniff');
    }
  }
});

test('A header that only a trusted proxy may write costs nothing and is not kept when a client writes it', async (t) => {
  for (const [trustedProxies, computed] of [
    [[], 1],
    [['127.0.0.1'], 6],
  ] as const) {
    let digests = 0;
    const http = await startTestHttp(t, {
      routes: [],
      trustedProxies,
      digests: {
        of: (purpose, value) => `digest(${purpose}:${value})`,
        ip: (ip) => {
          digests += 1;
          return `digest(${ip})`;
        },
      },
    });
    // Given one client address with five headers, each of them sent twice
    for (const n of [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]) {
      await http.ask('/healthz', { headers: { 'x-forwarded-for': `198.51.100.${n}` } });
    }
    // Then the service has computed and kept one client, or the proxy and five
    t.is(digests, computed, `trusted: ${trustedProxies.join()}`);
  }
});

const outcomes = [
  [new CommandRejected('entitlement_required', 'no'), 403, 'entitlement_required', 'no', null],
  [new PreconditionFailed('revision 3'), 412, 'precondition_failed', null, null],
  [new Overloaded('queue full'), 503, 'overloaded', null, '1'],
  [new StoreUnavailable('the disk of events.db is full'), 503, 'store_unavailable', null, '1'],
  [new OutcomeUnknown('the disk of events.db did not answer'), 503, 'store_unavailable', null, '1'],
  [new Error('password=canary'), 500, 'internal_error', 'the service failed to answer', null],
  [new SyntaxError('Unexpected token "canary"'), 500, 'internal_error', null, null],
] as const;
for (const [error, status, code, message, retryAfter] of outcomes) {
  test(`The error ${error.name} (${error.message}) is answered with ${status} ${code} and no details`, async (t) => {
    const http = await startTestHttp(t, { routes: [getThing(() => Promise.reject(error))] });
    const answer = await http.ask(`/things/${id}`);
    t.is(answer.status, status);
    t.like(answer.json, { code, ...(message === null ? {} : { message }) });
    t.is(answer.headers.get('retry-after'), retryAfter);
    t.notRegex(answer.text + http.logLines.join(''), /canary/);
    t.notRegex(answer.text, /disk of events/);
  });
}

test('The log contains the sentence of a store for operators', async (t) => {
  const fullDisk = new StoreUnavailable('the disk of events.db is full; make room on it');
  const http = await startTestHttp(t, { routes: [getThing(() => Promise.reject(fullDisk))] });
  await http.ask(`/things/${id}`);
  const line = http.logLines.find((one) => one.includes('request failed')) ?? '';
  t.deepEqual(parseLine(line)['error'], { name: 'StoreUnavailable', message: fullDisk.message });
});

test('An unexpected error is logged with its place and without its message', async (t) => {
  const http = await startTestHttp(t, {
    routes: [getThing(() => Promise.reject(new TypeError('canary')))],
  });
  const answer = await http.ask(`/things/${id}`);
  const line = http.logLines.find((one) => one.includes('request failed')) ?? '';
  t.true(line.includes(answer.headers.get('x-request-id') ?? 'none'));
  t.true(line.includes('TypeError') && line.includes('shell.test.'));
});

test('The log line of a request has pattern, status and client digest, and no input', async (t) => {
  const http = await startTestHttp(t, { routes: [found, putThing] });
  await http.ask(`/things/${id}?token=canary`, { headers: { authorization: 'Bearer canary' } });
  await http.ask('/things?limit=3', { method: 'PUT', json: { name: 'canary' } });
  const [first, second] = http.logLines.filter((line) => line.includes('/things')).map(parseLine);
  t.like(first, { route: '/things/:thingId', method: 'GET', status: 400, client: 'digest(127.0.0.1)' });
  t.like(second, { route: '/things', method: 'PUT', status: 200, actor: 'anonymous' });
  t.notRegex(http.logLines.join(''), /canary|127\.0\.0\.1"/);
});

function parseLine(line: string): Record<string, unknown> {
  return JSON.parse(line) as Record<string, unknown>;
}

test('Until the service is ready, all routes except health, keys and documents are 503', async (t) => {
  let ok = false;
  const readiness = { serving: () => ok, ready: () => ({ ok, reasons: ['projection users lags'] }) };
  const http = await startTestHttp(t, { routes: [found], readiness });
  for (const path of [`/things/${id}`, '/readyz']) {
    const answer = await http.ask(path);
    t.is(answer.status, 503, `for ${path}`);
    t.like(answer.json, { code: 'store_unavailable' });
    t.notRegex(answer.text, /users/);
  }
  for (const path of ['/healthz', '/openapi.json', '/docs', '/.well-known/jwks.json']) {
    t.is((await http.ask(path)).status, 200, `for ${path}`);
  }
  t.is((await http.ask('/nothing')).status, 404);
  ok = true;
  t.is((await http.ask(`/things/${id}`)).status, 200);
  t.is((await http.ask('/readyz')).status, 200);
});

test('Queries and bodies are parsed by their schemas, and the message names the field', async (t) => {
  const http = await startTestHttp(t, { routes: [putThing] });
  const good = await http.ask('/things?limit=3', { method: 'PUT', json: { name: 'a' } });
  t.like(good.json, { name: 'a 3 any' });
  const bad: [string, unknown, RegExp][] = [
    ['?limit=0', { name: 'a' }, /^query\.limit /],
    ['?limit=x', { name: 'a' }, /^query\.limit /],
    ['?limit=', { name: 'a' }, /^query\.limit /],
    ['?limit=1&other=2', { name: 'a' }, /^query\.other is unknown \(this call has limit\)$/],
    ['?limit=1&limit=2', { name: 'a' }, /twice/],
    ['', { name: 7 }, /^name /],
    ['', {}, /^name is missing$/],
    ['', { name: 'a', nickname: 'x' }, /nickname/],
    ['', [], /object/],
    ['', null, /object/],
    ['', 'name', /object/],
    ['', { name: 'a', ['x'.repeat(5000)]: 1 }, /^.{1,300}$/],
  ];
  for (const [query, json, message] of bad) {
    const answer = await http.ask(`/things${query}`, { method: 'PUT', json });
    t.is(answer.status, 400, `for ${JSON.stringify(json).slice(0, 60)}`);
    t.like(answer.json, { code: 'invalid_request' });
    t.regex((answer.json as { message: string }).message, message);
  }
});

test('Bodies are strict JSON', async (t) => {
  const http = await startTestHttp(t, { routes: [putThing, optionalThing] });
  const put = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    http.ask('/things', {
      method: 'PUT',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
  const nested = (depth: number) => `{"name":"a","tags":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  const refused: [string, string | Uint8Array, number, string][] = [
    ['no JSON', '{"name":', 400, 'invalid_json'],
    ['a repeated key', '{"name":"a","name":"b"}', 400, 'invalid_json'],
    ['a key repeated in another spelling', '{"name":"a","\\u006eame":"b"}', 400, 'invalid_json'],
    ['a repeated key deep inside', '{"name":"a","tags":[{"x":1,"y":{},"x":2}]}', 400, 'invalid_json'],
    ['invalid UTF-8', Buffer.from('{"name":"\xff"}', 'latin1'), 400, 'invalid_json'],
    ['half a surrogate pair', '{"name":"\\ud800"}', 400, 'invalid_json'],
    ['too deep', nested(20), 400, 'invalid_json'],
    ['__proto__', '{"name":"a","__proto__":{"x":1}}', 400, 'invalid_json'],
    ['constructor', '{"name":"a","constructor":{"prototype":{"x":1}}}', 400, 'invalid_request'],
    ['too large', `{"name":"${'a'.repeat(65536)}"}`, 413, 'payload_too_large'],
  ];
  for (const [what, body, status, code] of refused) {
    const answer = await put(body);
    t.is(answer.status, status, `for ${what}`);
    t.like(answer.json, { code }, `for ${what}`);
  }
  t.is((await put('{"name":"a","tags":[{"x":1},{"x":1}]}')).status, 200);
  t.is((await put(nested(19))).status, 200);
  t.is((await put('{"name":"\\ud83d\\ude00"}')).status, 200);
  t.false('x' in {});
});

test('The body must be application/json in UTF-8, without a content encoding', async (t) => {
  const http = await startTestHttp(t, { routes: [putThing, optionalThing] });
  const put = (headers: Record<string, string>, path = '/things', method = 'PUT') =>
    http.ask(path, { method, body: Buffer.from('{"name":"a"}'), headers });
  for (const type of [
    'application/json',
    'Application/JSON; charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/json; utf-8',
    'application/json; odata.metadata=minimal; charset=utf8',
    'application/json;',
  ]) {
    t.is((await put({ 'content-type': type })).status, 200, `for ${type}`);
  }
  const others = [
    'text/plain',
    'application/json; charset=utf-16',
    'application/vnd.api+json',
    'x',
    'multipart/form-data',
  ];
  for (const type of others) t.is((await put({ 'content-type': type })).status, 415, `for ${type}`);
  t.is((await put({})).status, 415);
  for (const encoding of ['', 'none', 'UTF-8', 'identity']) {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
    t.is((await put(headers)).status, 200, `for ${encoding}`);
  }
  for (const encoding of ['gzip', 'br', 'deflate', 'nonsense']) {
    const answer = await put({ 'content-type': 'application/json', 'content-encoding': encoding });
    t.is(answer.status, 415, `for ${encoding}`);
    t.like(answer.json, { code: 'unsupported_media_type' });
  }
  t.is((await put({ 'content-type': 'text/plain' }, '/things/touch', 'POST')).status, 415);
});

test('A route without required fields accepts an empty body of any type', async (t) => {
  const http = await startTestHttp(t, { routes: [optionalThing, putThing] });
  for (const headers of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/json' }]) {
    const answer = await http.ask('/things/touch', { method: 'POST', headers, body: '' });
    t.like(answer.json, { name: 'untouched' });
  }
  const answer = await http.ask('/things', { method: 'PUT' });
  t.is(answer.status, 400);
  t.like(answer.json, { code: 'invalid_request' });
});

test('If-Match passes the revisions of its tags on, also of those that a proxy has changed', async (t) => {
  const http = await startTestHttp(t, { routes: [putThing] });
  const put = (field: string) =>
    http.ask('/things', { method: 'PUT', json: { name: 'a' }, headers: { 'if-match': field } });
  const tag = (revision: number, more = '') => `"${revision}-${'a'.repeat(22)}${more}"`;
  for (const [field, revisions] of [
    [tag(12), '[12]'],
    ['*', 'any'],
    [`W/${tag(12)}`, '[12]'],
    ...['-gzip', '--gzip', ';gzip', '-br'].map((more) => [tag(12, more), '[12]'] as const),
    [`"abc", W/${tag(3)},${tag(12, '-gzip')}`, '[3,12]'],
    ...['"12"', '""', '"abc"', tag(12, '-x'), '"a", "b"'].map((field) => [field, '[]'] as const),
  ] as const) {
    t.like((await put(field)).json, { name: `a 50 ${revisions}` }, `for ${field}`);
  }
  for (const field of ['12', '"a', '"a",', '*, "a"']) t.is((await put(field)).status, 400, `for ${field}`);
});
