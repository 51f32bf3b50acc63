import test, { type ExecutionContext } from 'ava';
import { pluck } from '../../support/given/pluck.js';
import { makeReplySealer } from '../../../src/composition/http.js';
import { startTestService, type TestService } from '../../support/servers/http-service.js';
import type { Answer } from '../../support/clients/http-app.js';
import { answered, optionsOf, provePasskey } from '../../support/clients/passkey-calls.js';
import { makeSoftwareAuthenticator } from '../../support/fakes/software-authenticator.js';
import { givenContext, givenStores } from '../../support/given/given-stores.js';

const storage = {
  ...{ name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1' },
  credentials: { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' },
};
const asset = { name: 'Rhine', object_key: 'rhine.mp4', media_type: 'video/mp4', size: 1_000 };

/** Calls that create something, and their bodies. The bodies are made from the ids of earlier creations. */
const creations: readonly {
  readonly what: string;
  readonly path: (ids: Ids) => string;
  readonly body: (ids: Ids) => unknown;
}[] = [
  { what: 'an account', path: () => 'auth/register', body: () => ({ email: 'carl@example.com', password }) },
  { what: 'a project', path: () => 'projects', body: () => ({ name: 'Film' }) },
  { what: 'a member', path: (ids) => `projects/${ids.project}/members`, body: () => member('bob') },
  { what: 'an invitation', path: (ids) => `projects/${ids.project}/members`, body: () => member('eve') },
  { what: 'a storage', path: (ids) => `projects/${ids.project}/storages`, body: () => storage },
  {
    what: 'an asset',
    path: (ids) => `projects/${ids.project}/assets`,
    body: (ids) => ({ ...asset, object_key: 'ruhr.mp4', storage_id: ids.storage }),
  },
  {
    what: 'a share',
    path: (ids) => `projects/${ids.project}/shares`,
    body: (ids) => ({ asset_id: ids.asset, password: 'open sesame' }),
  },
  { what: 'an order', path: () => 'orders', body: () => ({ plan_id: 'capacity-100g', provider: 'stripe' }) },
  { what: 'a secret of a second factor', path: () => 'auth/2fa/totp', body: () => ({}) },
];
const password = 'Correct-Horse-7';

type Ids = Readonly<Record<'project' | 'storage' | 'asset', string>>;

function member(name: string) {
  return { email: `${name}@example.com`, role: 'editor' };
}

interface Scene extends TestService {
  readonly ids: Ids;
  readonly owner: Record<string, string>;
  readonly create: (path: string, body: unknown, key: string) => Promise<Answer>;
  readonly remove: (path: string) => Promise<void>;
  /** The next replies are not stored, as after a crash behind the append. */
  readonly loseReplies: (count: number) => void;
}

async function given(t: ExecutionContext): Promise<Scene> {
  let toLose = 0;
  const { sealer } = await givenStores();
  const replySealer = makeReplySealer(sealer);
  const service = await startTestService(t, {
    replySealer: {
      ...replySealer,
      seal: (claim, plaintext) => {
        toLose -= 1;
        return toLose >= 0 ? Promise.reject(new Error('crashed')) : replySealer.seal(claim, plaintext);
      },
    },
  });
  const owner = await service.signUp('owner');
  await service.verify('owner');
  await service.signUp('bob');
  await service.verify('bob');
  const project = await service.makeProject(owner);
  const idOf = (answer: Answer): string => {
    t.is(answer.status, 201, answer.text);
    return (answer.json as { id: string }).id;
  };
  const path = `/api/v1/projects/${project}`;
  const storageId = idOf(await service.post(`${path}/storages`, storage, owner));
  const made = await service.post(`${path}/assets`, { ...asset, storage_id: storageId }, owner);
  return {
    ...service,
    owner,
    ids: { project, storage: storageId, asset: idOf(made) },
    create: (relative, body, key) =>
      service.post(`/api/v1/${relative}`, body, { ...owner, 'idempotency-key': key }),
    remove: async (relative) => {
      const answer = await service.ask(`/api/v1/${relative}`, { method: 'DELETE', headers: owner });
      t.is(answer.status, 204, answer.text);
    },
    loseReplies: (count) => {
      toLose = count;
    },
  };
}

/** The parts of a reply that a repetition shares. A repetition computes other parts again. */
function identityOf({ status, json }: Answer): unknown {
  const { data, id } = json as { id?: string; data?: { user?: { id: string }; secret?: string } };
  return [status, id ?? data?.user?.id ?? data?.secret];
}

test('Every call that creates something accepts an Idempotency-Key', async (t) => {
  const { routes } = await startTestService(t);
  const ignoring = routes.filter(
    ({ method, replies, idempotent }) => method === 'POST' && 201 in replies && idempotent === undefined,
  );
  t.deepEqual(pluck(ignoring, 'name'), []);
});

for (const { what, path, body } of creations) {
  test(`A repeated request creates ${what} once, also after a crash that lost the reply`, async (t) => {
    // Given a process that ends between the append and the stored reply
    const { ids, create, loseReplies, stores, clock } = await given(t);
    loseReplies(1);
    const first = await create(path(ids), body(ids), 'k');
    t.is(first.status, 201, first.text);
    const head = await stores.eventStore.head();
    // When the client repeats the request
    const startMs = clock.now().getTime();
    const second = await create(path(ids), body(ids), 'k');
    // Then it gets the result within 2 s, and nothing is created again
    t.deepEqual(identityOf(second), identityOf(first), second.text);
    t.true(clock.now().getTime() - startMs < 2_000);
    t.is(await stores.eventStore.head(), head);
    // And the reply stays
    t.is((await create(path(ids), body(ids), 'k')).text, second.text);
  });
}

test('A repeated request registers a passkey once, also after a crash that lost the reply', async (t) => {
  const { get, create, loseReplies, owner, post } = await given(t);
  const device = makeSoftwareAuthenticator();
  const body = { credential: device.create(await optionsOf({ post }, 'register', owner)), name: 'Laptop' };
  loseReplies(1);
  const first = await create('auth/passkeys', body, 'k');
  t.is(first.status, 201, first.text);
  // A repetition has to prove the passkey, as the account has a factor now
  t.is((await create('auth/passkeys', body, 'k')).status, 403);
  t.is((await provePasskey({ post }, device, owner)).status, 204);
  // The crash lost the recovery codes too
  const again = await create('auth/passkeys', body, 'k');
  t.deepEqual(answered(again), {
    ...answered(first),
    last_used_at: answered(again)['last_used_at'],
    recovery_codes: null,
  });
  t.is((answered(await get('/api/v1/auth/passkeys', owner))['items'] as unknown[]).length, 1);
  // Another request cannot use the challenge again
  t.is((await create('auth/passkeys', body, 'other')).status, 401);
});

test('A repeated request for an API key gets the key again, but not where a crash lost it', async (t) => {
  const { ids, create, loseReplies } = await given(t);
  const path = `projects/${ids.project}/api-keys`;
  const body = { name: 'Export', scopes: ['asset:read'] };
  const first = await create(path, body, 'k');
  t.is(first.status, 201, first.text);
  t.is((await create(path, body, 'k')).text, first.text);
  loseReplies(1);
  t.is((await create(path, body, 'lost')).status, 201);
  const again = await create(path, body, 'lost');
  t.is(again.status, 409);
  t.regex(again.text, /revoke it/);
});

test('A repeated invitation that was accepted meanwhile is the member', async (t) => {
  const { ids, create, loseReplies, commands, signUp, verify, stores } = await given(t);
  loseReplies(1);
  const path = `projects/${ids.project}/members`;
  const invited = await create(path, member('eve'), 'k');
  const { id: invitationId } = invited.json as { id: string };
  await signUp('eve');
  const userId = await verify('eve');
  await commands.acceptInvitation(
    { projectId: ids.project, invitationId },
    givenContext(7_000, stores.clock.now()),
  );
  const again = await create(path, member('eve'), 'k');
  t.is(again.status, 201, again.text);
  t.like(again.json, { id: userId, status: 'active' });
});

test('A repetition does not show again what was removed since', async (t) => {
  const { ids, create, remove, post } = await given(t);
  const project = `projects/${ids.project}`;
  const made: readonly (readonly [string, unknown, ((first: Answer) => Promise<unknown>)?])[] = [
    [`${project}/api-keys`, { name: 'Export', scopes: ['asset:read'] }],
    [`${project}/shares`, { asset_id: ids.asset, password: 'open sesame' }],
    [`${project}/members`, member('bob')],
    [`${project}/storages`, { ...storage, bucket: 'dailies' }],
    [`${project}/members`, member('eve')],
    [`${project}/members`, { email: 'bob@example.com', role: 'owner' }],
    ['projects', { name: 'Film' }],
    [
      'orders',
      { plan_id: 'capacity-100g', provider: 'stripe' },
      ({ json }) => create(`orders/${(json as { id: string }).id}/cancel`, {}, 'k'),
    ],
    [
      'auth/register',
      { email: 'carl@example.com', password },
      async ({ json }) => {
        const { access_token } = (json as { data: { tokens: { access_token: string } } }).data.tokens;
        const left = await post('/api/v1/auth/logout', {}, { authorization: `Bearer ${access_token}` });
        t.is(left.status, 204, left.text);
      },
    ],
  ];
  for (const [index, [path, body, end]] of made.entries()) {
    const key = `k${index}`;
    const first = await create(path, body, key);
    t.is(first.status, 201, first.text);
    t.is((await create(path, body, key)).text, first.text);
    // When it is removed, then its reply is too
    if (end === undefined) await remove(`${path}/${(first.json as { id: string }).id}`);
    else await end(first);
    const again = await create(path, body, key);
    t.is(again.status, 409, `${path} ${again.text}`);
    t.like(again.json, { code: 'conflict' });
  }
});

test('A repetition shows no secret of TOTP that another enrolment has replaced', async (t) => {
  const { create } = await given(t);
  const first = await create('auth/2fa/totp', {}, 'k');
  t.is((await create('auth/2fa/totp', {}, 'k')).text, first.text);
  const second = await create('auth/2fa/totp', {}, 'another');
  t.is(second.status, 201, second.text);
  t.like((await create('auth/2fa/totp', {}, 'k')).json, { code: 'conflict' });
  t.is((await create('auth/2fa/totp', {}, 'another')).text, second.text);
});

test('A repetition shows no recovery codes that were replaced since', async (t) => {
  const { create, owner, post } = await given(t);
  const device = makeSoftwareAuthenticator();
  const body = { credential: device.create(await optionsOf({ post }, 'register', owner)), name: 'Laptop' };
  const first = await create('auth/passkeys', body, 'k');
  t.is((answered(first)['recovery_codes'] as unknown[]).length, 10);
  t.is((await provePasskey({ post }, device, owner)).status, 204);
  t.is((await create('auth/passkeys', body, 'k')).text, first.text);
  t.is((await post('/api/v1/auth/2fa/recovery-codes', {}, owner)).status, 200);
  t.like((await create('auth/passkeys', body, 'k')).json, { code: 'conflict' });
});

test('A repetition of an invitation that was accepted shows it, until the member is removed', async (t) => {
  const { ids, create, remove, commands, signUp, verify, stores } = await given(t);
  const path = `projects/${ids.project}/members`;
  const invited = await create(path, member('eve'), 'k');
  const { id: invitationId } = invited.json as { id: string };
  await signUp('eve');
  const userId = await verify('eve');
  const accepted = { projectId: ids.project, invitationId };
  await commands.acceptInvitation(accepted, givenContext(7_000, stores.clock.now()));
  t.is((await create(path, member('eve'), 'k')).text, invited.text);
  await remove(`${path}/${userId}`);
  t.is((await create(path, member('eve'), 'k')).status, 409);
});

test('A late repetition issues no key again that was revoked', async (t) => {
  // Given a key whose reply was lost, and which was revoked
  const { ids, create, loseReplies, remove, stores } = await given(t);
  const path = `projects/${ids.project}/api-keys`;
  const body = { name: 'Export', scopes: ['asset:read'] };
  loseReplies(1);
  const { id: keyId } = (await create(path, body, 'k')).json as { id: string };
  await remove(`${path}/${keyId}`);
  const head = await stores.eventStore.head();
  // When the client repeats the request
  const again = await create(path, body, 'k');
  // Then the refusal says how to get another key
  t.is(again.status, 409, again.text);
  t.regex(again.text, /another Idempotency-Key/);
  t.is(await stores.eventStore.head(), head);
});

for (const { what, name } of [
  { what: 'member', name: 'bob' },
  { what: 'invitation', name: 'eve' },
]) {
  test(`A late repetition restores no ${what} that was removed`, async (t) => {
    // Given an addition whose reply was lost, and which was removed
    const { ids, create, loseReplies, remove, commands, stores } = await given(t);
    const path = `projects/${ids.project}/members`;
    loseReplies(1);
    const { id: memberId } = (await create(path, member(name), 'k')).json as { id: string };
    await remove(`${path}/${memberId}`);
    await commands.forgetInvitations({ projectId: ids.project, ended: [memberId] });
    const head = await stores.eventStore.head();
    // When the client repeats the request
    const again = await create(path, member(name), 'k');
    // Then it is refused, and another key adds again
    t.is(again.status, 404, again.text);
    t.regex(again.text, /another Idempotency-Key/);
    t.is(await stores.eventStore.head(), head);
    t.is((await create(path, member(name), 'other')).status, 201);
  });
}
