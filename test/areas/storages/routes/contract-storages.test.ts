/* The sentences of the contract on storages: 2.1, 3, 4.1, 4.2, 5 and 7. */
import test from 'ava';
import type { Json } from '../../../../src/http/document/openapi-texts.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { password } from '../../../support/servers/http-service.js';
import {
  cosStorage,
  documentOf,
  isError,
  startContract,
  storageKeys,
} from '../../../support/contract/scene.js';
import { names } from '../../../support/contract/sentences.js';

const unknown = '0196a000-0000-7000-8000-0000000000ff';

test(
  names('2.1', 'Credentials are never returned; only `has_credentials` indicates that some exist.'),
  async (t) => {
    const { bind, get, ask, url, owner, logLines } = await startContract(t);
    const bound = await bind();
    const { id } = bound.json as { id: string };
    const changed = await ask(`${url}/storages/${id}`, {
      method: 'PATCH',
      json: { name: 'Dailies' },
      headers: owner,
    });
    const read = await get(`${url}/storages/${id}`, owner);
    const listed = await get(`${url}/storages`, owner);
    for (const answer of [bound, changed, read, listed]) {
      t.regex(answer.text, /"has_credentials":true/);
      t.notRegex(answer.text, /"credentials"|canary-secret-key|an-access-key|secret_id/);
    }
    t.notRegex(logLines.join(''), /canary-secret-key|an-access-key/);
  },
);

test(names('1', 'Credentials are write-only.'), async (t) => {
  const { bind, ask, url, owner } = await startContract(t);
  const { id } = (await bind()).json as { id: string };
  const replaced = await ask(`${url}/storages/${id}/credentials`, {
    method: 'PUT',
    json: { credentials: { secret_id: 'another-id', secret_key: 'another-secret' } },
    headers: owner,
  });
  t.is(replaced.status, 200, replaced.text);
  t.notRegex(replaced.text, /another/);
  t.is((await ask(`${url}/storages/${id}/credentials`, { headers: owner })).status, 405);
});

test(
  names(
    '1',
    'Project storage: bind an external object-storage bucket to a project (providers `oss`, `cos`, `s3`) and read its configuration.',
  ),
  async (t) => {
    const { bind, get, url, owner } = await startContract(t);
    for (const provider of ['oss', 'cos', 's3'] as const) {
      const bound = await bind({ ...cosStorage, provider, credentials: storageKeys[provider] });
      t.is(bound.status, 201, bound.text);
      const { id } = bound.json as { id: string };
      t.deepEqual((await get(`${url}/storages/${id}`, owner)).json, bound.json);
      t.like(bound.json, { provider, bucket: cosStorage.bucket });
    }
  },
);

test(
  names('3', 'Storage configuration `status` values: `pending`, `testing`, `active`, `failed`, `disabled`.'),
  async (t) => {
    const { routes } = await startContract(t);
    const { schemas } = documentOf(routes, 'Storages').components;
    const { status } = (schemas['Storage'] as Json)['properties'] as Record<string, Json>;
    t.deepEqual(status?.['enum'], ['pending', 'testing', 'active', 'failed', 'disabled']);
  },
);

for (const [section, ...sentences] of [
  [
    '3',
    '(none) | POST create storage | caller authorized and request valid | `pending` | 201 returned with the configuration; `has_credentials` reflects the stored credentials',
  ],
  [
    '4.1',
    'POST /api/v1/projects/{projectId}/storages',
    'Binds a storage to a project.',
    'Path: `projectId` string (UUID), required.',
    'Request body: the storage creation request (2.2).',
    '201: the storage configuration (2.1) with `status` = `pending`.',
  ],
] as const) {
  test(names(section, ...sentences), async (t) => {
    const { bind, get, post, url, owner, project, makeProject, signUp } = await startContract(t);
    const bound = await bind();
    t.is(bound.status, 201);
    t.like(bound.json, { project_id: project, status: 'pending', has_credentials: true, name: 'Rushes' });
    const before = (await get(`${url}/storages`, owner)).json;
    t.like(before, { items: [{ id: (bound.json as { id: string }).id }] });
    const other = `/api/v1/projects/${await makeProject(owner)}/storages`;
    t.like((await get(other, owner)).json, { items: [] });
    // A caller who is not authorized, an invalid request and a wrong path make no storage
    t.is((await bind(cosStorage, await signUp('stranger'))).status, 403);
    for (const wrong of [{ bucket: '' }, { base_path: '../up' }, { credentials: { secret_id: 'a' } }]) {
      const refused = await bind({ ...cosStorage, ...wrong });
      isError(t, refused, 400);
      t.true((refused.json as { message: string }).message.startsWith(Object.keys(wrong)[0] ?? '?'));
    }
    t.is((await post('/api/v1/projects/7/storages', cosStorage, owner)).status, 400);
    t.is((await post('/api/v1/projects//storages', cosStorage, owner)).status, 404);
    t.deepEqual((await get(`${url}/storages`, owner)).json, before);
  });
}

for (const [section, ...sentences] of [
  [
    '4.1',
    'Access: role admin or above (JWT session).',
    '403: error body, no permission (role check or 2FA failed).',
  ],
  ['4.1', 'An API key cannot be used.'],
  ['5', 'Create storage requires role admin or above and refuses API keys.'],
] as const) {
  test(names(section, ...sentences), async (t) => {
    const { bind, join, issueKey, owner } = await startContract(t);
    for (const role of ['viewer', 'editor']) isError(t, await bind(cosStorage, await join(role, role)), 403);
    t.is((await bind(cosStorage, await join('admin', 'admin'))).status, 201);
    t.is((await bind()).status, 201, 'the owner');
    t.is((await bind(cosStorage, {})).status, 401, 'no session');
    const key = await issueKey('storage:read', 'storage:test');
    for (const headers of [key, { ...owner, ...key }]) {
      const refused = await bind(cosStorage, headers);
      isError(t, refused, 403);
      t.like(refused.json, { code: 'api_key_not_allowed' });
    }
  });
}

test(names('5', 'A failure of the role check or of 2FA gives 403.'), async (t) => {
  const { bind, join, passTwoFactor, owner, commands, stores } = await startContract(t);
  const viewer = await bind(cosStorage, await join('viewer', 'viewer'));
  isError(t, viewer, 403);
  // Given an account with a second factor, and a session of it that has not passed the factor
  await passTwoFactor(owner);
  t.is((await bind()).status, 201);
  const signedIn = await commands.login(
    { email: 'ada@example.com', password, client: { ip: '127.0.0.1', known: null }, userAgent: null },
    givenContext(7_002, stores.clock.now()),
  );
  const unproved = await bind(cosStorage, { authorization: `Bearer ${signedIn.tokens.access_token}` });
  isError(t, unproved, 403);
  t.like(unproved.json, { code: 'two_factor_required' });
});

for (const [section, sentence] of [
  ['4.1', 'The project must have the `allow_s3` entitlement.'],
  ['5', "It also requires the project's `allow_s3` entitlement."],
] as const) {
  test(names(section, sentence), async (t) => {
    const { bind, get, post, owner } = await startContract(t);
    const { id } = (await post('/api/v1/projects', { name: 'Plain' }, owner)).json as { id: string };
    const storages = `/api/v1/projects/${id}/storages`;
    for (const provider of ['oss', 'cos', 's3'] as const) {
      const of = { ...cosStorage, provider, credentials: storageKeys[provider] };
      const refused = await post(storages, of, owner);
      isError(t, refused, 403);
      t.like(refused.json, { code: 'entitlement_required' });
    }
    t.like((await get(storages, owner)).json, { items: [] });
    t.is((await bind()).status, 201);
  });
}

test(names('4.1', '400: error body, request parameters invalid.'), async (t) => {
  const { bind } = await startContract(t);
  for (const body of [{}, [], 'text', { ...cosStorage, name: '' }, { ...cosStorage, more: 1 }]) {
    const refused = await bind(body);
    isError(t, refused, 400);
  }
});

test(
  names(
    '4.2',
    'GET /api/v1/projects/{projectId}/storages/{storageId}',
    'Returns one storage configuration.',
    'Path: `projectId` string (UUID), required; `storageId` string, required.',
    '200: the storage configuration (2.1).',
  ),
  async (t) => {
    const { bind, get, url, owner } = await startContract(t);
    const [first, second] = [await bind(), await bind({ ...cosStorage, name: 'Dailies' })];
    const { id } = second.json as { id: string };
    const read = await get(`${url}/storages/${id}`, owner);
    t.is(read.status, 200);
    t.deepEqual(read.json, second.json);
    t.notDeepEqual(read.json, first.json);
    t.is((await get(`/api/v1/projects/7/storages/${id}`, owner)).status, 404);
    t.is((await get(`${url}/storages/7`, owner)).status, 404);
  },
);

test(names('4.2', '404: error body, resource does not exist.'), async (t) => {
  const { bind, get, url, owner, makeProject, signUp } = await startContract(t);
  const { id } = (await bind()).json as { id: string };
  const missing = [
    await get(`${url}/storages/${unknown}`, owner),
    await get(`/api/v1/projects/${unknown}/storages/${id}`, owner),
    await get(`/api/v1/projects/${await makeProject(owner)}/storages/${id}`, owner),
    await get(`${url}/storages/${id}`, await signUp('stranger')),
  ];
  for (const answer of missing) isError(t, answer, 404);
});

for (const [section, sentence] of [
  ['4.2', 'Access: role viewer or above, or an API key whose scope permits it.'],
  ['5', 'Get storage requires role viewer or above.'],
] as const) {
  test(names(section, sentence), async (t) => {
    const { bind, get, url, owner, join, issueKey, signUp } = await startContract(t);
    const { id } = (await bind()).json as { id: string };
    const path = `${url}/storages/${id}`;
    for (const role of ['viewer', 'editor', 'admin'])
      t.is((await get(path, await join(role, role))).status, 200);
    t.is((await get(path, owner)).status, 200);
    t.is((await get(path, await signUp('stranger'))).status, 404);
    t.is((await get(path)).status, 401);
    t.is((await get(path, await issueKey('storage:read'))).status, 200);
    t.is((await get(path, await issueKey('order:read'))).status, 403);
  });
}

test(
  names(
    '5',
    "Project API key | header `X-API-Key: <API_KEY>` | project-scoped endpoints (4.1 excluded, 4.2); authorized by the key's scope",
    "When `X-API-Key` is present on a project-scoped request, authorization follows the key's scope; otherwise it follows the JWT and the project role.",
  ),
  async (t) => {
    const { bind, get, url, owner, join, issueKey, signUp } = await startContract(t);
    const { id } = (await bind()).json as { id: string };
    const path = `${url}/storages/${id}`;
    const [reads, orders] = [await issueKey('storage:read'), await issueKey('order:read')];
    // The key decides, beside any session
    for (const session of [{}, owner, await signUp('stranger')]) {
      t.is((await get(path, { ...session, ...reads })).status, 200);
      t.is((await get(path, { ...session, ...orders })).status, 403);
    }
    t.is((await bind(cosStorage, { ...owner, ...reads })).status, 403);
    // Without it, the session and the role decide
    t.is((await get(path, await join('viewer', 'viewer'))).status, 200);
    t.is((await bind(cosStorage, await join('editor', 'editor'))).status, 403);
  },
);

test(
  names(
    '5',
    "Session token | header `Authorization: Bearer <JWT>` | project-scoped endpoints; authorized by the caller's role as a project member",
  ),
  async (t) => {
    const { bind, join, get, url, owner } = await startContract(t);
    t.regex(owner.authorization, /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
    const viewer = await join('viewer', 'viewer');
    t.is((await get(`${url}/storages`, viewer)).status, 200);
    t.is((await bind(cosStorage, viewer)).status, 403);
    t.is((await bind(cosStorage, owner)).status, 201);
    const { authorization } = owner;
    const forged = `${authorization.slice(0, -4)}${authorization.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    for (const bad of [forged, 'Bearer x', `Basic ${authorization}`])
      t.is((await get(`${url}/storages`, { authorization: bad })).status, 401, bad);
  },
);

test(
  names(
    '7',
    '403 | create storage | role check or 2FA failed',
    '404 | get storage, share verify | resource does not exist',
    'The value `not_found` appears as an example `code` with the message for a missing resource.',
  ),
  async (t) => {
    const { bind, get, open, url, owner, join } = await startContract(t);
    const refused = await bind(cosStorage, await join('editor', 'editor'));
    isError(t, refused, 403);
    for (const missing of [await get(`${url}/storages/${unknown}`, owner), await open('x'.repeat(22))]) {
      isError(t, missing, 404);
      t.like(missing.json, { code: 'not_found' });
    }
  },
);
