import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { agentAccess, publicAccess } from '../../../src/http/access/access.js';
import { HttpError } from '../../../src/http/replies/error-codes.js';
import { type Route } from '../../../src/http/route.js';
import { startTestHttp } from '../../support/clients/http-app.js';
import { testRoute } from '../../support/clients/test-route.js';

const thing = z.strictObject({ name: z.string() });
const shop = 'https://shop.example.com';

function routeAt(path: `/${string}`, handler: () => { status: 200; body: { name: string } }): Route {
  return testRoute(`GET ${path}`, {
    handler,
    access: path.startsWith('/internal') ? agentAccess : publicAccess,
    replies: { 200: { description: 'It.', schema: thing } },
    errors: ['conflict'],
  });
}

const routes = [
  routeAt('/api/v1/things', () => ({ status: 200, body: { name: 'a' } })),
  routeAt('/api/v1/conflicts', () => {
    throw new HttpError('conflict', 'there is another one');
  }),
  routeAt('/internal/v1/things', () => ({ status: 200, body: { name: 'a' } })),
];

async function start(t: ExecutionContext, corsOrigins: readonly string[] | null) {
  const { ask } = await startTestHttp(t, { routes, corsOrigins });
  const preflight = (path: string, origin: string) =>
    ask(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization,idempotency-key',
      },
    });
  return { ask, preflight };
}

test('By default a page of any origin reads replies and errors, with their headers, and the preflight is cached', async (t) => {
  const { ask, preflight } = await start(t, null);
  for (const [path, status] of [
    ['/api/v1/things', 200],
    ['/api/v1/conflicts', 409],
    ['/api/v1/nothing', 404],
  ] as const) {
    const { status: got, headers } = await ask(path, { headers: { origin: shop } });
    t.is(got, status);
    t.is(headers.get('access-control-allow-origin'), '*', path);
    t.is(
      headers.get('access-control-expose-headers'),
      'ETag,Location,Retry-After,X-Request-Id,RateLimit-Limit,RateLimit-Remaining,RateLimit-Reset',
    );
    t.is(headers.get('access-control-allow-credentials'), null);
    t.notRegex(headers.get('vary') ?? '', /Origin/, 'the same reply goes to every origin');
  }
  // A cache may give the reply of a request without an origin to a page.
  t.is((await ask('/api/v1/things')).headers.get('access-control-allow-origin'), '*');

  const { status, headers } = await preflight('/api/v1/things', shop);
  t.is(status, 204);
  t.is(headers.get('access-control-allow-origin'), '*');
  t.is(headers.get('access-control-allow-headers'), 'authorization,idempotency-key');
  t.regex(headers.get('access-control-allow-methods') ?? '', /PATCH/);
  t.is(headers.get('access-control-max-age'), '7200');
});

test('Where origins are named, pages of other origins read nothing, and caches tell the origins apart', async (t) => {
  const { ask, preflight } = await start(t, [shop]);
  for (const [origin, allowed] of [
    [shop, shop],
    ['https://evil.example.com', null],
    ['null', null],
    [`${shop}.evil.example.com`, null],
  ] as const) {
    const reply = await ask('/api/v1/things', { headers: { origin } });
    t.is(reply.headers.get('access-control-allow-origin'), allowed, origin);
    t.regex(reply.headers.get('vary') ?? '', /Origin/);
    const { status, headers } = await preflight('/api/v1/things', origin);
    t.is(status, allowed === null ? 405 : 204, origin);
    t.is(headers.get('access-control-allow-origin'), allowed, origin);
  }
});

test('Caches tell the origins apart of a page in several languages too', async (t) => {
  // Given a page whose language `Accept-Language` selects
  const prepared = { bytes: Buffer.from('hallo'), tag: '"1"', language: 'de' };
  const page = testRoute('GET /api/v1/page', {
    access: publicAccess,
    replies: { 200: { description: 'It.', schema: z.string(), mediaType: 'text/html' } },
    entityTag: true,
    handler: () => ({ status: 200, prepared }) as const,
  });
  const { ask } = await startTestHttp(t, { routes: [page], corsOrigins: [shop] });
  // When a page of a named origin reads it, or asks whether it has changed
  for (const known of [{}, { 'if-none-match': '"1"' }]) {
    const { status, headers } = await ask('/api/v1/page', { headers: { origin: shop, ...known } });
    // Then the reply varies by the origin and by the language
    t.deepEqual((headers.get('vary') ?? '').split(/, */).sort(), ['Accept-Language', 'Origin'], `${status}`);
  }
});

test('The area of agents and operators answers no other origin', async (t) => {
  for (const origins of [null, [shop]]) {
    const { ask, preflight } = await start(t, origins);
    for (const path of [
      '/internal/v1/things',
      '/admin/v1/things',
      '/internal',
      '/api/v1/admin/things',
      '/api/v1/internal',
    ]) {
      const reply = await ask(path, { headers: { origin: shop } });
      t.is(reply.headers.get('access-control-allow-origin'), null, path);
      const { status, headers } = await preflight(path, shop);
      t.true(status >= 400, path);
      t.is(headers.get('access-control-allow-origin'), null, path);
    }
  }
});
