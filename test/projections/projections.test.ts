import test from 'ava';
import { projections } from '../../projections/index.js';
import { peerNodesProjection } from '../../projections/nodes/peer-nodes/projection.js';
import { type ProjectDocument, projectsProjection } from '../../projections/projects/projects/projection.js';
import { sessionsProjection } from '../../projections/accounts/sessions/projection.js';
import { sharesProjection } from '../../projections/shares/shares/projection.js';
import {
  type StorageDocument,
  storageConfigsProjection,
} from '../../projections/storages/storage-configs/projection.js';
import { describeFailure } from '../../src/areas/storages/domain/delivery/test-failure.js';
import { type UserDocument, usersProjection } from '../../projections/accounts/users/projection.js';
import {
  assetId,
  digest,
  orderId,
  otherTestId,
  otherUserId,
  projectId,
  storageId,
  userId,
} from '../support/examples/ids.js';
import {
  description,
  nodeChanged,
  nodeModeChanged,
  nodeRegistered,
  nodeRemoved,
  nodeStatusChanged,
} from '../support/examples/node.js';
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
import { createdTerms, freeTerms, shareCreated, shareRevoked, shareUsed } from '../support/examples/share.js';
import {
  activated,
  candidateStarted,
  candidateSucceeded,
  changedTo,
  configuration,
  otherBucket,
  storageCreated,
  storageDeleted,
  storageDisabled,
  testFailed,
  testStarted,
} from '../support/examples/storage.js';
import {
  capacityBytes,
  capacityGranted,
  operatorGranted,
  operatorRevoked,
  register,
  registrationAbandoned,
  totpConfirmed,
  totpEnrolled,
  userRegistered,
} from '../support/examples/user.js';
import { eventTime, firstEventAt, recordEvents } from '../support/given/given-events.js';
import { accessId, shareId } from '../support/examples/ids.js';
import { shareAccessAggregate } from '../../src/areas/shares/domain/share-access/share-access.js';
import type { ShareAccessEvent } from '../../src/areas/shares/domain/share-access/events.js';
import { shareDownloadsTally, shareViewsTally } from '../../projections/shares/share-accesses/projection.js';
import { givenProjection } from '../support/given/given-projection.js';

const created = { created_at: firstEventAt, updated_at: firstEventAt };

const user: UserDocument = {
  email: register.email,
  nickname: register.nickname,
  email_verified: false,
  two_factor_enabled: false,
  totp_at: null,
  recovery_codes: 0,
  passkeys: [],
  capacity: [],
  email_digest: digest,
  epoch: 0,
  kept_session_id: null,
  platform_roles: [],
  banned: false,
  ...created,
};

test('A registration creates the document of the user', (t) => {
  givenProjection(usersProjection, userRegistered).then(t, user);
});

test('An abandoned registration leaves no document', (t) => {
  givenProjection(usersProjection, registrationAbandoned).then(t, null);
});

test('The view of users keeps capacity per source, and the last grant of a source counts', (t) => {
  const larger = { ...capacityGranted, data: { source: 'registration', bytes: 2 * capacityBytes } } as const;
  const bought = { type: 'CapacityGranted', data: { source: orderId, bytes: 5 } } as const;
  givenProjection(usersProjection, userRegistered, capacityGranted, bought, larger).then(t, {
    ...user,
    capacity: [bought.data, larger.data],
    updated_at: eventTime(3),
  });
});

test('The view of users shows granted platform roles until they are revoked', (t) => {
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

test('A user is shown with the second factor from its confirmation until it is removed or voided', (t) => {
  const on = { ...user, two_factor_enabled: true, totp_at: eventTime(2) };
  const enrolled = [userRegistered, totpEnrolled] as const;
  givenProjection(usersProjection, ...enrolled).then(t, { ...user, updated_at: eventTime(1) });
  givenProjection(usersProjection, ...enrolled, totpConfirmed).then(t, { ...on, updated_at: eventTime(2) });
  givenProjection(usersProjection, ...enrolled, totpConfirmed, {
    type: 'TotpRemoved',
    data: { recovery_codes: 'end' },
  }).then(t, {
    ...user,
    updated_at: eventTime(3),
  });
  givenProjection(usersProjection, ...enrolled, totpConfirmed, {
    type: 'CredentialsVoided',
    data: {},
  }).then(t, { ...user, epoch: 1, updated_at: eventTime(3) });
});

test('A session is in the view until it is revoked, without its refresh token', (t) => {
  givenProjection(sessionsProjection, sessionStarted).then(t, {
    user_id: userId,
    epoch: 0,
    amr: ['pwd'],
    auth_time: '2026-01-02T03:04:05.000Z',
    email_code_at: null,
    strengthened_at: null,
    passkey_at: null,
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
  accent_color: null,
  open_shares: false,
  billed_to: userId,
  owner_ids: [userId],
  members: [{ user_id: userId, role: 'owner', joined_at: firstEventAt }],
  invitations: [],
  offers: [],
  entitlements: [],
  api_keys: [],
  default_storage_id: null,
  ...created,
};

test('A new project has its owner as member', (t) => {
  givenProjection(projectsProjection, projectCreated).then(t, project);
});

test('The view of projects shows added members', (t) => {
  givenProjection(projectsProjection, projectCreated, viewerAdded).then(t, {
    ...project,
    members: [...project.members, { user_id: otherUserId, role: 'viewer', joined_at: eventTime(1) }],
    updated_at: eventTime(1),
  });
});

test('Invitations are in the view until they end, each with its role', (t) => {
  const invited = memberInvited('viewer');
  const entry = {
    id: invitationId,
    email: sealedExample('bob@example.com'),
    email_digest: digest,
    role: 'viewer',
    invited_by: userId,
    invited_at: eventTime(1),
    role_at: eventTime(3),
  } as const;
  const roleChanged = {
    type: 'InvitationRoleChanged',
    data: { invitation_id: invitationId, role: 'editor', changed_by: userId },
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

test('The view of projects shows changed roles, and no removed members', (t) => {
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

test('API keys are in the view until they are revoked, by digest only', (t) => {
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

test('A deleted project is not in the view', (t) => {
  const deleted = { type: 'ProjectDeleted', data: {} } as const;
  givenProjection(projectsProjection, projectCreated, viewerAdded, deleted).then(t, null);
});

test('The view of projects keeps entitlements per source', (t) => {
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

test('The default storage is a fact of the project', (t) => {
  givenProjection(projectsProjection, projectCreated, defaultStorageChanged).then(t, {
    ...project,
    default_storage_id: storageId,
    updated_at: eventTime(1),
  });
});

const storage: StorageDocument = {
  project_id: projectId,
  ...configuration,
  delivery: 'origin',
  cdn_token: null,
  status: 'pending',
  test: null,
  warnings: [],
  last_test_at: null,
  last_error: '',
  has_credentials: true,
  ...created,
};

test('A storage is pending in the view, and its credentials stay in the log', (t) => {
  givenProjection(storageConfigsProjection, storageCreated).then(t, storage);
});

test('A storage is shown with the result of its last test, until it is deleted', (t) => {
  givenProjection(storageConfigsProjection, ...activated).then(t, {
    ...{ ...storage, status: 'active', last_test_at: eventTime(2), updated_at: eventTime(2) },
  });
  givenProjection(storageConfigsProjection, storageCreated, testStarted, testFailed).then(t, {
    ...{ ...storage, status: 'failed', last_test_at: eventTime(2), updated_at: eventTime(2) },
    last_error: describeFailure(testFailed.data),
  });
  givenProjection(storageConfigsProjection, storageCreated, testStarted, storageDisabled, testFailed).then(
    t,
    { ...storage, status: 'disabled', updated_at: eventTime(2) },
  );
  givenProjection(storageConfigsProjection, ...activated, storageDeleted).then(t, null);
});

test('A candidate changes nothing that is shown until it has passed', (t) => {
  const active = { ...storage, status: 'active', last_test_at: eventTime(2) } as const;
  const tested = { ...active, test: { id: otherTestId, of_candidate: true }, updated_at: eventTime(2) };
  givenProjection(storageConfigsProjection, ...activated, candidateStarted).then(t, tested);
  const passed = [...activated, candidateStarted, changedTo(otherBucket), candidateSucceeded];
  givenProjection(storageConfigsProjection, ...passed).then(t, {
    ...{ ...active, bucket: otherBucket.bucket, last_test_at: eventTime(5), updated_at: eventTime(5) },
  });
});

test('A share is shown with its terms, password and uses until it is revoked', (t) => {
  const { project_id, token, token_digest, created_by } = shareCreated.data;
  const share = {
    ...{ project_id, asset_ids: [assetId], tag: null, token, token_digest, created_by, throttled_at: null },
    ...{ password_required: true, ...createdTerms },
    ...{ password_generation: 1, uses: 0, ...created },
  };
  givenProjection(sharesProjection, shareCreated).then(t, share);
  const terms = { ...freeTerms, max_uses: 5, allow_download: false };
  const password_hash = sealedExample('another hash');
  givenProjection(
    sharesProjection,
    shareCreated,
    shareUsed,
    { type: 'ShareVerificationThrottled', data: { failures: 30 } },
    { type: 'ShareChanged', data: terms },
    { type: 'SharePasswordChanged', data: { password_hash, password_class: 'short' } },
  ).then(t, {
    ...{ ...share, ...terms, password_generation: 2, uses: 1 },
    ...{ throttled_at: eventTime(2), updated_at: eventTime(4) },
  });
  const opened = {
    type: 'SharePasswordChanged',
    data: { password_hash: null, password_class: 'short' },
  } as const;
  givenProjection(sharesProjection, shareCreated, opened).then(t, {
    ...{ ...share, password_required: false, password_generation: 2, updated_at: eventTime(1) },
  });
  givenProjection(sharesProjection, shareCreated, shareRevoked).then(t, null);
});

test('A node is in the view with its last description until it is removed', (t) => {
  const node = {
    ...description,
    ...({ health: 'unknown', mode: 'in_service' } as const),
    ...{ status_changed_at: null, ...created },
  };
  givenProjection(peerNodesProjection, nodeRegistered).then(t, node);
  givenProjection(peerNodesProjection, nodeRegistered, nodeChanged).then(t, {
    ...node,
    lb_weight: 10,
    updated_at: eventTime(1),
  });
  givenProjection(peerNodesProjection, nodeRegistered, nodeChanged, nodeRemoved).then(t, null);
  const healthy = { ...node, health: 'healthy', status_changed_at: eventTime(1) } as const;
  givenProjection(peerNodesProjection, nodeRegistered, nodeStatusChanged).then(t, healthy);
  const draining = {
    ...node,
    mode: 'draining',
    status_changed_at: eventTime(1),
    updated_at: eventTime(1),
  } as const;
  givenProjection(peerNodesProjection, nodeRegistered, nodeModeChanged).then(t, draining);
  givenProjection(peerNodesProjection, nodeRegistered, nodeModeChanged, nodeStatusChanged).then(t, {
    ...draining,
    health: 'healthy',
  });
});

test('Each opening of a share counts once in its total', (t) => {
  const data = { share_id: shareId, project_id: projectId, client_ip_digest: null };
  const [opening] = recordEvents(shareAccessAggregate, accessId, [{ type: 'ShareVerified', data }]);
  if (opening === undefined) throw new Error('no event was recorded');
  const change = shareViewsTally.changeOf(shareAccessAggregate.codec.decode(opening));
  t.deepEqual(change, { total: shareId, bytes: 1 });
});

test('Each download of an asset in an opening counts once, and is no opening', (t) => {
  const opened = { share_id: shareId, project_id: projectId, client_ip_digest: null };
  const saved = { share_id: shareId, asset_id: otherTestId };
  const events: readonly ShareAccessEvent[] = [
    { type: 'ShareVerified', data: opened },
    { type: 'ShareDownloaded', data: saved },
  ];
  const recorded = recordEvents(shareAccessAggregate, accessId, events).map((event) =>
    shareAccessAggregate.codec.decode(event),
  );
  const bytesOf = (tally: typeof shareViewsTally) =>
    recorded.map((event) => {
      const change = tally.changeOf(event);
      return change === null ? null : [change.total, change.bytes];
    });
  t.deepEqual(bytesOf(shareViewsTally), [[shareId, 1], null]);
  t.deepEqual(bytesOf(shareDownloadsTally), [null, [shareId, 1]]);
});

test('Every view has a unique name in the registry', (t) => {
  const names = projections.map(({ name }) => name);
  t.deepEqual([...names].sort(), [
    'assets',
    'orders',
    'payment_transactions',
    'peer_nodes',
    'projects',
    'sessions',
    'share_accesses',
    'shares',
    'storage_configs',
    'users',
  ]);
});
