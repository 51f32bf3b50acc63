import test from 'ava';
import type { ProjectEvent } from '../../../../src/areas/projects/domain/project/events.js';
import {
  type ExistingProject,
  projectAggregate,
} from '../../../../src/areas/projects/domain/project/project.js';
import { roleIn } from '../../../../src/areas/projects/domain/project/fold.js';
import { invitationOf } from '../../../../src/areas/projects/domain/project/invitations.js';
import { otherUserId, userId } from '../../../support/examples/ids.js';
import {
  grantedByOperator,
  grantedByOrder,
  invitationId,
  memberAdded,
  memberId,
  memberInvited,
  memberRemoved,
  projectCreated,
  revokedByOperator,
} from '../../../support/examples/project.js';
import { given } from '../../../support/given/given.js';

function after(...events: readonly ProjectEvent[]): ExistingProject {
  const { state } = given(projectAggregate, projectCreated, ...events);
  if (state.status !== 'existing') throw new Error('the project exists');
  return state;
}

const mailed: ProjectEvent = {
  type: 'InvitationMailed',
  data: { invitation_id: invitationId, outcome: 'accepted' },
};

test('Members stand in the order in which they joined, with the roles that they have now', (t) => {
  const project = after(
    memberAdded(memberId(1), 'viewer'),
    memberAdded(memberId(2), 'viewer'),
    { type: 'MemberRoleChanged', data: { user_id: memberId(1), role: 'admin' } },
    memberRemoved(memberId(2)),
    memberAdded(memberId(3), 'editor'),
  );
  t.deepEqual(
    project.members.map(({ user_id, role }) => [user_id, role]),
    [
      [userId, 'owner'],
      [memberId(1), 'admin'],
      [memberId(3), 'editor'],
    ],
  );
  t.is(roleIn(project, memberId(1)), 'admin');
  t.is(roleIn(project, otherUserId), null);
});

test('A member who is added again has joined last, in the new role', (t) => {
  const { members } = after(
    memberAdded(memberId(1), 'viewer'),
    memberAdded(memberId(2), 'viewer'),
    memberAdded(memberId(1), 'editor'),
  );
  t.deepEqual(
    members.slice(1).map(({ user_id, role }) => [user_id, role]),
    [
      [memberId(2), 'viewer'],
      [memberId(1), 'editor'],
    ],
  );
});

test('A project is billed to its creator, and to the owner who joined first once the creator is no owner', (t) => {
  const [second, third] = [memberId(2), memberId(3)];
  const joined = [
    memberAdded(memberId(1), 'admin'),
    memberAdded(second, 'owner'),
    memberAdded(third, 'owner'),
  ] as const;
  const left = memberRemoved(userId);
  const demoted: ProjectEvent = { type: 'MemberRoleChanged', data: { user_id: userId, role: 'editor' } };
  t.is(after(...joined).billed_to, userId);
  t.is(after(...joined, memberRemoved(second)).billed_to, userId, 'another owner may leave');
  for (const ended of [left, demoted]) t.is(after(...joined, ended).billed_to, second);
  t.is(after(...joined, left, memberAdded(userId, 'owner')).billed_to, second, 'who comes back does not pay');
  t.is(after(...joined, left, memberRemoved(second)).billed_to, third);
});

test('An invitation is open until it is withdrawn or its member is added', (t) => {
  const added: ProjectEvent = {
    type: 'MemberAdded',
    data: { user_id: otherUserId, role: 'viewer', invitation_id: invitationId },
  };
  const withdrawn: ProjectEvent = { type: 'InvitationWithdrawn', data: { invitation_id: invitationId } };
  const open = after(memberInvited('viewer'), mailed, memberAdded(memberId(1), 'viewer'));
  t.is(invitationOf(open, invitationId)?.role, 'viewer');
  t.deepEqual([...open.mailed], [invitationId]);
  for (const event of [added, withdrawn]) {
    const ended = after(memberInvited('viewer'), mailed, event);
    t.is(invitationOf(ended, invitationId), null);
    t.is(ended.mailed.size, 0, 'nothing of it is kept');
  }
});

test('An entitlement stands once for each source', (t) => {
  const { entitlements } = after(grantedByOperator, grantedByOrder, grantedByOperator);
  t.deepEqual(entitlements, [grantedByOrder.data, grantedByOperator.data]);
  t.deepEqual(after(grantedByOperator, grantedByOrder, revokedByOperator).entitlements, [
    grantedByOrder.data,
  ]);
});
