import test from 'ava';
import type { Limits } from '../../src/config.js';
import type { CommandContext } from '../../src/event-sourcing/command-handler.js';
import { TooManyAttempts } from '../../src/commands/rejections.js';
import { projectAggregate } from '../../src/domain/project/project.js';
import { userAggregate } from '../../src/domain/user/user.js';
import { otherUserId, userId } from '../support/examples/ids.js';
import { givenCommands } from '../support/given-commands.js';
import { givenContext, givenStores } from '../support/given-stores.js';

/** Two projects of one owner, and a third of another one. */
async function given(limits: Limits) {
  const stores = await givenStores();
  const world = givenCommands(stores, { limits });
  const other = givenCommands(stores.anotherProcess(), { limits });
  let commands = 0;
  const next = (): CommandContext => givenContext((commands += 1), stores.clock.now());
  const create = async (ownerId: string) => {
    const { resource } = await world.createProject({ ownerId, name: 'Rivers' }, next());
    return { projectId: resource.id, actorId: ownerId };
  };
  const inviteBy =
    (process: typeof world) =>
    async (project: Awaited<ReturnType<typeof create>>, email: string, context = next()) =>
      process.addMember({ ...project, email, role: 'viewer' }, context);
  return {
    ...{ stores, world, next },
    projects: [await create(userId), await create(userId), await create(otherUserId)] as const,
    invite: inviteBy(world),
    inviteElsewhere: inviteBy(other),
    count: async () => (await stores.eventStore.readAll({ after: null, limit: 500 })).events.length,
  };
}

const day = { limit: 2, seconds: 86_400 };
/** An invitation comes back after half a day. */
const refused = { instanceOf: TooManyAttempts } as const;

test('a project invites so many in a day, whoever withdraws them, in all processes', async (t) => {
  const { stores, world, next, projects, invite, inviteElsewhere, count } = await given({
    invitation_project: day,
  });
  const [project] = projects;
  const { id: memberId } = await invite(project, 'bob@example.com');
  await world.removeMember({ ...project, memberId }, next());
  await inviteElsewhere(project, 'bob@example.com');
  const before = await count();
  const error = await t.throwsAsync(invite(project, 'eve@example.com'), {
    ...refused,
    message: /the project/,
  });
  t.is(error.retryAfterSeconds, 43_200);
  t.is(await count(), before, 'nothing is appended');
  t.is((await stores.stateStore.list('data-key/invitation', { limit: 10 })).length, 2, 'nor is a key made');
  await t.notThrowsAsync(invite(projects[1], 'eve@example.com'));
  stores.clock.advance(43_200_000);
  await t.notThrowsAsync(invite(project, 'eve@example.com'));
});

test('a user invites so many in a day, to whatever projects', async (t) => {
  const { projects, invite } = await given({ invitation_inviter: day });
  await invite(projects[0], 'bob@example.com');
  await invite(projects[1], 'bob@example.com');
  await t.throwsAsync(invite(projects[0], 'eve@example.com'), { ...refused, message: /^you/ });
  await t.notThrowsAsync(invite(projects[2], 'eve@example.com'), 'another user has their own');
});

test('an address is invited so often in a day, by whomever, however it is spelled', async (t) => {
  const { projects, invite } = await given({ invitation_address: day });
  await invite(projects[0], 'bob@example.com');
  await invite(projects[1], 'BOB@example.com');
  await t.throwsAsync(invite(projects[2], 'Bob@Example.com'), { ...refused, message: /^email: / });
  await t.notThrowsAsync(invite(projects[2], 'eve@example.com'));
});

test('what mails nothing is not counted', async (t) => {
  const { stores, world, next, projects, invite } = await given({ invitation_project: day });
  const [project] = projects;
  // A repetition
  const context = next();
  const first = await invite(project, 'bob@example.com', context);
  t.deepEqual(await invite(project, 'bob@example.com', context), first);
  // What is refused: an address that is invited, and a role that cannot be reached
  await t.throwsAsync(invite(project, 'bob@example.com'), { message: /invited already/ });
  const stranger = { ...project, actorId: otherUserId };
  await t.throwsAsync(invite(stranger, 'eve@example.com'), { message: /role/ });
  // Whoever has proved the address
  const client = { clientIp: null, userAgent: null };
  const account = { email: 'joe@example.com', password: 'Correct-Horse-7', ...client };
  const { user } = await world.register(account, next());
  const target = { aggregate: userAggregate, id: user.id };
  const emailDigest = stores.digests.email('joe@example.com');
  await stores.handler.handle(target, { type: 'VerifyEmail', emailDigest }, next());
  t.like(await invite(project, 'joe@example.com'), { status: 'active' });
  // One of two is left
  await t.notThrowsAsync(invite(project, 'eve@example.com'));
  await t.throwsAsync(invite(project, 'kim@example.com'), refused);
  const { state } = await stores.handler.load(projectAggregate, project.projectId);
  t.is(state.status === 'existing' && state.invitations.size, 2);
});
