import test from 'ava';
import { makeEraseUser } from '../../src/commands/erase-user.js';
import { OutcomeUnknown } from '../../src/event-sourcing/errors.js';
import type { JsonValue } from '../../src/event-sourcing/domain-event.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import { sealedSchema } from '../../src/event-sourcing/sealed.js';
import type { Role } from '../../src/domain/role.js';
import { emailAggregate } from '../../src/domain/email/email.js';
import { projectAggregate } from '../../src/domain/project/project.js';
import { sessionAggregate } from '../../src/domain/session/session.js';
import { userAggregate } from '../../src/domain/user/user.js';
import { erased } from '../../src/keys/sealer.js';
import { digest } from '../support/examples/ids.js';
import { givenCommands } from '../support/given-commands.js';
import { givenContext, givenStores } from '../support/given-stores.js';
import { outcomeOf } from '../support/outcome-of.js';

const profile = { password: 'Correct-Horse-7', clientIp: '192.0.2.1', userAgent: 'Canary/1.0' };

async function given(wrap?: (store: EventStore) => EventStore) {
  const stores = await givenStores(wrap === undefined ? {} : { wrap });
  const commands = givenCommands(stores);
  let asked = 0;
  const context = () => givenContext((asked += 1), stores.clock.now());
  const signUp = async (email: string) => {
    const { user, tokens } = await commands.register({ email, ...profile }, context());
    const sessionId = commands.refreshTokens.verify(tokens.refresh_token)?.sessionId ?? '';
    return { userId: user.id, sessionId };
  };
  const makeProject = async (ownerId: string, members: Readonly<Record<string, Role>> = {}) => {
    const { resource } = await commands.createProject({ ownerId, name: 'Film' }, context());
    const target = { aggregate: projectAggregate, id: resource.id };
    for (const [userId, role] of Object.entries(members)) {
      const command = { type: 'AddMember', actorId: ownerId, userId, emailDigest: digest, role } as const;
      await stores.handler.handle(target, command, context());
    }
    return resource.id;
  };
  const projectOf = async (id: string) => (await stores.handler.load(projectAggregate, id)).state;
  const events = async () => (await stores.eventStore.readAll({ after: null, limit: 500 })).events;
  const typesAfter = async (count: number) => (await events()).slice(count).map(({ type }) => type);
  return { stores, ...commands, context, signUp, makeProject, projectOf, events, typesAfter };
}

/** Ada owns one project alone and is in another of Bob's, where she has issued a key; she has two sessions. */
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
    keyId: own.replace(/^.{8}/, '0196a000'),
    name: 'agent',
    digest: 'ab'.repeat(32),
    prefix: 'stw_abcd',
    lastFour: 'wxyz',
    scopes: ['storage:read'],
    expiresAt: new Date(stores.clock.now().getTime() + 1e9),
    now: stores.clock.now(),
  } as const;
  await stores.handler.handle({ aggregate: projectAggregate, id: shared }, issue, context());
  const start = {
    userId: ada.userId,
    epoch: 0,
    methods: ['pwd'],
    clientIp: null,
    userAgent: 'Canary/2.0',
  } as const;
  await world.startSession(start, context());
  return { ...world, ada, bob, own, shared };
}

type World = Awaited<ReturnType<typeof givenAda>>;

/** What every sealed value of a person in the log opens as. */
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

/** That nothing is left of Ada, whatever way the erasure took. */
async function assertErased(
  t: { readonly is: (a: unknown, b: unknown, message?: string) => unknown },
  world: World,
) {
  const { stores, ada, bob, own, shared, users, sessions, projects, findAccount } = world;
  t.is(await users.find(ada.userId), null);
  t.is(await sessions.access(ada.sessionId), null);
  t.is((await sessions.ids(ada.userId, { limit: 10 })).length, 0);
  t.is((await projects.list(ada.userId, { limit: 10 })).length, 0);
  t.is(await projects.apiKey('ab'.repeat(32)), null);
  t.is((await world.projectOf(own)).status, 'deleted');
  const left = await world.projectOf(shared);
  t.is(left.status === 'existing' && [...left.members.keys()].join(), bob.userId);
  const digest = stores.digests.email('ada@example.com');
  t.is((await stores.handler.load(emailAggregate, digest)).state.status, 'free');
  t.is(await findAccount(digest), null);
  const opened = await openAll(world, ada.userId);
  t.is(opened.length === 5 && opened.every((value) => value === erased), true, 'nothing of hers opens');
  t.is((await openAll(world, bob.userId)).includes('bob@example.com'), true, 'all of his does');
}

test('An account is erased with what only it knows; the rest goes on', async (t) => {
  const world = await givenAda();
  const { ada, context, events, typesAfter, eraseUser } = world;
  t.true((await openAll(world, ada.userId)).includes('ada@example.com'), 'before, it can be read');
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

test('Erasing once more changes nothing, and nobody else is found', async (t) => {
  const { ada, context, events, eraseUser } = await givenAda();
  await eraseUser({ userId: ada.userId }, context());
  const before = await events();
  await eraseUser({ userId: ada.userId }, context());
  t.deepEqual(await events(), before);
  const nobody = ada.userId.replace(/^.{8}/, '0196a000');
  t.is(await outcomeOf(eraseUser({ userId: nobody }, context())), 'user_not_found');
});

test('The address can be registered again, by another user', async (t) => {
  const { ada, context, eraseUser, signUp, users } = await givenAda();
  await eraseUser({ userId: ada.userId }, context());
  const again = await signUp('ada@example.com');
  t.not(again.userId, ada.userId);
  t.like((await users.find(again.userId))?.resource, { email: 'ada@example.com' });
});

test('The only owner among others stays, and nothing is deleted', async (t) => {
  const { ada, bob, own, context, makeProject, projectOf, eraseUser, events, stores } = await givenAda();
  const needed = await makeProject(ada.userId, { [bob.userId]: 'admin' });
  const before = await events();
  t.is(await outcomeOf(eraseUser({ userId: ada.userId }, context())), 'project_has_members');
  t.deepEqual(await events(), before);
  t.is((await projectOf(own)).status, 'existing');
  // When the other is an owner too
  const promote = {
    type: 'ChangeMemberRole',
    actorId: ada.userId,
    memberId: bob.userId,
    role: 'owner',
  } as const;
  await stores.handler.handle({ aggregate: projectAggregate, id: needed }, promote, context());
  await eraseUser({ userId: ada.userId }, context());
  const left = await projectOf(needed);
  t.deepEqual(left.status === 'existing' && [...left.members], [[bob.userId, 'owner']]);
});

test('Two owners who are erased at once leave the project to somebody, or to nobody', async (t) => {
  const { bob, context, signUp, makeProject, projectOf, stores } = await givenAda();
  const [eve, joe] = [await signUp('eve@example.com'), await signUp('joe@example.com')];
  const project = await makeProject(eve.userId, { [joe.userId]: 'owner', [bob.userId]: 'viewer' });
  const process = () => givenCommands(stores.anotherProcess());
  await Promise.all([
    process().eraseUser({ userId: eve.userId }, context()),
    process().eraseUser({ userId: joe.userId }, context()),
  ]);
  const left = await projectOf(project);
  t.deepEqual(left.status === 'existing' && [...left.members], [[bob.userId, 'owner']]);
});

test('After a crash before the account was erased it is erased by asking again', async (t) => {
  for (const appends of [0, 1]) {
    let left = Infinity;
    const world = await givenAda((store) => ({
      ...store,
      append: (stream, expected, newEvents) => {
        if (left === 0) return Promise.reject(new OutcomeUnknown('gone'));
        left -= 1;
        return store.append(stream, expected, newEvents);
      },
    }));
    left = appends;
    const { ada, context, eraseUser } = world;
    t.is(await outcomeOf(eraseUser({ userId: ada.userId }, context())), 'OutcomeUnknown');
    left = Infinity;
    t.truthy(await world.users.find(ada.userId));
    await eraseUser({ userId: ada.userId }, context());
    await assertErased(t, world);
  }
});

test('After a crash anywhere later access is refused at once, and the reaction finishes', async (t) => {
  // Project, user, two sessions, membership; then the address.
  for (const appends of [2, 3, 4, 5]) {
    let left = Infinity;
    const world = await givenAda((store) => ({
      ...store,
      append: (stream, expected, newEvents) => {
        if (left === 0) return Promise.reject(new OutcomeUnknown('gone'));
        left -= 1;
        return store.append(stream, expected, newEvents);
      },
    }));
    left = appends;
    const { ada, context, eraseUser, finishErasure, users } = world;
    t.is(await outcomeOf(eraseUser({ userId: ada.userId }, context())), 'OutcomeUnknown');
    left = Infinity;
    t.is(await users.access(ada.userId), null, 'no session of hers passes');
    await finishErasure({ userId: ada.userId }, context());
    await assertErased(t, world);
    const before = await world.events();
    await finishErasure({ userId: ada.userId }, context());
    t.deepEqual(await world.events(), before);
  }
});

test('After a crash right after the account was erased its key is destroyed by the reaction', async (t) => {
  const world = await givenAda();
  const { ada, context, stores, projects, finishErasure } = world;
  const crashing = makeEraseUser({
    handler: stores.handler,
    projects,
    finishErasure: () => Promise.reject(new OutcomeUnknown('gone')),
  });
  t.is(await outcomeOf(crashing({ userId: ada.userId }, context())), 'OutcomeUnknown');
  // Somebody takes the address before the erasure is finished
  const again = await world.signUp('ada@example.com');
  await finishErasure({ userId: ada.userId }, context());
  const opened = await openAll(world, ada.userId);
  t.true(opened.length === 5 && opened.every((value) => value === erased));
  t.is((await world.findAccount(stores.digests.email('ada@example.com')))?.userId, again.userId);
});

test('Of a user who is not erased nothing is finished', async (t) => {
  const { ada, context, events, finishErasure } = await givenAda();
  const before = await events();
  await finishErasure({ userId: ada.userId }, context());
  t.deepEqual(await events(), before);
});

test('What an erased user still has under way is refused', async (t) => {
  const world = await givenAda();
  const { ada, context, eraseUser, stores } = world;
  await world.requestEmailChange({ userId: ada.userId, email: 'ada@example.net' }, context());
  await eraseUser({ userId: ada.userId }, context());
  stores.clock.advance(60_000);
  const { userId } = ada;
  t.is(
    await outcomeOf(world.requestEmailChange({ userId, email: 'ada@example.net' }, context())),
    'user_not_found',
  );
  t.is(await outcomeOf(world.confirmEmailChange({ userId, code: '123456' }, context())), 'user_not_found');
  t.is(await outcomeOf(world.changeProfile({ userId, nickname: 'Countess' }, context())), 'user_not_found');
  t.is(await outcomeOf(world.enrolTotp({ userId }, context())), 'user_not_found');
  t.is((await stores.handler.load(userAggregate, userId)).state.status, 'erased');
  const session = await stores.handler.load(sessionAggregate, ada.sessionId);
  t.like(session.state, { status: 'revoked', reason: 'user_erased' });
});

test('a registration that is repeated after its account was erased is refused, and brings nobody back', async (t) => {
  const { stores, register, finishErasure, context, events } = await given();
  const input = { email: 'ada@example.com', ...profile };
  const repeated = context();
  const { user } = await register(input, repeated);
  // While the key is still there, as after a crash before it is destroyed, and without it.
  await stores.handler.handle({ aggregate: userAggregate, id: user.id }, { type: 'Erase' }, context());
  t.is(await outcomeOf(register(input, repeated)), 'email_taken');
  await finishErasure({ userId: user.id }, context());
  const before = (await events()).length;
  t.is(await outcomeOf(register(input, repeated)), 'email_taken');
  t.is((await events()).length, before);
});
