import test from 'ava';
import { noFactors } from '../../src/areas/accounts/domain/guard.js';
import type { Aggregate } from '../../src/event-sourcing/deciding/command-handler.js';
import type { Clock } from '../../src/kit/time/clock.js';
import type { DomainEvent } from '../../src/event-sourcing/ports/domain-event.js';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { nodeAggregate } from '../../src/areas/nodes/domain/node/node.js';
import { projectAggregate } from '../../src/areas/projects/domain/project/project.js';
import { sessionAggregate } from '../../src/areas/accounts/domain/session/session.js';
import { storageAggregate } from '../../src/areas/storages/domain/storage/storage.js';
import { userAggregate } from '../../src/areas/accounts/domain/user/user.js';
import { makeAccessReader, makeProjectReader } from '../../projections/projects/projects/reader.js';
import { makeNodeCheckReader } from '../../projections/nodes/peer-nodes/checks.js';
import { makeNodeReader } from '../../projections/nodes/peer-nodes/reader.js';
import { makeStorageReader } from '../../projections/storages/storage-configs/reader.js';
import { makeUsageReader } from '../../projections/assets/usage/reader.js';
import { makeUserReader } from '../../projections/accounts/users/reader.js';
import {
  digest,
  nodeId,
  otherProjectId,
  otherUserId,
  projectId,
  sessionId,
  storageId,
  userId,
} from '../support/examples/ids.js';
import { description } from '../support/examples/node.js';
import { sessionStarted } from '../support/examples/session.js';
import { configuration, credentials } from '../support/examples/storage.js';
import { capacityBytes, register } from '../support/examples/user.js';
import { givenContext, givenStores, type GivenStores } from '../support/given/given-stores.js';

const firstAt = '2026-01-02T03:04:05.000Z';
const laterAt = '2026-01-02T03:05:05.000Z';
const ids = { sessionId, userId, projectId };
let commands = 0;

async function run<State, Command, Event extends DomainEvent>(
  stores: GivenStores,
  target: readonly [Aggregate<State, Command, Event>, string],
  command: Command,
  at = firstAt,
): Promise<void> {
  const [aggregate, id] = target;
  await stores.handler.handle({ aggregate, id }, command, givenContext((commands += 1), new Date(at)));
}

async function givenUser(stores: GivenStores): Promise<void> {
  const seal = (field: string, text: string) => stores.sealer.seal({ kind: 'person', userId }, field, text);
  await run(stores, [userAggregate, userId], {
    ...register,
    email: await seal('email', 'Ada@Example.com'),
    nickname: await seal('nickname', 'Ada'),
    password_hash: await seal('password_hash', 'a hash'),
  });
}

test('The reader returns the user in the documented form', async (t) => {
  const stores = await givenStores();
  await givenUser(stores);
  const reader = makeUserReader({ ...stores, usedBytes: () => Promise.resolve(0) });
  t.deepEqual(await reader.find(userId), {
    revision: 1n,
    resource: {
      id: userId,
      email: 'Ada@Example.com',
      nickname: 'Ada',
      email_verified: false,
      two_factor_enabled: false,
      capacity_bytes: capacityBytes,
      used_bytes: 0,
      created_at: firstAt,
    },
  });
  t.is(await reader.find(otherUserId), null);
});

test('A user whose key was destroyed reads as erased', async (t) => {
  const stores = await givenStores();
  await givenUser(stores);
  await stores.sealer.destroy({ kind: 'person', userId });
  t.like(await makeUserReader({ ...stores, usedBytes: () => Promise.resolve(0) }).find(userId), {
    resource: { email: 'erased', nickname: 'erased' },
  });
});

test('Authentication finds the epoch, roles and second factor of a user', async (t) => {
  const stores = await givenStores();
  await givenUser(stores);
  const { email_digest } = register;
  await run(stores, [userAggregate, userId], { type: 'VerifyEmail', email_digest });
  await run(stores, [userAggregate, userId], { type: 'GrantPlatformRole', role: 'auditor' });
  const reader = makeAccessReader(stores);
  const { user, ...others } = await reader.session({ ...ids, projectId: null });
  t.like(user, { epoch: 0, kept_session_id: null, factors: noFactors, platformRoles: ['auditor'] });
  t.is(user?.document.id, userId);
  t.deepEqual(others, { session: null, project: null });
  t.is((await reader.session({ ...ids, userId: otherUserId })).user, null);
});

test('Authentication finds a session until it is revoked', async (t) => {
  const stores = await givenStores();
  const reader = makeAccessReader(stores);
  const session = async () => (await reader.session(ids)).session;
  t.is(await session(), null);
  await run(stores, [sessionAggregate, sessionId], { type: 'Start', start: sessionStarted.data });
  t.deepEqual(await session(), {
    userId,
    epoch: 0,
    proofs: {
      authenticatedAt: new Date('2026-01-02T03:04:05.000Z'),
      passedAt: { totp: null, passkey: null },
    },
    emailCodeAt: null,
    expiresAt: new Date('2026-04-02T03:04:05.000Z'),
  });
  await run(stores, [sessionAggregate, sessionId], { type: 'Revoke', reason: 'signed_out' });
  t.is(await session(), null);
});

test("The reader returns a project to its members, each with the member's role", async (t) => {
  const stores = await givenStores();
  const reader = makeProjectReader({ ...stores, usage: makeUsageReader(stores) });
  await run(stores, [projectAggregate, projectId], { type: 'Create', name: 'Rivers', ownerId: userId });
  const grant = { type: 'GrantEntitlement', entitlement: 'allow_s3', source: 'operator' } as const;
  await run(stores, [projectAggregate, projectId], grant, laterAt);
  const access = await reader.access(projectId);
  if (access === null) throw new Error('the project does not exist');
  t.deepEqual(await reader.present(access, userId), {
    revision: 1n,
    resource: {
      id: projectId,
      name: 'Rivers',
      role: 'owner',
      open_shares: false,
      accent_color: null,
      require_2fa: false,
      billed_to: userId,
      used_bytes: 0,
      billing_offer: null,
      entitlements: { allow_s3: true },
      created_at: firstAt,
      updated_at: laterAt,
    },
  });
  t.is(await reader.present(access, otherUserId), null);
  t.is((await reader.present(access, otherUserId, { asAuditor: true }))?.resource.role, 'viewer');
});

test('Projects are listed by member, newest first', async (t) => {
  const stores = await givenStores();
  const reader = makeProjectReader({ ...stores, usage: makeUsageReader(stores) });
  for (const id of [projectId, otherProjectId]) {
    await run(stores, [projectAggregate, id], { type: 'Create', name: id, ownerId: userId });
  }
  await run(stores, [projectAggregate, projectId], {
    type: 'AddMember',
    actorId: userId,
    userId: otherUserId,
    email_digest: digest,
    role: 'viewer',
    now: new Date(firstAt),
  });
  const listed = async (user: string, page: { limit: number; after?: string }) =>
    (await reader.list(user, page)).map(({ resource }) => resource.id);
  t.deepEqual(await listed(userId, { limit: 50 }), [otherProjectId, projectId]);
  t.deepEqual(await listed(userId, { limit: 50, after: otherProjectId }), [projectId]);
  t.deepEqual(await listed(otherUserId, { limit: 50 }), [projectId]);
});

test('Access to a project names role and entitlement', async (t) => {
  const stores = await givenStores();
  const reader = makeProjectReader({ ...stores, usage: makeUsageReader(stores) });
  await run(stores, [projectAggregate, projectId], { type: 'Create', name: 'Rivers', ownerId: userId });
  const access = await reader.access(projectId);
  t.like(access, { id: projectId, requireTwoFactor: false, entitlements: { allow_s3: false } });
  t.is(access?.roleOf(userId), 'owner');
  t.is(access?.roleOf(otherUserId), null);
  t.is(await reader.access(otherProjectId), null);
  const gate = makeAccessReader(stores);
  t.is((await gate.session(ids)).project?.roleOf(userId), 'owner');
  t.is((await gate.session({ ...ids, projectId: otherProjectId })).project, null);
  t.is(await gate.apiKey(digest), null);
});

test('A storage is in its project only, and is the default if the project says so', async (t) => {
  const stores = await givenStores();
  const reader = makeStorageReader(stores);
  await run(stores, [projectAggregate, projectId], { type: 'Create', name: 'Rivers', ownerId: userId });
  const create = {
    type: 'Create',
    projectId,
    configuration,
    credentials: { version: 1, sealed: credentials },
  } as const;
  await run(stores, [storageAggregate, storageId], create);
  const expected = {
    revision: 0n,
    resource: {
      id: storageId,
      project_id: projectId,
      ...configuration,
      status: 'pending',
      is_default: false,
      last_test_at: null,
      last_error: '',
      warnings: [],
      has_credentials: true,
      created_at: firstAt,
      updated_at: firstAt,
    },
  };
  t.deepEqual(await reader.find(projectId, storageId), expected);
  t.is(await reader.find(otherProjectId, storageId), null);
  t.is(await reader.find(projectId, projectId), null);
  const project = { id: projectId, defaultStorageId: null };
  const page = { limit: 50, descending: true };
  t.deepEqual(await reader.page(project, page, {}), { items: [expected.resource], next: null });
  t.deepEqual(await reader.ids(projectId, { limit: 21 }), [storageId]);
  t.deepEqual(await reader.ids(otherProjectId, { limit: 21 }), []);

  await run(stores, [projectAggregate, projectId], { type: 'ChangeDefaultStorage', storageId });
  t.like(await reader.find(projectId, storageId), { revision: 0n, resource: { is_default: true } });
});

function nodeReaderOf(stores: Awaited<ReturnType<typeof givenStores>>) {
  return makeNodeReader({ ...stores, nodeChecks: makeNodeCheckReader(stores) });
}

test('A node is found with its fields', async (t) => {
  const stores = await givenStores();
  const reader = nodeReaderOf(stores);
  await run(stores, [nodeAggregate, nodeId], { type: 'Register', description });
  t.deepEqual(await reader.find(nodeId), {
    revision: 0n,
    resource: {
      id: nodeId,
      ...description,
      status: 'unknown',
      consecutive_failures: 0,
      consecutive_successes: 0,
      last_checked_at: null,
      status_changed_at: null,
      created_at: firstAt,
      updated_at: firstAt,
      ...{ mode: 'in_service', health: 'unknown' },
    },
  });
});

test('The list of nodes is read again only after a change', async (t) => {
  const stores = await givenStores();
  const reader = nodeReaderOf(stores);
  await run(stores, [nodeAggregate, nodeId], { type: 'Register', description });
  const nodes = await reader.listed();
  t.is(await reader.listed(), nodes);
  await run(stores, [nodeAggregate, nodeId], { type: 'Change', changes: { lb_enabled: false } }, laterAt);
  t.like(await reader.list(), [{ lb_enabled: false, updated_at: laterAt }]);
});

test('Where a store does not detect changes, callers of one second share a read of the nodes', async (t) => {
  let reads = 0;
  let away = false;
  const stores = await givenStores({
    wrapDocuments: (store) => ({
      ...store,
      changeToken: () => null,
      find: (collection, query) => {
        reads += 1;
        return away ? Promise.reject(new StoreUnavailable('away')) : store.find(collection, query);
      },
    }),
  });
  const reader = nodeReaderOf(stores);
  await run(stores, [nodeAggregate, nodeId], { type: 'Register', description });
  const now = new Date(firstAt);
  const [before = [], ...same] = await Promise.all([1, 2, 3].map(() => reader.listed(clockAt(now))));
  for (const list of same) t.is(list, before);
  t.is(await reader.listed(clockAt(new Date(now.getTime() + 990))), before);
  t.is(reads, 1);
  t.is(await reader.listed(clockAt(new Date(now.getTime() + 2_000))), before, 'nothing has changed');
  t.is(reads, 2);
  await reader.listed(clockAt(now));
  await run(stores, [nodeAggregate, nodeId], { type: 'Change', changes: { lb_enabled: false } }, laterAt);
  t.like(await reader.list(), [{ lb_enabled: false }], 'a caller without a time reads again');
  t.like(await reader.list(clockAt(now)), [{ lb_enabled: true }]);
  const next = new Date(now.getTime() + 1_000);
  away = true;
  await t.throwsAsync(reader.list(clockAt(next)), { instanceOf: StoreUnavailable });
  away = false;
  t.like(await reader.list(clockAt(next)), [{ lb_enabled: false }], 'a failed read is not kept');
});

test('The list of nodes contains more nodes than a page', async (t) => {
  const stores = await givenStores();
  for (let index = 0; index < 401; index += 1) {
    const id = nodeId.slice(0, -3) + String(index).padStart(3, '0');
    await run(stores, [nodeAggregate, id], { type: 'Register', description });
  }
  t.is((await nodeReaderOf(stores).list()).length, 401);
});

function clockAt(time: Date): Pick<Clock, 'now'> {
  return { now: () => time };
}
