import test from 'ava';
import type { ProjectEvent } from '../../../../src/areas/projects/domain/project/events.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { roleAtLeast, roles } from '../../../../src/areas/projects/domain/role.js';
import { digest, orderId, otherUserId, storageId, userId } from '../../../support/examples/ids.js';
import {
  addViewer,
  apiKeyId,
  apiKeyIssued,
  apiKeyRevoked,
  defaultStorageChanged,
  grantedByOperator,
  grantedByOrder,
  invitationId,
  memberId,
  memberInvited,
  projectCreated,
  revokedByOperator,
  viewerAdded,
} from '../../../support/examples/project.js';
import { testDecisions } from '../../../support/given/decisions.js';
import { given } from '../../../support/given/given.js';

const byOperator = { entitlement: 'allow_s3', source: 'operator' } as const;
const change = { type: 'Change', name: 'Lakes', require_2fa: true } as const;
const renamed = { type: 'ProjectRenamed', data: { name: 'Lakes' } } as const;
const required = { type: 'TwoFactorRequirementChanged', data: { require_2fa: true } } as const;

testDecisions(projectAggregate, {
  'A project is created with its owner': [
    [[], { type: 'Create', name: 'Rivers', ownerId: userId }, [projectCreated]],
  ],
  'A member is added once': [[[projectCreated], addViewer, [viewerAdded]]],
  'A member in another role is not added again': [
    [[projectCreated], { ...addViewer, userId }, 'already_member'],
  ],
  'An entitlement is granted once per source': [
    [[projectCreated], { type: 'GrantEntitlement', ...byOperator }, [grantedByOperator]],
    [
      [projectCreated, grantedByOperator],
      { type: 'GrantEntitlement', entitlement: 'allow_s3', source: orderId },
      [grantedByOrder],
    ],
  ],
  'A source that holds is revoked, and another source changes nothing': [
    [[projectCreated, grantedByOperator], { type: 'RevokeEntitlement', ...byOperator }, [revokedByOperator]],
    [[projectCreated, grantedByOrder], { type: 'RevokeEntitlement', ...byOperator }, []],
  ],
  'The default storage is set once': [
    [[projectCreated], { type: 'ChangeDefaultStorage', storageId }, [defaultStorageChanged]],
  ],
  'A change records only the values that differ': [
    [[projectCreated], change, [renamed, required]],
    [[projectCreated, renamed], change, [required]],
    [[projectCreated, required], { ...change, require_2fa: undefined }, [renamed]],
    [[projectCreated], { type: 'Change', name: undefined, require_2fa: false }, []],
  ],
});

test('A deleted project stays deleted and keeps the ids of its invitations', (t) => {
  const deleted = { type: 'ProjectDeleted', data: {} } as const;
  given(projectAggregate, projectCreated).when({ type: 'Delete' }).then(t, deleted);
  const after = given(projectAggregate, projectCreated, memberInvited('viewer'), deleted);
  t.deepEqual(after.state, { status: 'deleted', invitationIds: [invitationId] });
  after.when({ type: 'Change', name: 'x', require_2fa: undefined }).thenRejected(t, 'project_not_found');
  after.when({ type: 'GrantEntitlement', ...byOperator }).thenRejected(t, 'project_not_found');
  after.when({ type: 'Create', name: 'Rivers', ownerId: userId }).thenNothing(t);
});

test('A project is deleted with its only member, with or without invitations, and not with several members', (t) => {
  const alone = { type: 'DeleteIfAlone', userId } as const;
  const deleted = { type: 'ProjectDeleted', data: {} } as const;
  given(projectAggregate, projectCreated, memberInvited('viewer')).when(alone).then(t, deleted);
  given(projectAggregate, projectCreated, viewerAdded).when(alone).thenRejected(t, 'project_has_members');
  given(projectAggregate, projectCreated)
    .when({ ...alone, userId: otherUserId })
    .thenRejected(t, 'member_not_found');
});

testDecisions(projectAggregate, {
  'A project that does not exist can only be created': [
    [[], { ...addViewer, userId }, 'project_not_found'],
    [[], { type: 'GrantEntitlement', ...byOperator }, 'project_not_found'],
    [[], { type: 'RevokeEntitlement', ...byOperator }, 'project_not_found'],
    [[], { type: 'ChangeDefaultStorage', storageId }, 'project_not_found'],
  ],
});

test('Each role includes the earlier ones', (t) => {
  t.deepEqual(roles, ['viewer', 'editor', 'admin', 'owner']);
  roles.forEach((held, heldIndex) => {
    roles.forEach((required, requiredIndex) => {
      t.is(roleAtLeast(held, required), heldIndex >= requiredIndex, `${held} for ${required}`);
    });
  });
});

const now = new Date('2026-01-02T03:04:05.000Z');
const issue = {
  type: 'IssueApiKey',
  actorId: userId,
  key: {
    ...{ key_id: apiKeyId, name: 'Export', digest, prefix: 'stw_0123', last_four: 'wxyz' },
    scopes: ['storage:read'],
    expires_at: '2026-06-01T00:00:00.000Z',
  },
  now,
} as const;
const keys = (count: number, ends?: string): readonly ProjectEvent[] =>
  Array.from({ length: count }, (_, n) => apiKeyIssued(memberId(n + 100), userId, ends));

testDecisions(projectAggregate, {
  'A project has at most 100 valid keys, and a revoked key makes room': [
    [[projectCreated, ...keys(100)], issue, 'api_key_limit_reached'],
    [[projectCreated, ...keys(99)], issue, [apiKeyIssued(apiKeyId, userId)]],
    [[projectCreated, ...keys(100), apiKeyRevoked(memberId(100))], issue, [apiKeyIssued(apiKeyId, userId)]],
  ],
});

test('An expired key does not count from the millisecond of its expiry, and is revoked when its place is needed', (t) => {
  const [oldKey] = keys(1, now.toISOString());
  const living = keys(100).slice(1);
  given(projectAggregate, projectCreated, ...(oldKey ? [oldKey] : []), ...living)
    .when(issue)
    .then(t, apiKeyRevoked(memberId(100)), apiKeyIssued(apiKeyId, userId));
  given(projectAggregate, projectCreated, ...(oldKey ? [oldKey] : []), ...living)
    .when({ ...issue, now: new Date(now.getTime() - 1) })
    .thenRejected(t, 'api_key_limit_reached');
  given(projectAggregate, projectCreated, ...(oldKey ? [oldKey] : []), ...living.slice(1))
    .when(issue)
    .then(t, apiKeyIssued(apiKeyId, userId));
});

const revoked = [apiKeyIssued(apiKeyId, userId), apiKeyRevoked(apiKeyId)];
const others = keys(100);
const allRevoked = others.map((_, n) => apiKeyRevoked(memberId(n + 100)));

testDecisions(projectAggregate, {
  'A late repetition issues no revoked key again, also after every key of the project was revoked': [
    [[projectCreated, ...revoked, ...others, ...allRevoked], issue, 'api_key_issued_before'],
  ],
});
