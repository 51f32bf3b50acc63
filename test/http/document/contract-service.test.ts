/* The sentences of the contract on the whole service: before 1, and 1, 4, 5, 7 and 9. */
import test from 'ava';
import type { OpenApiDocument } from '../../../src/http/document/openapi.js';
import type { Json } from '../../../src/http/document/openapi-texts.js';
import { cosStorage, startContract } from '../../support/contract/scene.js';
import { contract, names } from '../../support/contract/sentences.js';
import { agentSecret, password } from '../../support/servers/http-service.js';

/** The endpoints of the contract, as `METHOD /path`. */
const endpoints = contract
  .filter(({ section, text }) => /^4\.\d$/.test(section) && /^[A-Z]+ \//.test(text))
  .map(({ text }) => text);

/** Sends a request that succeeds to every endpoint of the contract, and returns the replies by endpoint. */
async function successes(scene: Awaited<ReturnType<typeof startContract>>) {
  const { bind, get, url, owner, register, sendCode, share, open } = scene;
  const bound = await bind();
  const { id } = bound.json as { id: string };
  const webhooks = '/api/v1/payment/webhooks/standard';
  return {
    'POST /api/v1/projects/{projectId}/storages': bound,
    'GET /api/v1/projects/{projectId}/storages/{storageId}': await get(`${url}/storages/${id}`, owner),
    'GET /api/v1/internal/peer-list': await get('/api/v1/internal/peer-list', {
      'x-agent-secret': agentSecret,
    }),
    'POST /api/v1/auth/register': await register('ben'),
    'POST /api/v1/auth/email-code/send': await sendCode(),
    'POST /api/v1/shares/{token}/verify': await open(await share()),
    'GET /api/v1/payment/webhooks/{provider}': await get(webhooks),
  };
}

for (const [section, sentence] of [
  [
    '0',
    'This single document covers every operation of the service that is specified: storage binding for projects, email registration, email login code sending, payment-platform callbacks, share password verification and an internal peer-node list.',
  ],
  ['1', 'The service is an HTTP JSON API with these areas:'],
] as const) {
  test(names(section, sentence), async (t) => {
    const { get } = await startContract(t);
    const { paths } = (await get('/openapi.json')).json as OpenApiDocument;
    t.is(endpoints.length, 8);
    for (const endpoint of endpoints) {
      const [method = '', path = ''] = endpoint.split(' ');
      t.truthy(paths[path]?.[method.toLowerCase()], endpoint);
    }
  });
}

test(names('0', 'All paths are relative to {base_url}.'), async (t) => {
  const { origin, get } = await startContract(t, { publicUrl: 'https://api.example.org' });
  const { servers, paths } = (await get('/openapi.json')).json as OpenApiDocument & { servers: object[] };
  t.deepEqual(servers, [{ url: 'https://api.example.org' }]);
  for (const path of Object.keys(paths)) t.regex(path, /^\//);
  t.is((await fetch(new URL('/api/v1/internal/peer-list', origin))).status, 401);
});

test(names('0', 'Bodies are JSON.'), async (t) => {
  const { ask, owner, url } = await startContract(t);
  const account = { email: 'ben@example.com', password };
  for (const [path, json] of [
    [`${url}/storages`, cosStorage],
    ['/api/v1/auth/register', account],
    ['/api/v1/auth/email-code/send', { email: 'ben@example.com' }],
    [`/api/v1/shares/${'x'.repeat(22)}/verify`, { password: 'open' }],
  ] as const) {
    const send = (body: string, type: string) =>
      ask(path, { method: 'POST', body, headers: { ...owner, 'content-type': type } });
    const text = JSON.stringify(json);
    for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded'])
      t.is((await send(text, type)).status, 415, `${path} as ${type}`);
    t.is((await send('{', 'application/json')).status, 400, path);
    t.true((await send(text, 'application/json')).status !== 415, path);
  }
});

test(names('4', 'All responses are `application/json` unless stated.'), async (t) => {
  const scene = await startContract(t);
  const replies = await successes(scene);
  // The reply to POST of a callback is what its platform expects
  t.deepEqual(
    [...Object.keys(replies), 'POST /api/v1/payment/webhooks/{provider}'].sort(),
    [...endpoints].sort(),
  );
  const refusals = [await scene.bind({}), await scene.register('ada'), await scene.open('x'.repeat(22))];
  for (const { headers, json } of [...Object.values(replies), ...refusals]) {
    t.regex(headers.get('content-type') ?? '', /^application\/json(?:;|$)/);
    t.is(typeof json, 'object');
  }
});

test(names('5', 'None |  | register, email-code send, share verify, payment webhooks'), async (t) => {
  const scene = await startContract(t);
  const { register, sendCode, share, open, get } = scene;
  const token = await share();
  for (const answer of [
    await register('ben'),
    await sendCode(),
    await open(token),
    await get('/api/v1/payment/webhooks/standard'),
  ])
    t.true(answer.status < 300, answer.text);
  // The others take no caller without a credential
  for (const answer of [
    await scene.bind(cosStorage, {}),
    await get(`${scene.url}/storages/${scene.project}`),
    await get('/api/v1/internal/peer-list'),
  ])
    t.is(answer.status, 401, answer.text);
});

test(
  names('7', 'Error responses use the body in 2.5 with string `code` and string `message`.'),
  async (t) => {
    const scene = await startContract(t);
    const { bind, get, register, open, ask, url, owner } = scene;
    const refusals = [
      [400, await bind({})],
      [401, await get('/api/v1/internal/peer-list')],
      [403, await bind(cosStorage, await scene.issueKey('storage:read'))],
      [404, await open('x'.repeat(22))],
      [405, await ask(`${url}/storages`, { method: 'DELETE', headers: owner })],
      [409, await register('ada')],
      [
        415,
        await ask('/api/v1/auth/register', {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'text/plain' },
        }),
      ],
      [404, await get('/nothing')],
    ] as const;
    for (const [status, answer] of refusals) {
      t.is(answer.status, status, answer.text);
      const { code, message, ...rest } = answer.json as Json;
      t.deepEqual([typeof code, typeof message, rest], ['string', 'string', {}], answer.text);
    }
  },
);

test(names('9', 'All operations live under the path prefix `/api/v1`.'), async (t) => {
  const scene = await startContract(t);
  for (const endpoint of endpoints) t.regex(endpoint, /^[A-Z]+ \/api\/v1\//);
  for (const [endpoint, { status }] of Object.entries(await successes(scene))) t.true(status < 300, endpoint);
  // Without the prefix there is no such operation
  for (const path of [
    '/auth/register',
    '/auth/email-code/send',
    '/payment/webhooks/standard',
    '/internal/peer-list',
  ])
    t.is((await scene.get(path)).status, 404, path);
});
