import test from 'ava';
import { projections } from '../../projections/index.js';
import { peerNodesProjection } from '../../projections/peer-nodes/projection.js';
import { type ProjectDocument, projectsProjection } from '../../projections/projects/projection.js';
import { sessionsProjection } from '../../projections/sessions/projection.js';
import { storageConfigsProjection } from '../../projections/storage-configs/projection.js';
import { type UserDocument, usersProjection } from '../../projections/users/projection.js';
import { digest, orderId, otherUserId, projectId, storageId, userId } from '../support/examples/ids.js';
import { description, nodeChanged, nodeRegistered, nodeRemoved } from '../support/examples/node.js';
import {
  apiKeyId,
  apiKeyIssued,
  apiKeyRevoked,
  defaultStorageChanged,
  grantedByOperator,
  grantedByOrder,
  invitationId,
  memberInvited,
  memberRemoved,
  projectCreated,
  revokedByOperator,
  viewerAdded,
} from '../support/examples/project.js';
import { sealedExample } from '../support/examples/sealed.js';
import { sessionRevoked, sessionStarted } from '../support/examples/session.js';
import { configuration, storageCreated } from '../support/examples/storage.js';
import {
  capacityBytes,
  capacityGranted,
  operatorGranted,
  operatorRevoked,
  register,
  registrationAbandoned,
  userRegistered,
} from '../support/examples/user.js';
import { eventTime, firstEventAt } from '../support/given-events.js';
import { givenProjection } from '../support/given-projection.js';

const created = { created_at: firstEventAt, updated_at: firstEventAt };

const user: UserDocument = {
  email: register.email,
  nickname: register.nickname,
  email_verified: false,
  two_factor_enabled: false,
  capacity: [],
  session_epoch: 0,
  kept_session_id: null,
  platform_roles: [],
  ...created,
};

test('users: a registration shows the user', (t) => {
  givenProjection(usersProjection, userRegistered).then(t, user);
});

test('users: an abandoned registration shows nothing', (t) => {
  givenProjection(usersProjection, registrationAbandoned).then(t, null);
});

test('users: capacity is kept per source, the last grant of a source counts', (t) => {
  const larger = { ...capacityGranted, data: { source: 'registration', bytes: 2 * capacityBytes } } as const;
  const bought = { type: 'CapacityGranted', data: { source: orderId, bytes: 5 } } as const;
  givenProjection(usersProjection, userRegistered, capacityGranted, bought, larger).then(t, {
    ...user,
    capacity: [bought.data, larger.data],
    updated_at: eventTime(3),
  });
});

test('users: platform roles come and go', (t) => {
  givenProjection(usersProjection, userRegistered, operatorGranted).then(t, {
    ...user,
    platform_roles: ['operator'],
    updated_at: eventTime(1),
  });
  givenProjection(usersProjection, userRegistered, operatorGranted, operatorRevoked).then(t, {
    ...user,
    updated_at: eventTime(2),
  });
});

test('sessions: a session is shown until it is revoked, and nothing of its refresh token', (t) => {
  givenProjection(sessionsProjection, sessionStarted).then(t, {
    user_id: userId,
    epoch: 0,
    amr: ['pwd'],
    auth_time: '2026-01-02T03:04:05.000Z',
    strengthened_at: null,
    idle_expires_at: '2026-01-16T03:04:05.000Z',
    expires_at: '2026-04-02T03:04:05.000Z',
    user_agent: null,
    last_used_at: firstEventAt,
    created_at: firstEventAt,
  });
  givenProjection(sessionsProjection, sessionStarted, sessionRevoked).then(t, null);
});

const project: ProjectDocument = {
  name: 'Rivers',
  require_2fa: false,
  members: [{ user_id: userId, role: 'owner', joined_at: firstEventAt }],
  invitations: [],
  entitlements: [],
  api_keys: [],
  default_storage_id: null,
  ...created,
};

test('projects: a new project has its owner as member', (t) => {
  givenProjection(projectsProjection, projectCreated).then(t, project);
});

test('projects: members are added', (t) => {
  givenProjection(projectsProjection, projectCreated, viewerAdded).then(t, {
    ...project,
    members: [...project.members, { user_id: otherUserId, role: 'viewer', joined_at: eventTime(1) }],
    updated_at: eventTime(1),
  });
});

test('projects: invitations are shown until they end, each in its role', (t) => {
  const invited = memberInvited('viewer');
  const entry = {
    id: invitationId,
    email: sealedExample('bob@example.com'),
    email_digest: digest,
    role: 'viewer',
    invited_at: eventTime(1),
  } as const;
  const roleChanged = {
    type: 'InvitationRoleChanged',
    data: { invitation_id: invitationId, role: 'editor' },
  } as const;
  const mailed = {
    type: 'InvitationMailed',
    data: { invitation_id: invitationId, outcome: 'accepted' },
  } as const;
  givenProjection(projectsProjection, projectCreated, invited, mailed, roleChanged).then(t, {
    ...project,
    invitations: [{ ...entry, role: 'editor' }],
    updated_at: eventTime(3),
  });
  const withdrawn = { type: 'InvitationWithdrawn', data: { invitation_id: invitationId } } as const;
  givenProjection(projectsProjection, projectCreated, invited, withdrawn).then(t, {
    ...project,
    updated_at: eventTime(2),
  });
  const accepted = {
    type: 'MemberAdded',
    data: { user_id: otherUserId, role: 'viewer', invitation_id: invitationId },
  } as const;
  givenProjection(projectsProjection, projectCreated, invited, accepted).then(t, {
    ...project,
    members: [...project.members, { user_id: otherUserId, role: 'viewer', joined_at: eventTime(2) }],
    updated_at: eventTime(2),
  });
});

test('projects: members change their role and go', (t) => {
  const changed = { type: 'MemberRoleChanged', data: { user_id: otherUserId, role: 'admin' } } as const;
  const member = { user_id: otherUserId, role: 'admin', joined_at: eventTime(1) } as const;
  givenProjection(projectsProjection, projectCreated, viewerAdded, changed).then(t, {
    ...project,
    members: [...project.members, member],
    updated_at: eventTime(2),
  });
  const removed = memberRemoved(otherUserId);
  givenProjection(projectsProjection, projectCreated, viewerAdded, changed, removed).then(t, {
    ...project,
    updated_at: eventTime(3),
  });
});

test('projects: API keys are shown until they are revoked, by digest only', (t) => {
  givenProjection(projectsProjection, projectCreated, apiKeyIssued(apiKeyId, userId)).then(t, {
    ...project,
    api_keys: [
      {
        id: apiKeyId,
        name: 'Export',
        digest,
        prefix: 'stw_0123',
        last_four: 'wxyz',
        scopes: ['storage:read'],
        expires_at: '2026-06-01T00:00:00.000Z',
        issued_by: userId,
        created_at: eventTime(1),
      },
    ],
    updated_at: eventTime(1),
  });
  const events = [projectCreated, apiKeyIssued(apiKeyId, userId), apiKeyRevoked(apiKeyId)] as const;
  givenProjection(projectsProjection, ...events).then(t, { ...project, updated_at: eventTime(2) });
});

test('projects: a deleted project is shown no more', (t) => {
  const deleted = { type: 'ProjectDeleted', data: {} } as const;
  givenProjection(projectsProjection, projectCreated, viewerAdded, deleted).then(t, null);
});

test('projects: entitlements are kept per source', (t) => {
  const events = [projectCreated, grantedByOperator, grantedByOrder, revokedByOperator] as const;
  givenProjection(projectsProjection, ...events.slice(0, 3)).then(t, {
    ...project,
    entitlements: [grantedByOperator.data, grantedByOrder.data],
    updated_at: eventTime(2),
  });
  givenProjection(projectsProjection, ...events).then(t, {
    ...project,
    entitlements: [grantedByOrder.data],
    updated_at: eventTime(3),
  });
});

test('projects: the default storage is a fact of the project', (t) => {
  givenProjection(projectsProjection, projectCreated, defaultStorageChanged).then(t, {
    ...project,
    default_storage_id: storageId,
    updated_at: eventTime(1),
  });
});

test('storage_configs: a storage is pending, and its credentials stay in the log', (t) => {
  givenProjection(storageConfigsProjection, storageCreated).then(t, {
    project_id: projectId,
    ...configuration,
    delivery: 'origin',
    status: 'pending',
    test: null,
    last_test_at: null,
    last_error: '',
    has_credentials: true,
    ...created,
  });
});

test('peer_nodes: a node is shown as it was last described, until it is removed', (t) => {
  const node = { ...description, status: 'unknown', status_changed_at: null, ...created } as const;
  givenProjection(peerNodesProjection, nodeRegistered).then(t, node);
  givenProjection(peerNodesProjection, nodeRegistered, nodeChanged).then(t, {
    ...node,
    lb_weight: 10,
    updated_at: eventTime(1),
  });
  givenProjection(peerNodesProjection, nodeRegistered, nodeChanged, nodeRemoved).then(t, null);
});

test('Every view is registered under a name of its own', (t) => {
  const names = projections.map(({ name }) => name);
  t.deepEqual([...names].sort(), [
    'assets',
    'orders',
    'payment_callbacks',
    'peer_nodes',
    'projects',
    'sessions',
    'share_accesses',
    'shares',
    'storage_configs',
    'users',
  ]);
});
