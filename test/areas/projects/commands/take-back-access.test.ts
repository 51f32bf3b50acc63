import test from 'ava';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { CommandContext } from '../../../../src/event-sourcing/ports/command-context.js';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import {
  type ExistingProject,
  projectAggregate,
  type ProjectCommand,
} from '../../../../src/areas/projects/domain/project/project.js';
import { type UserCommand, userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { otherUserId, userId } from '../../../support/examples/ids.js';
import { memberId, offerId } from '../../../support/examples/project.js';
import { givenActing } from '../../../support/given/given-acting.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';

const at = new Date('2026-01-02T03:04:05.000Z');
const client = { clientIp: null, userAgent: null };

/**
 * Given a project of an owner, with a viewer, another owner, an invitation as owner of an account whose address is proved,
 * and an account that is no member. `beforeAppend` runs before the next append to the project, and `afterAppend` after it.
 */
async function given() {
  let beforeAppend = (): Promise<unknown> => Promise.resolve();
  let afterAppend = (): Promise<unknown> => Promise.resolve();
  const wrap = (store: EventStore): EventStore => ({
    ...store,
    append: async (stream, ...rest) => {
      if (!stream.startsWith('project-')) return store.append(stream, ...rest);
      const [before, after] = [beforeAppend, afterAppend];
      beforeAppend = afterAppend = () => Promise.resolve();
      await before();
      const appended = await store.append(stream, ...rest);
      await after();
      return appended;
    },
  });
  const stores = await givenStores({ wrap });
  const world = givenCommands(stores);
  let asked = 0;
  const next = (): CommandContext => givenContext((asked += 1), at);
  const acting = await givenActing(stores, userId);
  const register = async (name: string): Promise<string> => {
    const email = `${name}@example.com`;
    const { user } = await world.register({ email, password: 'Correct-Horse-7', ...client }, next());
    await world.verifyEmail({ email }, next());
    return user.id;
  };
  const viewer = await register('viewer');
  const [invited] = [await register('invited'), await register('stranger')];
  const { resource } = await world.createProject({ ownerId: userId, name: 'Film' }, next());
  const input = { projectId: resource.id, ...acting };
  const target = { aggregate: projectAggregate, id: resource.id };
  const decide = (command: ProjectCommand) => stores.handler.handle(target, command, next());
  const add = { type: 'AddMember', actorId: userId, emailDigest: 'ab'.repeat(32), now: at } as const;
  await decide({ ...add, userId: otherUserId, role: 'admin' });
  const offer = {
    type: 'ChangeMemberRole',
    actorId: userId,
    memberId: otherUserId,
    offerId,
    now: at,
  } as const;
  await decide({ ...offer, role: 'owner' });
  await decide({ type: 'AnswerOffer', userId: otherUserId, offerId, accepts: true, now: at });
  await world.addMember({ ...input, email: 'viewer@example.com', role: 'viewer' }, next());
  const invitation = await world.addMember({ ...input, email: 'invited@example.com', role: 'owner' }, next());
  return {
    ...{ world, input, next, viewer, invited, invitationId: invitation.id },
    /** Ends the sessions of the owner at the next append to the project. */
    endAt: (moment: 'before' | 'after', command: UserCommand) => {
      const end = () =>
        stores.anotherProcess().handler.handle({ aggregate: userAggregate, id: userId }, command, next());
      if (moment === 'before') beforeAppend = end;
      else afterAppend = end;
    },
    access: async () => {
      const { state } = await stores.anotherProcess().handler.load(projectAggregate, resource.id);
      if (state.status !== 'existing') throw new Error('the project exists');
      return accessOf(state);
    },
  };
}

type Scene = Awaited<ReturnType<typeof given>>;

function accessOf({ members, invitations, offers, api_keys }: ExistingProject) {
  return {
    members: members.map(({ user_id, role }) => `${user_id} ${role}`),
    invitations: invitations.map(({ id }) => id),
    ...{ offers: offers.map(({ id }) => id), keys: api_keys.map(({ id }) => id) },
  };
}

/** The commands that give access, by name. */
const givings: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  'the addition of a member': ({ world, input, next }) =>
    world.addMember({ ...input, email: 'stranger@example.com', role: 'admin' }, next()),
  'an invitation': ({ world, input, next }) =>
    world.addMember({ ...input, email: 'guest@example.com', role: 'editor' }, next()),
  'an invitation as owner': ({ world, input, next }) =>
    world.addMember({ ...input, email: 'stranger@example.com', role: 'owner' }, next()),
  'a higher role': ({ world, input, next, viewer }) =>
    world.changeMemberRole({ ...input, memberId: viewer, role: 'admin' }, next()),
  'an offer of ownership': ({ world, input, next, viewer }) =>
    world.changeMemberRole({ ...input, memberId: viewer, role: 'owner' }, next()),
  'an offer of the billing': ({ world, input, next }) =>
    world.offerBilling({ ...input, userId: otherUserId }, next()),
  'an API key': ({ world, input, next }) =>
    world.issueApiKey({ ...input, name: 'k', scopes: ['asset:read'], expiresAt: undefined }, next()),
};

const endings: Readonly<Record<string, UserCommand>> = {
  'a ban': { type: 'Ban' },
  'a sign-out everywhere': { type: 'RevokeSessions' },
  'an erasure': { type: 'Erase' },
};

for (const [what, give] of Object.entries(givings)) {
  test(`The service takes back ${what} whose actor has ended before or after the append`, async (t) => {
    for (const [how, command] of Object.entries(endings)) {
      for (const moment of ['before', 'after'] as const) {
        const scene = await given();
        const before = await scene.access();
        scene.endAt(moment, command);
        const error = await t.throwsAsync(give(scene), { instanceOf: CommandRejected }, `${how} ${moment}`);
        t.is(error.code, 'session_ended');
        t.deepEqual(await scene.access(), before, `${how} ${moment}`);
      }
    }
  });

  test(`${what.charAt(0).toUpperCase()}${what.slice(1)} stays while the session of its actor holds`, async (t) => {
    const scene = await given();
    const before = await scene.access();
    await give(scene);
    t.notDeepEqual(await scene.access(), before);
  });
}

test('The service removes a member whom a lowered invitation added when the actor has ended', async (t) => {
  const scene = await given();
  const { world, input, next, invitationId, invited } = scene;
  const before = await scene.access();
  scene.endAt('after', { type: 'Ban' });
  const lower = world.changeMemberRole({ ...input, memberId: invitationId, role: 'admin' }, next());
  const error = await t.throwsAsync(lower, { instanceOf: CommandRejected });
  t.is(error.code, 'session_ended');
  const after = await scene.access();
  t.deepEqual(after.members, before.members);
  t.false(after.members.some((member) => member.startsWith(invited)));
  t.deepEqual(after.invitations, []);
});

test('The service takes back only what the command gave', async (t) => {
  const scene = await given();
  const { world, input, next } = scene;
  await world.addMember({ ...input, email: 'stranger@example.com', role: 'viewer' }, next());
  const before = await scene.access();
  scene.endAt('before', { type: 'Ban' });
  const invite = world.addMember({ ...input, email: 'guest@example.com', role: 'editor' }, next());
  await t.throwsAsync(invite, { instanceOf: CommandRejected });
  t.deepEqual(await scene.access(), before);
  t.is(before.members.length, 4);
  t.false(before.members.includes(memberId(1)));
});
