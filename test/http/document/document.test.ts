import test from 'ava';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { publicAccess, projectAccess } from '../../../src/http/access/access.js';
import { checkRoutes } from '../../../src/http/server/check-routes.js';
import { makeHttpMetrics, startMetricsServer } from '../../../src/http/metrics.js';
import { makeOpenApi, type OpenApiDocument } from '../../../src/http/document/openapi.js';
import { noBody, noParams, noQuery } from '../../../src/http/route-spec.js';
import { makeRoute, type Route } from '../../../src/http/route.js';
import { contractBreaches } from '../../support/clients/http-contract.js';
import { startTestHttp } from '../../support/clients/http-app.js';
import { startTestService } from '../../support/servers/http-service.js';
import { asObject, textOf } from '../../support/clients/service-client.js';

const good = makeRoute({
  method: 'GET',
  path: '/things/:thingId',
  name: 'getThing',
  tag: 'Things',
  summary: 'Get a thing',
  access: publicAccess,
  request: { params: z.object({ thingId: z.uuid() }), query: noQuery, body: noBody },
  replies: { 200: { description: 'It.', schema: z.strictObject({}) } },
  handler: (_request) => ({ status: 200, body: {} }),
});

const broken = (change: Partial<Route>): Route => ({ ...good, ...change });

const incomplete: [string, readonly Route[], RegExp][] = [
  ['a parameter for its area', [broken({ path: '/api/v1/:thingId' })], /has a parameter for its area/],
  ['a parameter at the root', [broken({ path: '/:thingId' })], /has a parameter for its area/],
  [
    'no parameter schema',
    [broken({ request: { ...good.request, params: noParams } })],
    /path and its parameters/,
  ],
  ['a GET with a body', [broken({ request: { ...good.request, body: z.object({}) } })], /takes a body/],
  ['no success', [broken({ replies: {} })], /documents no success/],
  [
    'a project route without project',
    [broken({ access: projectAccess({ role: 'viewer', apiKey: 'refused' }) })],
    /:projectId/,
  ],
  [
    'auditors where something is changed',
    [
      broken({
        method: 'DELETE',
        path: '/projects/:projectId',
        request: { ...good.request, params: z.object({ projectId: z.uuid() }) },
        access: projectAccess({ role: 'viewer', apiKey: 'refused', auditors: 'admitted' }),
      }),
    ],
    /lets auditors change/,
  ],
  ['two of one path', [good, broken({ name: 'other' })], /GET \/things\/:thingId is declared twice/],
  ['two of one name', [good, broken({ path: '/others/:thingId' })], /getThing is declared twice/],
];
for (const [what, routes, message] of incomplete) {
  test(`The start fails for ${what}`, (t) => {
    t.throws(() => checkRoutes(routes), { message });
  });
}

test('A complete route passes', (t) => {
  t.notThrows(() => checkRoutes([good]));
});

test('The document describes every route and has no dangling reference', async (t) => {
  const { ask } = await startTestService(t);
  const document = (await ask('/openapi.json')).json as OpenApiDocument;
  t.is(document.openapi, '3.1.0');
  t.deepEqual(Object.keys(document.paths).sort(), [
    '/',
    '/.well-known/jwks.json',
    '/api/v1',
    '/api/v1/admin/nodes',
    '/api/v1/admin/nodes/{nodeId}',
    '/api/v1/admin/orders/{orderId}',
    '/api/v1/admin/payments',
    '/api/v1/admin/payments/record',
    '/api/v1/admin/payments/review',
    '/api/v1/admin/payments/unmatched',
    '/api/v1/admin/payments/unmatched/dismiss',
    '/api/v1/admin/payments/{paymentId}',
    '/api/v1/admin/payments/{paymentId}/resolve',
    '/api/v1/auth/2fa/recovery-codes',
    '/api/v1/auth/2fa/totp',
    '/api/v1/auth/2fa/totp/confirm',
    '/api/v1/auth/2fa/totp/remove',
    '/api/v1/auth/2fa/verify',
    '/api/v1/auth/email',
    '/api/v1/auth/email-code/login',
    '/api/v1/auth/email-code/send',
    '/api/v1/auth/email/confirm',
    '/api/v1/auth/email/revert',
    '/api/v1/auth/email/verify',
    '/api/v1/auth/email/verify/send',
    '/api/v1/auth/invitations',
    '/api/v1/auth/invitations/{invitationId}/accept',
    '/api/v1/auth/invitations/{invitationId}/decline',
    '/api/v1/auth/login',
    '/api/v1/auth/logout',
    '/api/v1/auth/me',
    '/api/v1/auth/passkey-login',
    '/api/v1/auth/passkey-login/options',
    '/api/v1/auth/passkey-options',
    '/api/v1/auth/passkeys',
    '/api/v1/auth/passkeys/{passkeyId}',
    '/api/v1/auth/password',
    '/api/v1/auth/reauthenticate',
    '/api/v1/auth/reauthenticate/options',
    '/api/v1/auth/refresh',
    '/api/v1/auth/register',
    '/api/v1/auth/sessions',
    '/api/v1/auth/sessions/{sessionId}',
    '/api/v1/hls/{token}/playlist.m3u8',
    '/api/v1/internal/nodes/{nodeId}/checks',
    '/api/v1/internal/peer-list',
    '/api/v1/orders',
    '/api/v1/orders/{orderId}',
    '/api/v1/orders/{orderId}/cancel',
    '/api/v1/orders/{orderId}/pay',
    '/api/v1/orders/{orderId}/refund',
    '/api/v1/payment/webhooks/{provider}',
    '/api/v1/plans',
    '/api/v1/projects',
    '/api/v1/projects/{projectId}',
    '/api/v1/projects/{projectId}/api-keys',
    '/api/v1/projects/{projectId}/api-keys/{keyId}',
    '/api/v1/projects/{projectId}/assets',
    '/api/v1/projects/{projectId}/assets/import',
    '/api/v1/projects/{projectId}/assets/{assetId}',
    '/api/v1/projects/{projectId}/assets/{assetId}/media',
    '/api/v1/projects/{projectId}/assets/{assetId}/renditions/{kind}',
    '/api/v1/projects/{projectId}/assets/{assetId}/upload-url',
    '/api/v1/projects/{projectId}/assets/{assetId}/uploaded',
    '/api/v1/projects/{projectId}/assets/{assetId}/uploads',
    '/api/v1/projects/{projectId}/assets/{assetId}/uploads/{uploadId}',
    '/api/v1/projects/{projectId}/assets/{assetId}/uploads/{uploadId}/complete',
    '/api/v1/projects/{projectId}/audit/events',
    '/api/v1/projects/{projectId}/audit/proof',
    '/api/v1/projects/{projectId}/billing-offer',
    '/api/v1/projects/{projectId}/members',
    '/api/v1/projects/{projectId}/members/{memberId}',
    '/api/v1/projects/{projectId}/orders',
    '/api/v1/projects/{projectId}/orders/{orderId}',
    '/api/v1/projects/{projectId}/shares',
    '/api/v1/projects/{projectId}/shares/{shareId}',
    '/api/v1/projects/{projectId}/shares/{shareId}/accesses',
    '/api/v1/projects/{projectId}/shares/{shareId}/mail',
    '/api/v1/projects/{projectId}/shares/{shareId}/qr',
    '/api/v1/projects/{projectId}/storages',
    '/api/v1/projects/{projectId}/storages/{storageId}',
    '/api/v1/projects/{projectId}/storages/{storageId}/cors',
    '/api/v1/projects/{projectId}/storages/{storageId}/credentials',
    '/api/v1/projects/{projectId}/storages/{storageId}/default',
    '/api/v1/projects/{projectId}/storages/{storageId}/delivery',
    '/api/v1/projects/{projectId}/storages/{storageId}/disable',
    '/api/v1/projects/{projectId}/storages/{storageId}/enable',
    '/api/v1/projects/{projectId}/storages/{storageId}/test',
    '/api/v1/projects/{projectId}/storages/{storageId}/undeleted-objects',
    '/api/v1/shares/{token}',
    '/api/v1/shares/{token}/media',
    '/api/v1/shares/{token}/verify',
    '/audit',
    '/audit/consistency',
    '/audit/events',
    '/audit/log/checkpoint',
    '/audit/log/events/{n1}',
    '/audit/log/events/{n1}/{n2}',
    '/audit/log/events/{n1}/{n2}/{n3}',
    '/audit/log/events/{n1}/{n2}/{n3}/{n4}',
    '/audit/log/tile/{level}/{n1}',
    '/audit/log/tile/{level}/{n1}/{n2}',
    '/audit/log/tile/{level}/{n1}/{n2}/{n3}',
    '/audit/log/tile/{level}/{n1}/{n2}/{n3}/{n4}',
    '/audit/names',
    '/audit/proof',
    '/audit/status',
    '/audit/streams/{stream}',
    '/docs',
    '/docs/reader/{build}/chunks/{file}',
    '/docs/reader/{build}/{file}',
    '/guides',
    '/guides/assets/chunks/{file}',
    '/guides/{folder}/{file}',
    '/guides/{page}',
    '/healthz',
    '/openapi.json',
    '/readyz',
    '/s/{token}',
  ]);
  for (const [ref] of JSON.stringify(document).matchAll(/(?<="\$ref":"#\/)[^"]+/g)) {
    const found = ref.split('/').reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document);
    t.truthy(found, ref);
  }
  const create = document.paths['/api/v1/projects/{projectId}/storages']?.['post'];
  t.deepEqual(Object.keys(create?.responses ?? {}), ['201', '403', '409', 'default']);
  t.deepEqual(create?.['security'] ?? document['security'], [{ session: [] }]);
});

test('The document describes a route the same with and without other routes', async (t) => {
  const { ask, routes } = await startTestService(t);
  const { paths, components } = (await ask('/openapi.json')).json as OpenApiDocument;
  for (const route of routes) {
    const text = JSON.stringify(
      makeOpenApi([route], { version: '0.0.0', publicUrl: 'http://localhost', passwordRules: '' }),
    );
    const alone = JSON.parse(text) as OpenApiDocument;
    for (const [path, operations] of Object.entries(alone.paths)) {
      for (const [method, operation] of Object.entries(operations))
        t.deepEqual(paths[path]?.[method], operation);
    }
    for (const [id, schema] of Object.entries(alone.components.schemas)) {
      t.deepEqual(withoutExamples(components.schemas[id]), withoutExamples(schema), id);
    }
    for (const [id, response] of Object.entries(alone.components.responses)) {
      t.deepEqual(components.responses[id], response, id);
    }
  }
});

/** Only schemas of bodies have examples, and a schema may be the body of one route and a part of another one's. */
function withoutExamples(schema: unknown): object {
  return { ...asObject(schema), examples: [] };
}

test('The document says who may call a route and where the second factor must be fresh', async (t) => {
  const { ask } = await startTestService(t);
  const { paths } = (await ask('/openapi.json')).json as OpenApiDocument;
  const said = (path: string, method: string): string =>
    textOf(asObject(asObject(paths[path])[method]), 'description');
  t.is(said('/api/v1/auth/me', 'get'), 'Access: signed-in users. Open before a second factor is passed.');
  t.is(said('/api/v1/auth/me', 'patch'), 'Access: signed-in users.');
  t.is(said('/api/v1/auth/password', 'post'), 'Access: signed-in users. Needs a fresh factor or sign-in.');
  const project = '/api/v1/projects/{projectId}';
  t.is(said(project, 'get'), 'Access: role `viewer` or above, platform auditors. API keys are refused.');
  t.is(said(project, 'patch'), 'Access: owners of the project. API keys are refused.');
  t.regex(said(`${project}/storages`, 'post'), /entitlement `allow_s3`\. Needs a fresh factor\.$/);
});

test('The check against the document finds violations', async (t) => {
  const { ask } = await startTestHttp(t, { routes: [good] });
  const document = (await ask('/openapi.json')).json as OpenApiDocument;
  const headers = new Headers({
    'x-request-id': '1',
    'content-type': 'application/json',
    'retry-after': '1',
  });
  const reply = { method: 'GET', path: '/things/1', status: 200, headers, text: '{}' };
  t.deepEqual(contractBreaches(document, reply), []);
  const broken = [
    { ...reply, status: 202 },
    { ...reply, text: '{"secret":1}' },
    { ...reply, status: 404, text: '{"code":"email_taken","message":""}' },
    { ...reply, status: 404, text: '{"code":"not_found"}' },
    { ...reply, headers: new Headers({ 'x-request-id': '1', 'content-type': 'text/plain' }) },
    { ...reply, headers: new Headers({ 'content-type': 'application/json' }) },
    { ...reply, path: '/unknown', status: 200 },
    { ...reply, path: '/unknown', status: 404, text: '{"code":"not_found","message":"","more":1}' },
    { ...reply, path: '/unknown', status: 404, text: 'Not Found' },
  ];
  for (const one of broken) t.true(contractBreaches(document, one).length > 0, JSON.stringify(one));
  const unavailable = { ...reply, status: 503, text: '{"code":"overloaded","message":""}' };
  t.deepEqual(contractBreaches(document, unavailable), []);
  const hasty = {
    ...unavailable,
    headers: new Headers({ 'x-request-id': '1', 'content-type': 'application/json' }),
  };
  t.true(contractBreaches(document, hasty).includes('503 without Retry-After'));
});

test('Requests are measured by method, pattern and status, on a separate listener', async (t) => {
  const { ask, registry } = await startTestHttp(t, { routes: [good] });
  await ask('/things/0196a000-0000-7000-8000-00000000000a');
  await ask('/things/x');
  await ask('/nothing');
  const status = { ready: false, process: null, version: '1', reasons: ['starting'], components: [] };
  const metrics = await startMetricsServer({ registry, status: () => status, host: '127.0.0.1', port: 0 });
  t.teardown(() => metrics.close());
  const response = await fetch(`http://127.0.0.1:${metrics.port}/metrics`);
  t.is(response.status, 200);
  const text = await response.text();
  for (const labels of [
    'method="GET",route="/things/:thingId",status="200"',
    'method="GET",route="/things/:thingId",status="404"',
    'method="GET",route="none",status="404"',
  ]) {
    t.true(text.includes(`stowage_http_request_duration_seconds_count{${labels}} 1`), labels);
  }
  const unknown = await fetch(`http://127.0.0.1:${metrics.port}/`);
  t.is(unknown.status, 404);
  // A body that is not read keeps its connection, for which a later fetch may wait.
  await unknown.text();
  const ready = await fetch(`http://127.0.0.1:${metrics.port}/readyz`);
  t.is(ready.status, 503);
  t.deepEqual(await ready.json(), status);
});

test('Metric labels stay bounded for every input', async (t) => {
  const registry = new Registry();
  const metrics = makeHttpMetrics(registry);
  for (const method of ['BREW', 'PROPFIND', 'X'.repeat(50)]) {
    metrics.observe({ method, route: null, status: 405, durationMs: 1 });
  }
  t.regex(await registry.metrics(), /count\{method="other",route="none",status="405"\} 3/);
});
