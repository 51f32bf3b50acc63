import test from 'ava';
import type { ProjectEvent } from '../../../../src/areas/projects/domain/project/events.js';
import {
  projectAggregate,
  type ProjectCommand,
} from '../../../../src/areas/projects/domain/project/project.js';
import type { Role } from '../../../../src/areas/projects/domain/role.js';
import { otherUserId, userId } from '../../../support/examples/ids.js';
import {
  apiKeyId,
  apiKeyIssued,
  apiKeyRevoked,
  invitationId,
  memberAdded,
  memberId,
  memberInvited,
  memberRemoved,
  offerId,
  projectCreated,
} from '../../../support/examples/project.js';
import { given } from '../../../support/given/given.js';
import { eventTime } from '../../../support/given/given-events.js';

const [member, honest] = [otherUserId, memberId(1)];
/** After all events of a test. */
const until = new Date(Date.parse(eventTime(99)));

/** Takes a role without a giver, as events do that lower one. */
const roleChanged = (id: string, role: Role): ProjectEvent => ({
  type: 'MemberRoleChanged',
  data: { user_id: id, role },
});
const raised = (id: string, role: Role, by: string): ProjectEvent => ({
  type: 'MemberRoleChanged',
  data: { user_id: id, role, given_by: by },
});
const offered = (id: string, by: string): ProjectEvent => ({
  type: 'OwnershipOffered',
  data: { offer_id: offerId, user_id: id, offered_by: by, expires_at: '2026-02-01T00:00:00.000Z' },
});
const billedTo = (id: string): ProjectEvent => ({ type: 'BillingChanged', data: { user_id: id } });
const end = (members: 'stay' | 'end' = 'end', at: Date | null = until): ProjectCommand => ({
  type: 'EndGivenAccess',
  ...{ userId, until: at, members },
});

/** A project of the untrusted account, and a member whom another user added. */
const project = [projectCreated, memberAdded(member, 'viewer')] as const;

test('A role that the account raised falls back to the role before it, and what the higher role allowed ends', (t) => {
  given(
    projectAggregate,
    ...project,
    raised(member, 'editor', userId),
    raised(member, 'admin', userId),
    apiKeyIssued(apiKeyId, member),
    {
      ...memberInvited('viewer'),
      data: { ...memberInvited('viewer').data, invited_by: member },
    } as ProjectEvent,
  )
    .when(end())
    .then(t, roleChanged(member, 'viewer'), apiKeyRevoked(apiKeyId), {
      type: 'InvitationWithdrawn',
      data: { invitation_id: invitationId, reason: 'inviter_lost_right' },
    });
});

test('A raise after the moment, and one by another user, stay, with the raises below them', (t) => {
  given(projectAggregate, ...project, raised(member, 'editor', userId))
    .when(end('end', new Date(eventTime(1))))
    .thenNothing(t);
  given(
    projectAggregate,
    ...project,
    memberAdded(honest, 'owner'),
    raised(member, 'editor', userId),
    raised(member, 'admin', honest),
  )
    .when(end())
    .thenNothing(t);
});

test('A raise above that of another user falls back to the role that this user gave', (t) => {
  given(
    projectAggregate,
    ...project,
    memberAdded(honest, 'owner'),
    raised(member, 'editor', honest),
    raised(member, 'admin', userId),
  )
    .when(end())
    .then(t, roleChanged(member, 'editor'));
});

test('A role that was lowered again does not rise, and falls below the raise where it contains one', (t) => {
  given(projectAggregate, ...project, raised(member, 'admin', userId), roleChanged(member, 'viewer'))
    .when(end())
    .thenNothing(t);
  given(projectAggregate, ...project, raised(member, 'admin', userId), roleChanged(member, 'editor'))
    .when(end())
    .then(t, roleChanged(member, 'viewer'));
});

test('An owner who accepted an offer of the account is no owner any more, and the account pays again', (t) => {
  given(
    projectAggregate,
    ...project,
    offered(member, userId),
    roleChanged(member, 'owner'),
    billedTo(member),
    roleChanged(userId, 'viewer'),
  )
    .when(end())
    .then(t, roleChanged(userId, 'owner'), billedTo(userId), roleChanged(member, 'viewer'));
});

test('An owner by an offer of an account that has left stays, because the project needs an owner', (t) => {
  given(
    projectAggregate,
    ...project,
    offered(member, userId),
    roleChanged(member, 'owner'),
    billedTo(member),
    memberRemoved(userId),
  )
    .when(end())
    .thenNothing(t);
});

test('A role that a removed member raised falls back too', (t) => {
  const added = {
    ...memberAdded(honest, 'owner'),
    data: { user_id: honest, role: 'owner', invitation_id: null, given_by: userId },
  };
  given(projectAggregate, ...project, added as ProjectEvent, raised(member, 'admin', honest))
    .when(end())
    .then(t, memberRemoved(honest), roleChanged(member, 'viewer'));
});

test('A user who is added in a higher role than that of the invitation falls back to the invited role', (t) => {
  const invited = memberInvited('viewer');
  given(
    projectAggregate,
    projectCreated,
    memberAdded(honest, 'owner'),
    { ...invited, data: { ...invited.data, invited_by: honest } } as ProjectEvent,
    {
      type: 'MemberAdded',
      data: { user_id: member, role: 'admin', invitation_id: invitationId, given_by: userId },
    },
  )
    .when(end())
    .then(t, roleChanged(member, 'viewer'));
});

test('A ban lowers no role, and a removed member who is added again has no raise', (t) => {
  given(projectAggregate, ...project, raised(member, 'admin', userId))
    .when(end('stay', null))
    .thenNothing(t);
  given(
    projectAggregate,
    ...project,
    raised(member, 'admin', userId),
    memberRemoved(member),
    memberAdded(member, 'admin'),
  )
    .when(end())
    .thenNothing(t);
});

test('A member has at most three raises, however often the role changes', (t) => {
  const flips = Array.from({ length: 20 }, (_, n) =>
    n % 2 === 0 ? raised(member, 'admin', userId) : roleChanged(member, 'editor'),
  );
  const { state } = given(projectAggregate, ...project, raised(member, 'editor', userId), ...flips);
  t.is(state.status === 'existing' && state.raises.get(member)?.length, 1);
  const { state: highest } = given(
    projectAggregate,
    ...project,
    raised(member, 'editor', userId),
    raised(member, 'admin', userId),
    offered(member, userId),
    roleChanged(member, 'owner'),
  );
  t.deepEqual(highest.status === 'existing' && highest.raises.get(member)?.map(({ from }) => from), [
    'viewer',
    'editor',
    'admin',
  ]);
});
