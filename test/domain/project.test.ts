import test from 'ava';
import type { ProjectEvent } from '../../src/domain/project/events.js';
import { projectAggregate } from '../../src/domain/project/project.js';
import { roleAtLeast, roles } from '../../src/domain/role.js';
import { orderId, otherUserId, storageId, userId } from '../support/examples/ids.js';
import {
  defaultStorageChanged,
  grantedByOperator,
  grantedByOrder,
  projectCreated,
  revokedByOperator,
  viewerAdded,
} from '../support/examples/project.js';
import { given } from '../support/given.js';

const byOperator = { entitlement: 'allow_s3', source: 'operator' } as const;

test('A project is created with its owner', (t) => {
  given(projectAggregate).when({ type: 'Create', name: 'Rivers', ownerId: userId }).then(t, projectCreated);
});

test('A member is added once', (t) => {
  given(projectAggregate, projectCreated)
    .when({ type: 'AddMember', actorId: userId, userId: otherUserId, role: 'viewer' })
    .then(t, viewerAdded);
});

test('A member in another role is not added again', (t) => {
  given(projectAggregate, projectCreated)
    .when({ type: 'AddMember', actorId: userId, userId, role: 'viewer' })
    .thenRejected(t, 'already_member');
});

test('A project has at most 200 members', (t) => {
  const added = (index: number): ProjectEvent => ({
    type: 'MemberAdded',
    data: {
      user_id: `019b7d00-0000-7000-8000-${String(index).padStart(12, '0')}`,
      role: 'viewer',
      invitation_id: null,
    },
  });
  const further = Array.from({ length: 199 }, (_, index) => added(index + 1_000));
  given(projectAggregate, projectCreated, ...further)
    .when({ type: 'AddMember', actorId: userId, userId: otherUserId, role: 'viewer' })
    .thenRejected(t, 'member_limit_reached');
  given(projectAggregate, projectCreated, ...further.slice(1))
    .when({ type: 'AddMember', actorId: userId, userId: otherUserId, role: 'viewer' })
    .then(t, viewerAdded);
});

test('An entitlement is granted once per source', (t) => {
  given(projectAggregate, projectCreated)
    .when({ type: 'GrantEntitlement', ...byOperator })
    .then(t, grantedByOperator);
  given(projectAggregate, projectCreated, grantedByOperator)
    .when({ type: 'GrantEntitlement', entitlement: 'allow_s3', source: orderId })
    .then(t, grantedByOrder);
});

test('A source that holds is revoked, another changes nothing', (t) => {
  given(projectAggregate, projectCreated, grantedByOperator)
    .when({ type: 'RevokeEntitlement', ...byOperator })
    .then(t, revokedByOperator);
  given(projectAggregate, projectCreated, grantedByOrder)
    .when({ type: 'RevokeEntitlement', ...byOperator })
    .thenNothing(t);
});

test('The default storage is set once', (t) => {
  given(projectAggregate, projectCreated)
    .when({ type: 'ChangeDefaultStorage', storageId })
    .then(t, defaultStorageChanged);
});

test('Nothing but its creation happens to a project that does not exist', (t) => {
  const nothing = given(projectAggregate);
  nothing
    .when({ type: 'AddMember', actorId: userId, userId, role: 'viewer' })
    .thenRejected(t, 'project_not_found');
  nothing.when({ type: 'GrantEntitlement', ...byOperator }).thenRejected(t, 'project_not_found');
  nothing.when({ type: 'RevokeEntitlement', ...byOperator }).thenRejected(t, 'project_not_found');
  nothing.when({ type: 'ChangeDefaultStorage', storageId }).thenRejected(t, 'project_not_found');
});

test('Each role may do what the ones before it may', (t) => {
  t.deepEqual(roles, ['viewer', 'editor', 'admin', 'owner']);
  roles.forEach((held, heldIndex) => {
    roles.forEach((required, requiredIndex) => {
      t.is(roleAtLeast(held, required), heldIndex >= requiredIndex, `${held} for ${required}`);
    });
  });
});
