import { createHash } from 'node:crypto';
import test from 'ava';
import { startTestHttp } from '../../support/clients/http-app.js';
import { startTestService } from '../../support/servers/http-service.js';

test('The page at / says what the service is and links to its documents, without a script', async (t) => {
  const { ask } = await startTestHttp(t, { routes: [] });
  const { status, text, headers } = await ask('/?utm_source=mail');
  t.is(status, 200);
  t.regex(headers.get('content-type') ?? '', /^text\/html/);
  t.regex(headers.get('content-security-policy') ?? '', /default-src 'none'/);
  t.notRegex(text, /<script|https?:\/\//);
  t.regex(text, /prefers-color-scheme: dark/);
  // The policy admits the one style sheet of the page
  const [, style = ''] = /<style>([^]*)<\/style>/.exec(text) ?? [];
  const digest = createHash('sha256').update(style).digest('base64');
  t.true(headers.get('content-security-policy')?.includes(`style-src 'sha256-${digest}';`));
  for (const [, path = ''] of text.matchAll(/href="([^"]+)"/g)) {
    if (!/^(data:|\/audit|\/guides\/)/.test(path)) t.is((await ask(path)).status, 200, path);
  }
  const again = await ask('/', { headers: { 'if-none-match': headers.get('etag') ?? '' } });
  t.is(again.status, 304);
});

test('GET /api/v1 lists the areas of the API with their paths, and the limits that hold', async (t) => {
  const service = await startTestService(t, {
    rates: { user: { limit: 7, seconds: 30 } },
    maxRequests: 30,
  });
  const { areas, limits } = (await service.get('/api/v1')).json as {
    readonly areas: readonly { readonly name: string; readonly paths: readonly string[] }[];
    readonly limits: object;
  };
  t.deepEqual(limits, {
    ...{ body_bytes: 65_536, page_items: 200, idempotency_seconds: 86_400, requests_at_once: 3 },
    rates: {
      session: { limit: 600, seconds: 60 },
      user: { limit: 7, seconds: 30 },
      api_key: { limit: 600, seconds: 60 },
    },
  });
  const pathsOf = (name: string) => areas.find((area) => area.name === name)?.paths;
  t.deepEqual(pathsOf('Orders'), ['/api/v1/orders', '/api/v1/plans', '/api/v1/projects/{projectId}/orders']);
  t.deepEqual(pathsOf('Members'), ['/api/v1/projects/{projectId}/members']);
  // Every call is in an area, except those of the service itself
  const roots = areas.flatMap(({ paths }) => paths.map((path) => path.replaceAll(/\{(\w+)\}/g, ':$1')));
  for (const { path, tag } of service.routes) {
    const isListed = roots.some((root) => path === root || path.startsWith(`${root}/`));
    t.is(isListed, tag !== 'Service', path);
  }
});

test('GET /api/v1 tells version, documents, password rules and what the settings make possible', async (t) => {
  for (const available of [
    { mail: true, passkeys: false },
    { mail: false, passkeys: true },
  ]) {
    const { ask } = await startTestHttp(t, {
      routes: [],
      available,
      passwordRules: 'at least 10 characters',
    });
    const { status, json } = await ask('/api/v1');
    t.is(status, 200);
    t.deepEqual(
      { ...(json as object), limits: null },
      {
        service: 'stowage',
        version: '0.0.0',
        documentation: 'http://localhost/docs',
        openapi: 'http://localhost/openapi.json',
        password_rules: 'at least 10 characters',
        available,
        areas: [],
        limits: null,
      },
    );
    t.is((await ask('/api/v1?x=1')).status, 400);
  }
});
