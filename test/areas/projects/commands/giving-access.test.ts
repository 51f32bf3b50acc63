import test from 'ava';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { StateStore } from '../../../../src/event-sourcing/ports/state-store.js';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import {
  type ExistingProject,
  projectAggregate,
  type ProjectCommand,
} from '../../../../src/areas/projects/domain/project/project.js';
import { type UserCommand, userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { digest, otherUserId, userId } from '../../../support/examples/ids.js';
import { memberId, offerId } from '../../../support/examples/project.js';
import { givenActing } from '../../../support/given/given-acting.js';
import { client, credentials, givenNext } from '../../../support/given/given-account.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';

/**
 * Given a project of an owner, with a viewer, another owner, an invitation as owner,
 * and an account that is no member. `beforeAppend` runs before the next append to the project, and `afterAppend` after it;
 * `atCount` when the next limit counts.
 */
async function given(isProved = true, options: { readonly mailConfigured?: boolean } = {}) {
  let beforeAppend = (): Promise<unknown> => Promise.resolve();
  let afterAppend = (): Promise<unknown> => Promise.resolve();
  let atCount = (): Promise<unknown> => Promise.resolve();
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
  const wrapState = (store: StateStore): StateStore => ({
    ...store,
    compareAndSet: async (...change) => {
      const at = atCount;
      atCount = () => Promise.resolve();
      await at();
      return store.compareAndSet(...change);
    },
  });
  const { stores, next, ...world } = await givenNext({ wrap, wrapState }, options);
  const at = stores.clock.now();
  const acting = await givenActing(stores, userId, { isProved });
  const register = async (name: string): Promise<string> => {
    const email = `${name}@example.com`;
    const { user } = await world.register({ ...credentials, ...client, email }, next());
    await world.verifyEmail({ email }, next());
    return user.id;
  };
  const viewer = await register('viewer');
  await register('stranger');
  const { resource } = await world.createProject({ ownerId: userId, name: 'Film' }, next());
  const input = { projectId: resource.id, ...acting };
  const target = { aggregate: projectAggregate, id: resource.id };
  const decide = (command: ProjectCommand) => stores.handler.handle(target, command, next());
  const add = { type: 'AddMember', actorId: userId, email_digest: 'ab'.repeat(32), now: at } as const;
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
  await decide({ ...add, userId: viewer, role: 'viewer' });
  const invitationId = memberId(7);
  const { actorId } = input;
  const invitation = {
    invitationId,
    email: await stores.sealer.seal(
      { kind: 'invitation', projectId: resource.id, invitationId },
      'email',
      'a@example.com',
    ),
    email_digest: digest,
    role: 'owner',
  } as const;
  await decide({ type: 'InviteMember', actorId, ...invitation, now: at });
  return {
    ...{ world, input, next, viewer, invitationId },
    end: (command: UserCommand) =>
      stores.handler.handle({ aggregate: userAggregate, id: userId }, command, next()),
    /** Ends the sessions of the owner at the next count of a limit, or append to the project, and revokes the API keys where `revokes` says so. */
    endAt: (moment: 'count' | 'before' | 'after', command: UserCommand, { revokes = false } = {}) => {
      const end = async (): Promise<void> => {
        const { handler } = stores.anotherProcess();
        await handler.handle({ aggregate: userAggregate, id: userId }, command, next());
        if (!revokes) return;
        for (const keyId of (await access()).keys)
          await handler.handle(target, { type: 'RevokeApiKey', keyId }, next());
      };
      if (moment === 'count') atCount = end;
      else if (moment === 'before') beforeAppend = end;
      else afterAppend = end;
    },
    access,
  };

  async function access() {
    const { state } = await stores.anotherProcess().handler.load(projectAggregate, resource.id);
    if (state.status !== 'existing') throw new Error('the project exists');
    return accessOf(state);
  }
}

type Scene = Awaited<ReturnType<typeof given>>;

function accessOf({ members, invitations, offers, api_keys }: ExistingProject) {
  return {
    members: members.map(({ user_id, role }) => `${user_id} ${role}`),
    invitations: invitations.map(({ id, role }) => `${id} ${role}`),
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
  'another role of an invitation': ({ world, input, next, invitationId }) =>
    world.changeMemberRole({ ...input, memberId: invitationId, role: 'admin' }, next()),
  'an offer to own and to pay': ({ world, input, next, viewer }) =>
    world.offerBilling({ ...input, userId: viewer }, next()),
  'a higher role': ({ world, input, next, viewer }) =>
    world.changeMemberRole({ ...input, memberId: viewer, role: 'admin' }, next()),
  'an offer of ownership': ({ world, input, next, viewer }) =>
    world.changeMemberRole({ ...input, memberId: viewer, role: 'owner' }, next()),
  'an offer of the billing': ({ world, input, next }) =>
    world.offerBilling({ ...input, userId: otherUserId }, next()),
  'an API key': ({ world, input, next }) =>
    world.issueApiKey({ ...input, name: 'k', scopes: ['asset:read'] }, next()),
};

const endings: Readonly<Record<string, UserCommand>> = {
  'a ban': { type: 'Ban' },
  'a sign-out everywhere': { type: 'RevokeSessions' },
  'an erasure': { type: 'Erase' },
};

for (const [what, give] of Object.entries(givings)) {
  test(`A session that has ended gives nothing: ${what}`, async (t) => {
    for (const [how, command] of Object.entries(endings)) {
      const scene = await given();
      const before = await scene.access();
      await scene.end(command);
      t.is(await outcomeOf(give(scene)), 'session_ended', how);
      t.deepEqual(await scene.access(), before, how);
    }
  });

  test(`A session that ends while the limits count gives nothing: ${what}`, async (t) => {
    // Nothing counts API keys, and an offer to an account without an address mails nothing.
    if (['an API key', 'an offer of the billing'].includes(what)) return t.pass();
    const scene = await given();
    const before = await scene.access();
    scene.endAt('count', { type: 'Ban' });
    t.is(await outcomeOf(give(scene)), 'session_ended');
    t.deepEqual(await scene.access(), before);
    return undefined;
  });

  test(`An account without a proved address gives nothing where mail is configured: ${what}`, async (t) => {
    const scene = await given(false);
    const before = await scene.access();
    const error = await t.throwsAsync(give(scene), {
      instanceOf: CommandRejected,
      message: /to POST \/auth\/email\/verify;/,
    });
    t.is(error.code, 'email_not_verified');
    t.deepEqual(await scene.access(), before);
    const withoutMail = await given(false, { mailConfigured: false });
    if (what !== 'an invitation') await t.notThrowsAsync(give(withoutMail));
    const proved = await given();
    await give(proved);
    t.notDeepEqual(await proved.access(), before);
  });
}

test('An API key is revoked whose actor has ended before or after the append', async (t) => {
  for (const [how, command] of Object.entries(endings)) {
    for (const moment of ['before', 'after'] as const) {
      const scene = await given();
      const before = await scene.access();
      scene.endAt(moment, command);
      const issued = outcomeOf(Promise.resolve(givings['an API key']?.(scene)));
      t.is(await issued, 'session_ended', `${how} ${moment}`);
      t.deepEqual(await scene.access(), before, `${how} ${moment}`);
    }
  }
});

test('An API key that was revoked with the end of its actor is not revoked again, and the answer is the same', async (t) => {
  const scene = await given();
  const before = await scene.access();
  scene.endAt('after', { type: 'RevokeSessions' }, { revokes: true });
  t.is(await outcomeOf(Promise.resolve(givings['an API key']?.(scene))), 'session_ended');
  t.deepEqual(await scene.access(), before);
});
