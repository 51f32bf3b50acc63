import test from 'ava';
import { makeLeaving, makeProjectHoldings } from '../../../../src/areas/projects/commands/leaving.js';
import { makeErasing } from '../../../../src/areas/accounts/commands/erasing.js';
import { OutcomeUnknown } from '../../../../src/event-sourcing/ports/errors.js';
import { sealedSchema } from '../../../../src/event-sourcing/ports/events.js';
import type { JsonValue } from '../../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { Role } from '../../../../src/areas/projects/domain/role.js';
import { emailAggregate } from '../../../../src/areas/accounts/domain/email/email.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { erased } from '../../../../src/keys/sealing/sealer.js';
import { digest } from '../../../support/examples/ids.js';
import { offerId } from '../../../support/examples/project.js';
import { sessionOf } from '../../../support/given/given-acting.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenNext } from '../../../support/given/given-account.js';
import { mortalAppends } from '../../../support/given/interrupted-stores.js';
import { logOf, typesOf } from '../../../support/given/log.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';

const profile = {
  password: 'Correct-Horse-7',
  client: { ip: '192.0.2.1', known: null },
  userAgent: 'Canary/1.0',
};

async function given(wrap?: (store: EventStore) => EventStore) {
  const { next: context, stores, ...commands } = await givenNext(wrap === undefined ? {} : { wrap });
  const signUp = async (email: string) => {
    const { user, tokens } = await commands.register({ email, ...profile }, context());
    const sessionId = commands.refreshTokens.verify(tokens.refresh_token)?.sessionId ?? '';
    return { userId: user.id, sessionId };
  };
  const makeProject = async (ownerId: string, members: Readonly<Record<string, Role>> = {}) => {
    const { resource } = await commands.createProject({ ownerId, name: 'Film' }, context());
    const target = { aggregate: projectAggregate, id: resource.id };
    for (const [userId, role] of Object.entries(members)) {
      const now = stores.clock.now();
      const add = { type: 'AddMember', actorId: ownerId, userId, email_digest: digest, now } as const;
      await stores.handler.handle(target, { ...add, role: role === 'owner' ? 'viewer' : role }, context());
      if (role === 'owner') await makeOwner(resource.id, ownerId, userId);
    }
    return resource.id;
  };
  /** Offers the ownership, which the member accepts. */
  const makeOwner = async (projectId: string, actorId: string, memberId: string) => {
    const target = { aggregate: projectAggregate, id: projectId };
    const now = stores.clock.now();
    const offer = { type: 'ChangeMemberRole', actorId, memberId, role: 'owner', offerId, now } as const;
    await stores.handler.handle(target, offer, context());
    const accept = { type: 'AnswerOffer', userId: memberId, offerId, accepts: true, now } as const;
    await stores.handler.handle(target, accept, context());
  };
  const projectOf = async (id: string) => (await stores.handler.load(projectAggregate, id)).state;
  const events = () => logOf(stores);
  const typesAfter = async (count: number) => typesOf(await events()).slice(count);
  return { stores, ...commands, context, signUp, makeProject, makeOwner, projectOf, events, typesAfter };
}

/** Signs Ada in twice. She owns one project alone, and is a member of Bob's project, where she has issued a key. */
async function givenAda(wrap?: (store: EventStore) => EventStore) {
  const world = await given(wrap);
  const { stores, context, signUp, makeProject } = world;
  const ada = await signUp('ada@example.com');
  const bob = await signUp('bob@example.com');
  const own = await makeProject(ada.userId);
  const shared = await makeProject(bob.userId, { [ada.userId]: 'admin' });
  const issue = {
    type: 'IssueApiKey',
    actorId: ada.userId,
    key: {
      key_id: own.replace(/^.{8}/, '0196a000'),
      ...{ name: 'agent', digest: 'ab'.repeat(32), prefix: 'stw_abcd', last_four: 'wxyz' },
      scopes: ['storage:read'],
      expires_at: new Date(stores.clock.now().getTime() + 1e9).toISOString(),
    },
    now: stores.clock.now(),
  } as const;
  await stores.handler.handle({ aggregate: projectAggregate, id: shared }, issue, context());
  const start = {
    userId: ada.userId,
    epoch: 0,
    methods: ['pwd'],
    client: null,
    userAgent: 'Canary/2.0',
  } as const;
  await world.startSession(start, context());
  return { ...world, ada, bob, own, shared };
}

type World = Awaited<ReturnType<typeof givenAda>>;

/** Opens every sealed value of a person in the log. */
async function openAll({ events, stores }: World, userId: string) {
  const found: unknown[] = [];
  for (const { stream, data } of await events()) {
    if (stream !== `user-${userId}` && !(stream.startsWith('session-') && data['user_id'] === userId))
      continue;
    for (const [field, value] of Object.entries(data)) {
      const sealed = sealedSchema.safeParse(value);
      if (!sealed.success) continue;
      found.push(await stores.sealer.open({ kind: 'person', userId }, field, sealed.data));
    }
  }
  return found;
}

/** Asserts that the stores contain nothing of Ada, after any kind of erasure. */
async function assertErased(
  t: { readonly is: (a: unknown, b: unknown, message?: string) => unknown },
  world: World,
) {
  const { stores, ada, bob, own, shared, access, users, sessions, projects, findAccount } = world;
  t.is(await users.find(ada.userId), null);
  t.is(await sessions.access(ada.sessionId), null);
  t.is((await sessions.ids(ada.userId, { limit: 10 })).length, 0);
  t.is((await projects.list(ada.userId, { limit: 10 })).length, 0);
  t.is(await access.apiKey('ab'.repeat(32)), null);
  t.is((await world.projectOf(own)).status, 'deleted');
  const left = await world.projectOf(shared);
  t.is(left.status === 'existing' && left.members.map(({ user_id }) => user_id).join(), bob.userId);
  const digest = stores.digests.email('ada@example.com');
  t.is((await stores.handler.load(emailAggregate, digest)).state.status, 'free');
  t.is(await findAccount(digest), null);
  const opened = await openAll(world, ada.userId);
  t.is(opened.length === 5 && opened.every((value) => value === erased), true, 'no value of Ada opens');
  t.is((await openAll(world, bob.userId)).includes('bob@example.com'), true, 'the sealed values of Bob open');
}

test('A session that ended during its request erases neither the account nor its projects', async (t) => {
  const { ada, own, context, logout, eraseUser, projectOf, users } = await givenAda();
  const session = { id: ada.sessionId, epoch: 0 };
  // The owner signs out everywhere after the request of a thief was authenticated.
  await logout({ ...ada, all: true }, context());
  t.is(await outcomeOf(eraseUser({ userId: ada.userId, session }, context())), 'session_ended');
  t.is((await projectOf(own)).status, 'existing');
  t.truthy(await users.find(ada.userId));
});

test('An erasure deletes the account and the projects of the user alone, and keeps the others', async (t) => {
  const world = await givenAda();
  const { ada, context, events, typesAfter, eraseUser } = world;
  t.true((await openAll(world, ada.userId)).includes('ada@example.com'), 'the address opens before');
  const before = (await events()).length;
  await eraseUser({ userId: ada.userId }, context());
  t.deepEqual(await typesAfter(before), [
    'ProjectDeleted',
    'UserErased',
    'SessionRevoked',
    'SessionRevoked',
    'MemberRemoved',
    'ApiKeyRevoked',
    'EmailReleased',
  ]);
  await assertErased(t, world);
  const text = JSON.stringify((await events()).map(({ data }): JsonValue => data)).toLowerCase();
  for (const canary of ['example.com', 'canary', '192.0.2.1']) t.false(text.includes(canary), canary);
});

test('A repeated erasure changes nothing, and an unknown user is not found', async (t) => {
  const { ada, context, events, eraseUser } = await givenAda();
  await eraseUser({ userId: ada.userId }, context());
  const before = await events();
  await eraseUser({ userId: ada.userId }, context());
  t.deepEqual(await events(), before);
  const unknown = ada.userId.replace(/^.{8}/, '0196a000');
  t.is(await outcomeOf(eraseUser({ userId: unknown }, context())), 'user_not_found');
});

test('An only owner of a project with other members is not erased, and nothing is deleted', async (t) => {
  const { ada, bob, own, context, makeProject, makeOwner, ...world } = await givenAda();
  const { projectOf, eraseUser, offerBilling, events } = world;
  const needed = await makeProject(ada.userId, { [bob.userId]: 'admin' });
  const before = await events();
  t.is(await outcomeOf(eraseUser({ userId: ada.userId }, context())), 'project_has_members');
  t.deepEqual(await events(), before);
  t.is((await projectOf(own)).status, 'existing');
  // When the other member is an owner too, who pays
  await makeOwner(needed, ada.userId, bob.userId);
  t.is(await outcomeOf(eraseUser({ userId: ada.userId }, context())), 'project_has_members');
  t.is((await projectOf(own)).status, 'existing');
  const acting = { actorId: bob.userId, session: sessionOf(bob.userId) };
  await offerBilling({ projectId: needed, ...acting, userId: bob.userId }, context());
  await eraseUser({ userId: ada.userId }, context());
  const left = await projectOf(needed);
  t.deepEqual(left.status === 'existing' && left.members.map(({ user_id, role }) => [user_id, role]), [
    [bob.userId, 'owner'],
  ]);
});

test('Of two owners who are erased at once, the one who pays stays, so no other member becomes responsible', async (t) => {
  const { bob, context, signUp, makeProject, projectOf, stores } = await givenAda();
  const [eve, joe] = [await signUp('eve@example.com'), await signUp('joe@example.com')];
  const project = await makeProject(eve.userId, { [joe.userId]: 'owner', [bob.userId]: 'viewer' });
  const process = () => givenCommands(stores.anotherProcess());
  const outcomes = await Promise.all([
    outcomeOf(process().eraseUser({ userId: eve.userId }, context())),
    outcomeOf(process().eraseUser({ userId: joe.userId }, context())),
  ]);
  t.is(outcomes[0], 'project_has_members');
  const left = await projectOf(project);
  t.deepEqual(left.status === 'existing' && left.members.map(({ user_id, role }) => [user_id, role]), [
    [eve.userId, 'owner'],
    [bob.userId, 'viewer'],
  ]);
});

test('A repeated request erases the account after a crash before the erasure', async (t) => {
  for (const appends of [0, 1]) {
    const { life, wrap } = mortalAppends();
    const world = await givenAda(wrap);
    life.left = appends;
    const { ada, context, eraseUser } = world;
    t.is(await outcomeOf(eraseUser({ userId: ada.userId }, context())), 'OutcomeUnknown');
    life.left = Infinity;
    t.truthy(await world.users.find(ada.userId));
    await eraseUser({ userId: ada.userId }, context());
    await assertErased(t, world);
  }
});

test('A crash after the erasure leaves no access, and the reaction finishes the erasure', async (t) => {
  // The order of the appends is: project, user, two sessions, membership; then the address.
  for (const appends of [2, 3, 4, 5]) {
    const { life, wrap } = mortalAppends();
    const world = await givenAda(wrap);
    life.left = appends;
    const { ada, context, eraseUser, finishErasure, users } = world;
    t.is(await outcomeOf(eraseUser({ userId: ada.userId }, context())), 'OutcomeUnknown');
    life.left = Infinity;
    t.is(await users.access(ada.userId), null, 'no session of Ada is accepted');
    await finishErasure({ userId: ada.userId }, context());
    await assertErased(t, world);
    const before = await world.events();
    await finishErasure({ userId: ada.userId }, context());
    t.deepEqual(await world.events(), before);
  }
});

test('The reaction destroys the key after a crash right after the erasure of the account', async (t) => {
  const world = await givenAda();
  const { ada, context, stores, projects, finishErasure } = world;
  const { eraseUser: crashing } = makeErasing({
    ...{ ...world, ...stores },
    sealer: { ...stores.sealer, destroy: () => Promise.reject(new OutcomeUnknown('gone')) },
    holdings: makeProjectHoldings({
      handler: stores.handler,
      ...{ projects, members: world.members },
      removeErasedMember: makeLeaving(stores).removeErasedMember,
      hasOrder: () => Promise.resolve(false),
    }),
  });
  t.is(await outcomeOf(crashing({ userId: ada.userId }, context())), 'OutcomeUnknown');
  // Another user takes the address before the erasure is finished.
  const again = await world.signUp('ada@example.com');
  await finishErasure({ userId: ada.userId }, context());
  const opened = await openAll(world, ada.userId);
  t.true(opened.length === 5 && opened.every((value) => value === erased));
  t.is((await world.findAccount(stores.digests.email('ada@example.com')))?.userId, again.userId);
});

test('The reaction finishes nothing for a user who is not erased', async (t) => {
  const { ada, context, events, finishErasure } = await givenAda();
  const before = await events();
  await finishErasure({ userId: ada.userId }, context());
  t.deepEqual(await events(), before);
});

test('A registration that is repeated after the erasure of its account is refused and creates no user', async (t) => {
  const { stores, register, finishErasure, context, events } = await given();
  const input = { email: 'ada@example.com', ...profile };
  const repeated = context();
  const { user } = await register(input, repeated);
  // The first repetition finds the key, as after a crash before its destruction. The second one does not.
  await stores.handler.handle({ aggregate: userAggregate, id: user.id }, { type: 'Erase' }, context());
  t.is(await outcomeOf(register(input, repeated)), 'email_taken');
  await finishErasure({ userId: user.id }, context());
  const before = (await events()).length;
  t.is(await outcomeOf(register(input, repeated)), 'email_taken');
  t.is((await events()).length, before);
});
