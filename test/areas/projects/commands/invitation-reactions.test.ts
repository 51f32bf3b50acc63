import test from 'ava';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { CommandContext } from '../../../../src/event-sourcing/ports/command-context.js';
import { makeMembers } from '../../../../src/areas/projects/commands/members.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { type AnyReaction, eventFor } from '../../../../src/event-sourcing/effects/reaction.js';
import {
  acceptNewInvitations,
  acceptOpenInvitations,
  makeVerifiedHolder,
} from '../../../../src/areas/projects/commands/invitations.js';
import { sealedSchema } from '../../../../src/event-sourcing/ports/events.js';
import { erased } from '../../../../src/keys/sealing/sealer.js';
import { finishErasures } from '../../../../src/areas/accounts/commands/erasing.js';
import { digest, otherProjectId, projectId, userId } from '../../../support/examples/ids.js';
import { invitationId, memberId } from '../../../support/examples/project.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { client, credentials } from '../../../support/given/given-account.js';
import { givenActing } from '../../../support/given/given-acting.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { simulateInvitations } from '../../../support/simulation/reactions/simulate-invitations.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { appendEvents } from '../../../support/given/append-events.js';
import type { UserEvent } from '../../../../src/areas/accounts/domain/user/events.js';
import { partial } from '../../../support/fakes/partial.js';
import { logOf, serve } from '../../../support/given/log.js';

// These are a few of the histories that `test/deep` runs by the thousand.

test('Invited users become members in every order of invitation and proof of the address', async (t) => {
  const sum = { invited: 0, accepted: 0, crashes: 0 };
  // In the histories of these seeds most is accepted, and a process crashes.
  for (const seed of [9, 10, 12, 15]) {
    const { problem, invited, accepted, crashes } = await simulateInvitations(seed);
    t.is(problem, null, `seed ${seed}`);
    sum.invited += invited;
    sum.accepted += accepted;
    sum.crashes += crashes;
  }
  t.log(JSON.stringify(sum));
  t.true(sum.accepted > 12 && sum.crashes > 0 && sum.invited > sum.accepted);
});

test('Each invitation is accepted by a command with its own id, which a repetition makes again', async (t) => {
  const accepted: [string, CommandContext][] = [];
  const found = [
    { projectId, invitationId },
    { projectId, invitationId: memberId(1) },
    { projectId: otherProjectId, invitationId: memberId(2) },
  ];
  const reaction = acceptOpenInvitations({
    acceptInvitation: (input, context) => {
      accepted.push([input.invitationId, context]);
      return Promise.resolve(null);
    },
    members: partial({ invitationsTo: () => Promise.resolve(found) }),
    projectsShowUpTo: () => true,
  });
  const context = givenContext(1, new Date(0));
  const event = {
    type: 'EmailVerified',
    data: { email_digest: digest },
    id: userId,
    stream: `user-${userId}`,
    revision: 1n,
    metadata: { command_id: '', causation_id: '', correlation_id: '', actor: '', time: '' },
    time: '',
    recordedAt: new Date(0),
    position: '1',
  } as const;
  await reaction.conclude(event, context, undefined);
  await reaction.conclude(event, context, undefined);
  t.is(new Set(accepted.map(([, { commandId }]) => commandId)).size, 3);
  t.deepEqual(accepted.slice(0, 3), accepted.slice(3));
});

const at = new Date('2026-01-02T03:04:05.000Z');

/** Given a project, and an account of bob@example.com whose address is not proved. */
async function givenBob() {
  const stores = await givenStores();
  const world = givenCommands(stores);
  const created = await world.createProject({ ownerId: userId, name: 'Rivers' }, givenContext(1, at));
  const account = { ...credentials, ...client, email: 'bob@example.com' };
  const { user: bob } = await world.register(account, givenContext(2, at));
  const target = { aggregate: userAggregate, id: bob.id };
  const email_digest = stores.digests.email('bob@example.com');
  return {
    ...{ stores, world, bob, target },
    projectId: created.resource.id,
    input: {
      projectId: created.resource.id,
      ...(await givenActing(stores, userId)),
      email: 'bob@example.com',
      role: 'viewer',
    } as const,
    prove: () => stores.handler.handle(target, { type: 'VerifyEmail', email_digest }, givenContext(3, at)),
    roleOfBob: async () => (await world.projects.access(created.resource.id))?.roleOf(bob.id) ?? null,
    /** Runs a reaction over the present log. */
    serve: (reaction: AnyReaction) => serve(stores, reaction),
  };
}

test('An invitation to an address that is proved at the same time is accepted by the reaction to the invitation', async (t) => {
  const { stores, world, input, prove, serve, roleOfBob } = await givenBob();
  const { acceptInvitation, members } = world;
  const acceptOpen = acceptOpenInvitations({ acceptInvitation, members, projectsShowUpTo: () => true });
  const look = makeVerifiedHolder(world);
  // Given an address that is proved, and a reaction to the proof, between the read of its account and the invitation
  const verifiedHolder = async (digestOfAddress: string): Promise<string | null> => {
    const found = await look(digestOfAddress);
    await prove();
    await serve(acceptOpen);
    return found;
  };
  const { addMember } = makeMembers({
    ...{ ...world, ...stores, members, verifiedHolder, mailConfigured: true },
    requireProved: () => Promise.resolve(),
    countNotice: () => Promise.resolve(),
    countInvitation: () => Promise.resolve(),
  });
  const invited = await addMember(input, givenContext(4, at));
  t.is(invited.status, 'invited');
  t.is(await roleOfBob(), null);
  // When the reaction handles the invitation
  await serve(acceptNewInvitations({ acceptInvitation }));
  // Then the user is a member
  t.is(await roleOfBob(), 'viewer');
});

test('A changed role that waits for no consent adds the user also when the process ends before it does so', async (t) => {
  const { stores, world, input, prove, serve, roleOfBob, projectId: id } = await givenBob();
  await prove();
  const { id: memberId } = await world.addMember({ ...input, role: 'owner' }, givenContext(4, at));
  await serve(acceptNewInvitations(world));
  t.is(await roleOfBob(), null, 'an owner must agree');
  // When a process changes the role and ends
  const { changeMemberRole } = makeMembers({
    ...{ ...world, ...stores, verifiedHolder: makeVerifiedHolder(world), mailConfigured: true },
    requireProved: () => Promise.resolve(),
    countNotice: () => Promise.resolve(),
    countInvitation: () => Promise.resolve(),
    acceptInvitation: () => Promise.reject(new StoreUnavailable('the process ends')),
  });
  const change = { ...input, projectId: id, memberId, role: 'editor' } as const;
  await t.throwsAsync(changeMemberRole(change, givenContext(5, at)), { instanceOf: StoreUnavailable });
  // Then the reaction to the change adds the user
  await serve({ ...acceptNewInvitations(world), types: ['InvitationRoleChanged'] });
  t.is(await roleOfBob(), 'editor');
});

test('An invitation to an address that is put back makes its user a member', async (t) => {
  const { stores, world, target, input, prove, serve, roleOfBob } = await givenBob();
  const { acceptInvitation, addMember, members } = world;
  await prove();
  // Given an account that has left its address, and an invitation to that address
  const own = stores.digests.email('bob@example.com');
  const other = stores.digests.email('bob@example.net');
  const revert = { code_key_id: 'c1', until: new Date(at.getTime() + 259_200_000).toISOString() };
  const left = { email_digest: other, previous_email_digest: own, revert };
  const back = { email_digest: own, previous_email_digest: other, email_verified: true };
  const change = { change_id: userId, email: sealedExample('email') };
  const append = (event: UserEvent) => appendEvents(stores.handler, target, [event], at);
  await append({ type: 'EmailChanged', data: { ...change, ...left } });
  t.like(await addMember(input, givenContext(4, at)), { status: 'invited' });
  await serve(acceptNewInvitations({ acceptInvitation }));
  t.is(await roleOfBob(), null);
  // When the address is put back
  await append({ type: 'EmailChangeReverted', data: { ...change, ...back, voided: [], kept_passkeys: [] } });
  const acceptOpen = acceptOpenInvitations({ acceptInvitation, members, projectsShowUpTo: () => true });
  await serve({ ...acceptOpen, types: ['EmailChangeReverted'] });
  // Then the user is a member
  t.is(await roleOfBob(), 'viewer');
});

test('A proof of an address waits until the view contains the earlier invitations', async (t) => {
  const { world, input, prove, serve, roleOfBob } = await givenBob();
  const { acceptInvitation, addMember, members } = world;
  await addMember(input, givenContext(4, at));
  await prove();
  let shown = false;
  const reaction = acceptOpenInvitations({ acceptInvitation, members, projectsShowUpTo: () => shown });
  await serve(reaction);
  t.is(await roleOfBob(), null);
  shown = true;
  await serve(reaction);
  t.is(await roleOfBob(), 'viewer');
});

test('A member who is added during the erasure of the account does not stay', async (t) => {
  const { world, stores, target, input, prove, serve, roleOfBob, bob } = await givenBob();
  const { addMember, removeErasedMembers, createProject, projects } = world;
  await prove();
  await addMember(input, givenContext(4, at));
  const own = await createProject({ ownerId: bob.id, name: 'Own' }, givenContext(5, at));
  await serve(removeErasedMembers);
  t.is(await roleOfBob(), 'viewer');
  // Given an erasure that was decided before it could read these memberships
  await stores.handler.handle(target, { type: 'Erase' }, givenContext(6, at));
  await serve(removeErasedMembers);
  t.is(await roleOfBob(), null);
  t.is(await projects.access(own.resource.id), null);
});

/** Returns what the admins of the project see of invited persons. */
async function invitedOf(
  { world, projectId: id }: Awaited<ReturnType<typeof givenBob>>,
  status: 'invited' | 'offered',
) {
  const project = await world.projects.access(id);
  const view = { withAddresses: true, now: at, filter: { status } };
  const invited = project === null ? [] : await world.members.list(project, { limit: 10 }, view);
  return invited.map(({ email }) => email);
}

test('An erasure ends the open invitations to the proved address, and the address in them opens no more', async (t) => {
  const given = await givenBob();
  const { stores, world, bob, input, prove, serve, projectId: id } = given;
  await prove();
  const { id: invited } = await world.addMember({ ...input, role: 'owner' }, givenContext(4, at));
  const sealed = (await logOf(stores)).find(({ type }) => type === 'MemberInvited')?.data['email'];
  t.deepEqual(await invitedOf(given, 'offered'), ['bob@example.com']);
  // When Bob deletes the account
  await world.eraseUser({ userId: bob.id }, givenContext(5, at));
  await serve(world.forgetEndedInvitations);
  // Then no admin sees the address, and no value of it opens
  t.deepEqual(await invitedOf(given, 'offered'), []);
  const scope = { kind: 'invitation', projectId: id, invitationId: invited } as const;
  t.is(await stores.sealer.open(scope, 'email', sealedSchema.parse(sealed)), erased);
  // And the reaction, which repeats it, changes nothing
  const before = await logOf(stores);
  await world.finishErasure({ userId: bob.id }, givenContext(6, at));
  t.deepEqual(await logOf(stores), before);
});

test('An erasure ends no invitation of after it, and none to an address that the account did not prove', async (t) => {
  const given = await givenBob();
  const { world, bob, input } = given;
  // Given a stranger who registered the address of an invited person
  await world.addMember(input, givenContext(4, at));
  await world.eraseUser({ userId: bob.id }, givenContext(5, at));
  t.deepEqual(await invitedOf(given, 'invited'), ['bob@example.com']);
  // And an invitation of after the erasure, which its process did not finish
  const later = await givenBob();
  await later.prove();
  await later.stores.handler.handle(later.target, { type: 'Erase' }, givenContext(5, at));
  later.stores.clock.advance(1);
  await later.world.addMember({ ...later.input, role: 'owner' }, givenContext(6, at));
  await later.world.finishErasure({ userId: later.bob.id }, givenContext(7, at));
  t.deepEqual(await invitedOf(later, 'offered'), ['bob@example.com']);
});

test('An erasure is finished once the views contain all earlier events', async (t) => {
  const { stores, target } = await givenBob();
  await stores.handler.handle(target, { type: 'Erase' }, givenContext(4, at));
  const last = (await logOf(stores)).at(-1);
  const asks = (shown: boolean) => {
    const reaction: AnyReaction = finishErasures({
      finishErasure: () => Promise.resolve(),
      viewsShow: (position) => shown && position === last?.position,
    });
    const event = last === undefined ? null : eventFor(reaction, last);
    return event === null ? null : reaction.asks(event);
  };
  t.is(await asks(false), 'not-yet');
  t.is(await asks(true), 'yes');
});
