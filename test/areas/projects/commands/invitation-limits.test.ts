import test from 'ava';
import type { Limits } from '../../../../src/config/config.js';
import { TooManyAttempts } from '../../../../src/areas/shared/rejections.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { otherUserId, userId } from '../../../support/examples/ids.js';
import { givenActing, sessionOf } from '../../../support/given/given-acting.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { client, credentials, givenNext } from '../../../support/given/given-account.js';
import { logOf } from '../../../support/given/log.js';

/** Given two projects of one owner, and a third one of another owner. */
async function given(limits: Limits) {
  const { stores, next, ...world } = await givenNext({}, { limits });
  const other = givenCommands(stores.anotherProcess(), { limits });
  const create = async (ownerId: string) => {
    const { resource } = await world.createProject({ ownerId, name: 'Rivers' }, next());
    return { projectId: resource.id, actorId: ownerId, session: sessionOf(ownerId) };
  };
  const inviteBy =
    (process: Pick<typeof world, 'addMember'>) =>
    async (project: Awaited<ReturnType<typeof create>>, email: string, context = next()) =>
      process.addMember({ ...project, email, role: 'viewer' }, context);
  await givenActing(stores, userId);
  await givenActing(stores, otherUserId);
  return {
    ...{ stores, world, next },
    projects: [await create(userId), await create(userId), await create(otherUserId)] as const,
    invite: inviteBy(world),
    inviteElsewhere: inviteBy(other),
    count: async () => (await logOf(stores)).length,
  };
}

const day = { limit: 2, seconds: 86_400 };
/** Half a day restores one invitation. */
const refused = { instanceOf: TooManyAttempts } as const;

test('A project has a limit of invitations a day over all processes, which withdrawals do not restore', async (t) => {
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
  t.is(await count(), before, 'the refused invitation appends nothing');
  t.is((await stores.stateStore.list('data-key/invitation', { limit: 10 })).length, 2, 'no key is made');
  await t.notThrowsAsync(invite(projects[1], 'eve@example.com'));
  stores.clock.advance(43_200_000);
  await t.notThrowsAsync(invite(project, 'eve@example.com'));
});

test('A user has a limit of invitations a day over all projects', async (t) => {
  const { projects, invite } = await given({ invitation_inviter: day });
  await invite(projects[0], 'bob@example.com');
  await invite(projects[1], 'bob@example.com');
  await t.throwsAsync(invite(projects[0], 'eve@example.com'), { ...refused, message: /^you/ });
  await t.notThrowsAsync(invite(projects[2], 'eve@example.com'), 'another user has their own');
});

test('An address has a limit of invitations a day over all inviters and spellings', async (t) => {
  const { projects, invite } = await given({ invitation_address: day });
  await invite(projects[0], 'bob@example.com');
  await invite(projects[1], 'BOB@example.com');
  await t.throwsAsync(invite(projects[2], 'Bob@Example.com'), {
    ...refused,
    message: /^the address has been invited too often/,
  });
  await t.notThrowsAsync(invite(projects[2], 'eve@example.com'));
});

test('A member who is added counts like an invitation; what is refused or repeated does not count', async (t) => {
  const { stores, world, next, projects, invite } = await given({ invitation_project: day });
  const [project] = projects;
  // A repetition sends no mail.
  const context = next();
  const first = await invite(project, 'bob@example.com', context);
  t.deepEqual(await invite(project, 'bob@example.com', context), first);
  // Refused invitations send no mail: an invited address, and a role that the inviter may not add.
  await t.throwsAsync(invite(project, 'bob@example.com'), { message: /invited already/ });
  const stranger = { ...project, actorId: otherUserId };
  await t.throwsAsync(invite(stranger, 'eve@example.com'), { message: /role/ });
  // A user with a proved address is added, which a mail and the reply tell.
  const { user } = await world.register({ ...credentials, ...client, email: 'joe@example.com' }, next());
  const target = { aggregate: userAggregate, id: user.id };
  const email_digest = stores.digests.email('joe@example.com');
  await stores.handler.handle(target, { type: 'VerifyEmail', email_digest }, next());
  const adding = next();
  t.like(await invite(project, 'joe@example.com', adding), { status: 'active' });
  t.like(await invite(project, 'joe@example.com', adding), { status: 'active' });
  await t.throwsAsync(invite(project, 'joe@example.com'), { message: /member of the project already/ });
  // None of two is left.
  await t.throwsAsync(invite(project, 'kim@example.com'), refused);
  const { state } = await stores.handler.load(projectAggregate, project.projectId);
  t.is(state.status === 'existing' && state.invitations.length, 1);
});
