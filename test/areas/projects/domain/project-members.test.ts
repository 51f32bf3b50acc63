import test from 'ava';
import fc from 'fast-check';
import type { ProjectEvent } from '../../../../src/areas/projects/domain/project/events.js';
import {
  type ExistingProject,
  projectAggregate,
  type ProjectCommand,
  type ProjectState,
} from '../../../../src/areas/projects/domain/project/project.js';
import { roleIn } from '../../../../src/areas/projects/domain/project/fold.js';
import { type Role, roles } from '../../../../src/areas/projects/domain/role.js';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import { digest, otherDigest, otherUserId, userId } from '../../../support/examples/ids.js';
import {
  addViewer,
  apiKeyId,
  apiKeyIssued,
  apiKeyRevoked,
  invitationId,
  memberAdded,
  memberId,
  memberInvited,
  memberRemoved,
  offerId,
  offering,
  projectCreated,
} from '../../../support/examples/project.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { testDecisions } from '../../../support/given/decisions.js';
import { given } from '../../../support/given/given.js';

const actorId = memberId(1);
const targetId = memberId(2);
const invite = {
  type: 'InviteMember',
  actorId: userId,
  invitationId,
  email: sealedExample('bob@example.com'),
  email_digest: digest,
  role: 'editor',
  now: offering.now,
} as const;
const roleChanged = (id: string, role: Role): ProjectEvent => ({
  type: 'MemberRoleChanged',
  data: { user_id: id, role },
});
const withdrawn: ProjectEvent = { type: 'InvitationWithdrawn', data: { invitation_id: invitationId } };
const billingChanged = (id: string): ProjectEvent => ({ type: 'BillingChanged', data: { user_id: id } });
const deleted: ProjectEvent = { type: 'ProjectDeleted', data: {} };
const accept = { type: 'AcceptInvitation', invitationId, userId: otherUserId } as const;

/** The roles that each role may add, change and remove: docs/projects.md#projects-and-roles. */
const reach: Readonly<Record<Role, readonly Role[]>> = {
  owner: ['viewer', 'editor', 'admin', 'owner'],
  admin: ['viewer', 'editor'],
  editor: [],
  viewer: [],
};

test('Owners manage all roles, admins manage editors and viewers, and the others manage no role, in every command', (t) => {
  for (const acting of roles) {
    for (const target of roles) {
      const allowed = reach[acting].includes(target);
      const events = [projectCreated, memberAdded(actorId, acting), memberAdded(targetId, target)];
      const outcomeOf = (command: ProjectCommand, ...more: readonly ProjectEvent[]): string => {
        const { state } = given(projectAggregate, ...events, ...more);
        try {
          projectAggregate.decider.decide(command, state);
          return 'allowed';
        } catch (error) {
          if (error instanceof CommandRejected) return String(error.code);
          throw error;
        }
      };
      const expected = allowed ? 'allowed' : 'insufficient_role';
      const said = `${acting} and ${target}`;
      t.is(outcomeOf({ ...invite, actorId, role: target }), expected, said);
      if (target !== 'owner') {
        const add = { type: 'AddMember', actorId, userId: otherUserId, now: offering.now } as const;
        t.is(outcomeOf({ ...add, email_digest: otherDigest, role: target }), expected, said);
      }
      t.is(outcomeOf({ type: 'RemoveMember', actorId, memberId: targetId }), expected, said);
      const invited = memberInvited(target);
      t.is(outcomeOf({ type: 'RemoveMember', actorId, memberId: invitationId }, invited), expected, said);
      for (const role of roles) {
        const both = allowed && reach[acting].includes(role) ? 'allowed' : 'insufficient_role';
        const change = { type: 'ChangeMemberRole', actorId, role, ...offering } as const;
        t.is(outcomeOf({ ...change, memberId: targetId }), both, `${said} as ${role}`);
        t.is(outcomeOf({ ...change, memberId: invitationId }, invited), both, `${said} as ${role}, invited`);
      }
    }
  }
});

test('The refusal of a command on a member names the role that the command needs', (t) => {
  const messageOf = (acting: Role, target: Role): string => {
    const events = [projectCreated, memberAdded(actorId, acting), memberAdded(targetId, target)];
    const remove = { type: 'RemoveMember', actorId, memberId: targetId } as const;
    const refusal = t.throws(
      () => projectAggregate.decider.decide(remove, given(projectAggregate, ...events).state),
      { instanceOf: CommandRejected },
    );
    return refusal.message;
  };
  t.is(messageOf('viewer', 'viewer'), 'this needs the role admin');
  t.is(messageOf('admin', 'admin'), 'this needs the role owner');
  t.is(messageOf('admin', 'owner'), 'this needs the role owner');
});

const stranger = { actorId: otherUserId } as const;

testDecisions(projectAggregate, {
  'A stranger manages no member': [
    [[projectCreated, memberAdded(targetId, 'viewer')], { ...invite, ...stranger }, 'insufficient_role'],
    [
      [projectCreated, memberAdded(targetId, 'viewer')],
      { type: 'RemoveMember', ...stranger, memberId: targetId },
      'insufficient_role',
    ],
    [
      [projectCreated, memberAdded(targetId, 'viewer')],
      { type: 'RemoveMember', ...stranger, memberId: otherUserId },
      'member_not_found',
    ],
  ],
});

test('An owner who leaves while the owner is added again is no member', (t) => {
  const add = { ...addViewer, userId: otherUserId, role: 'owner' } as const;
  given(projectAggregate, projectCreated, memberAdded(otherUserId, 'owner')).when(add).thenNothing(t);
  given(projectAggregate, projectCreated).when(add).thenRejected(t, 'member_not_found');
});

test('A member who manages no role does not learn which ids are members', (t) => {
  const project = given(projectAggregate, projectCreated, memberAdded(actorId, 'editor'));
  for (const memberIdTried of [userId, otherUserId, invitationId]) {
    project
      .when({ type: 'RemoveMember', actorId, memberId: memberIdTried })
      .thenRejected(t, 'insufficient_role');
  }
  given(projectAggregate, projectCreated)
    .when({ type: 'RemoveMember', actorId: userId, memberId: otherUserId })
    .thenRejected(t, 'member_not_found');
});

test('Every member may leave, except the last owner', (t) => {
  for (const role of roles) {
    const events = [projectCreated, memberAdded(actorId, role)];
    const decided = projectAggregate.decider.decide(
      { type: 'RemoveMember', actorId, memberId: actorId },
      given(projectAggregate, ...events).state,
    );
    t.deepEqual(decided, [memberRemoved(actorId)], role);
  }
  const leave = { type: 'RemoveMember', actorId: userId, memberId: userId } as const;
  given(projectAggregate, projectCreated).when(leave).thenRejected(t, 'last_owner');
  given(projectAggregate, projectCreated, memberAdded(actorId, 'admin'))
    .when(leave)
    .thenRejected(t, 'last_owner');
});

const twoOwners = [projectCreated, memberAdded(actorId, 'owner')];
const demote = {
  type: 'ChangeMemberRole',
  actorId,
  memberId: userId,
  role: 'editor',
  ...offering,
} as const;

testDecisions(projectAggregate, {
  'The last owner cannot be removed or demoted, and one of two owners can': [
    [[...twoOwners, billingChanged(actorId)], demote, [roleChanged(userId, 'editor')]],
    [[...twoOwners, memberRemoved(actorId)], { ...demote, actorId: userId }, 'last_owner'],
    [
      [...twoOwners, roleChanged(userId, 'admin')],
      { type: 'RemoveMember', actorId, memberId: actorId },
      'last_owner',
    ],
  ],
});

const ownersOf = ({ members }: ExistingProject): readonly string[] =>
  members.filter(({ role }) => role === 'owner').map(({ user_id }) => user_id);

/** Whether there is an owner, every new owner and payer agreed, and who pays is an owner or was erased. */
function isConsented(command: ProjectCommand, before: ExistingProject, after: ExistingProject): boolean {
  const owners = ownersOf(after);
  const consents = command.type === 'AnswerOffer' ? command.userId : null;
  const tookIt = command.type === 'OfferBilling' && command.actorId === command.userId;
  const mayPay = [before.billed_to, consents, tookIt ? command.userId : null];
  const wasErased = roleIn(after, after.billed_to) === null && after.billed_to === before.billed_to;
  return (
    owners.length > 0 &&
    owners.every((id) => ownersOf(before).includes(id) || id === consents) &&
    mayPay.includes(after.billed_to) &&
    (owners.includes(after.billed_to) || wasErased)
  );
}

function decidedOrNone(command: ProjectCommand, state: ProjectState): readonly ProjectEvent[] {
  try {
    return projectAggregate.decider.decide(command, state);
  } catch (error) {
    if (error instanceof CommandRejected) return [];
    throw error;
  }
}

test('A project has an owner who pays after any series of commands, and no member owns or pays without consent', (t) => {
  const member = fc.nat({ max: 1 }).map((n) => memberId(n));
  const role = fc.constantFrom(...roles);
  const offer = fc.integer({ min: 0, max: 1 }).map((n) => memberId(100 + n));
  const actor = fc.oneof({ weight: 2, arbitrary: fc.constant(memberId(0)) }, member);
  const now = fc.constant(offering.now);
  const add = fc.record({
    ...{ type: fc.constant('AddMember' as const), actorId: actor, userId: member },
    ...{ role: fc.constantFrom('viewer' as const, 'admin' as const), email_digest: fc.constant(digest), now },
  });
  const change = fc.record({
    ...{ type: fc.constant('ChangeMemberRole' as const), actorId: actor, memberId: member },
    ...{ role: fc.oneof({ weight: 2, arbitrary: fc.constant('owner' as const) }, role), offerId: offer, now },
  });
  const bill = fc.record({
    ...{ type: fc.constant('OfferBilling' as const), actorId: actor, userId: member, offerId: offer, now },
  });
  const answer = fc.record({
    ...{ type: fc.constant('AnswerOffer' as const), userId: member, offerId: offer },
    ...{ accepts: fc.constantFrom(true, true, true, false), now },
  });
  const remove = fc.record({ type: fc.constant('RemoveMember' as const), actorId: member, memberId: member });
  const erase = fc.record({ type: fc.constant('RemoveErasedMember' as const), userId: member });
  const command: fc.Arbitrary<ProjectCommand> = fc.oneof(
    ...[add, change, bill].map((arbitrary) => ({ weight: 6, arbitrary })),
    { weight: 12, arbitrary: answer },
    ...[remove, erase].map((arbitrary) => ({ weight: 1, arbitrary })),
  );
  const reached = new Set<string>();
  fc.assert(
    fc.property(fc.array(command, { minLength: 30, maxLength: 80 }), (commands) => {
      const created = { ...projectCreated, data: { ...projectCreated.data, owner_id: memberId(0) } };
      const erased = new Set<string>();
      let project = given(projectAggregate, created);
      for (const one of commands) {
        // An erased account is not added again.
        if (one.type === 'AddMember' && erased.has(one.userId)) continue;
        if (one.type === 'RemoveErasedMember') erased.add(one.userId);
        const { state } = project;
        project = project.and(...decidedOrNone(one, state));
        const after = project.state;
        if (state.status !== 'existing' || after.status !== 'existing') continue;
        if (!isConsented(one, state, after)) return false;
        if (ownersOf(after).length > ownersOf(state).length) reached.add('accepted');
        if (after.billed_to !== state.billed_to) reached.add('billed');
      }
      return true;
    }),
    { seed: 7, numRuns: 400 },
  );
  t.true(reached.has('accepted') && reached.has('billed'), [...reached].join());
});

const other = { ...invite, invitationId: apiKeyId };
const members = Array.from({ length: 198 }, (_, n) => memberAdded(memberId(n + 10), 'viewer'));
const full = [projectCreated, ...members, memberInvited('viewer')];

testDecisions(projectAggregate, {
  'An address has at most one open invitation': [
    [[projectCreated], invite, [memberInvited('editor')]],
    [[projectCreated, memberInvited('viewer')], other, 'already_member'],
    [[projectCreated, memberInvited('viewer'), withdrawn], other, [memberInvited('editor', apiKeyId)]],
    [
      [projectCreated, memberInvited('viewer')],
      { ...other, email_digest: otherDigest },
      [memberInvited('editor', apiKeyId, otherDigest)],
    ],
  ],
  'An invitation counts as a member, and its acceptance takes no further place': [
    [full, { ...invite, invitationId: apiKeyId, email_digest: otherDigest }, 'member_limit_reached'],
    [full, addViewer, 'member_limit_reached'],
    [
      full,
      accept,
      [
        {
          type: 'MemberAdded',
          data: { user_id: otherUserId, role: 'viewer', invitation_id: invitationId },
        },
      ],
    ],
    [[...full, withdrawn], { ...invite, invitationId: apiKeyId }, [memberInvited('editor', apiKeyId)]],
  ],
});

test('An invitation changes its role, is withdrawn, is mailed once, and is accepted in its current role', (t) => {
  const changed: ProjectEvent = {
    type: 'InvitationRoleChanged',
    data: { invitation_id: invitationId, role: 'admin', changed_by: userId },
  };
  const mailed: ProjectEvent = {
    type: 'InvitationMailed',
    data: { invitation_id: invitationId, outcome: 'accepted' },
  };
  const invited = [projectCreated, memberInvited('viewer')];
  given(projectAggregate, ...invited)
    .when({ type: 'ChangeMemberRole', actorId: userId, memberId: invitationId, role: 'admin', ...offering })
    .then(t, changed);
  given(projectAggregate, ...invited)
    .when({ type: 'MarkInvitationMailed', invitationId, outcome: 'accepted' })
    .then(t, mailed);
  given(projectAggregate, ...invited, mailed, changed)
    .when(accept)
    .then(t, {
      type: 'MemberAdded',
      data: { user_id: otherUserId, role: 'admin', invitation_id: invitationId, given_by: userId },
    });
  t.deepEqual(
    projectAggregate.decider.decide(
      { type: 'RemoveMember', actorId: userId, memberId: invitationId },
      given(projectAggregate, ...invited).state,
    ),
    [withdrawn],
  );
});

const lowered = (role: Role, by = userId): ProjectEvent => ({
  type: 'InvitationRoleChanged',
  data: { invitation_id: invitationId, role, changed_by: by },
});
const joined = { user_id: otherUserId, role: 'editor' as const, invitation_id: invitationId };
const asOwner = [projectCreated, memberInvited('owner')];
const invited = [projectCreated, memberInvited('viewer')];
const repetition = { ...invite, invitationId };

testDecisions(projectAggregate, {
  'A user who joins by an invitation with another role than its mail said gets a mail about the giver of the role':
    [
      [
        [...asOwner, lowered('admin'), lowered('editor')],
        accept,
        [{ type: 'MemberAdded', data: { ...joined, given_by: userId } }],
      ],

      // An invitation that an owner has raised and lowered again asked for no consent in between
      [[...asOwner, lowered('admin'), lowered('owner')], accept, []],
      [
        [projectCreated, memberInvited('viewer'), lowered('editor')],
        accept,
        [{ type: 'MemberAdded', data: { ...joined, given_by: userId } }],
      ],
    ],
  'A late repetition makes no invitation again that has ended': [
    [invited, repetition, []],
    [[...invited, withdrawn], repetition, 'member_not_found'],
  ],
});

test('An ended invitation is neither accepted nor mailed, nor is one of a deleted project', (t) => {
  const invited = [projectCreated, memberInvited('viewer')];
  for (const end of [withdrawn, deleted]) {
    const ended = given(projectAggregate, ...invited, end);
    ended.when(accept).thenNothing(t);
    ended.when({ type: 'MarkInvitationMailed', invitationId, outcome: 'accepted' }).thenNothing(t);
  }
});

const add = {
  type: 'AddMember',
  actorId: userId,
  userId: otherUserId,
  email_digest: digest,
  now: offering.now,
} as const;
const added: ProjectEvent = {
  type: 'MemberAdded',
  data: { user_id: otherUserId, role: 'editor', invitation_id: invitationId, given_by: userId },
};

testDecisions(projectAggregate, {
  "Adding a member accepts the open invitation to the member's address, so it adds the member only once": [
    [full, { ...add, role: 'editor' }, [added]],
    [[...full, added, memberRemoved(otherUserId)], accept, []],

    // An admin does not manage the role that the invitation offers.
    [
      [projectCreated, memberAdded(actorId, 'admin'), memberInvited('owner')],
      { ...add, actorId, role: 'viewer' },
      'insufficient_role',
    ],
  ],
  'A member who accepts an invitation keeps the earlier role, and the invitation ends': [
    [[projectCreated, memberAdded(otherUserId, 'admin'), memberInvited('viewer')], accept, [withdrawn]],
  ],
});

test('A member who leaves or is no longer an admin loses exactly the keys that the member issued', (t) => {
  const otherKeyId = invitationId;
  const events = [
    projectCreated,
    memberAdded(actorId, 'admin'),
    apiKeyIssued(apiKeyId, actorId),
    apiKeyIssued(otherKeyId, userId),
  ];
  const state = given(projectAggregate, ...events).state;
  t.deepEqual(
    projectAggregate.decider.decide({ type: 'RemoveMember', actorId: userId, memberId: actorId }, state),
    [memberRemoved(actorId), apiKeyRevoked(apiKeyId)],
  );
  t.deepEqual(projectAggregate.decider.decide({ type: 'RemoveErasedMember', userId: actorId }, state), [
    { type: 'MemberRemoved', data: { user_id: actorId, erased: true } },
    apiKeyRevoked(apiKeyId),
  ]);
  const change = { type: 'ChangeMemberRole', actorId: userId, memberId: actorId, ...offering } as const;
  given(projectAggregate, ...events)
    .when({ ...change, role: 'editor' })
    .then(t, roleChanged(actorId, 'editor'), apiKeyRevoked(apiKeyId));
  given(projectAggregate, ...events)
    .when({ ...change, role: 'owner' })
    .then(t, {
      type: 'OfferMade',
      data: {
        offer_id: offerId,
        kind: 'owner',
        user_id: actorId,
        offered_by: userId,
        expires_at: '2026-02-01T03:10:00.000Z',
      },
    });
});

test('A project ends with the erasure of its last owner, because no member owns it without consent', (t) => {
  const erase = { type: 'RemoveErasedMember', userId } as const;
  given(projectAggregate, projectCreated).when(erase).then(t, deleted);
  given(projectAggregate, projectCreated, memberInvited('admin')).when(erase).then(t, deleted);
  given(
    projectAggregate,
    projectCreated,
    memberAdded(memberId(1), 'viewer'),
    memberAdded(memberId(2), 'admin'),
  )
    .when(erase)
    .then(t, deleted);
  const twoOwners = [projectCreated, memberAdded(memberId(1), 'owner')];
  const gone: ProjectEvent = { type: 'MemberRemoved', data: { user_id: userId, erased: true } };
  given(projectAggregate, ...twoOwners)
    .when(erase)
    .then(t, gone);
  // The other owner has not agreed to pay.
  const { state } = given(
    projectAggregate,
    ...twoOwners,
    gone,
    memberAdded(memberId(2), 'viewer'),
    roleChanged(memberId(2), 'admin'),
  );
  t.is(state.status === 'existing' && state.billed_to, userId);
  given(projectAggregate, projectCreated)
    .when({ ...erase, userId: otherUserId })
    .thenNothing(t);
  given(projectAggregate, projectCreated, deleted).when(erase).thenNothing(t);
});
