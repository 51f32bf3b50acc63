import test from 'ava';
import type { ProjectEvent } from '../../../../src/areas/projects/domain/project/events.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { roleAtLeast, roles } from '../../../../src/areas/projects/domain/role.js';
import { apiKeyExpiry } from '../../../../src/areas/projects/domain/project/api-keys.js';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
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
  memberAdded,
  memberId,
  memberInvited,
  projectCreated,
  revokedByOperator,
  viewerAdded,
} from '../../../support/examples/project.js';
import { given } from '../../../support/given/given.js';

const byOperator = { entitlement: 'allow_s3', source: 'operator' } as const;

test('A project is created with its owner', (t) => {
  given(projectAggregate).when({ type: 'Create', name: 'Rivers', ownerId: userId }).then(t, projectCreated);
});

test('A member is added once', (t) => {
  given(projectAggregate, projectCreated).when(addViewer).then(t, viewerAdded);
});

test('A member in another role is not added again', (t) => {
  given(projectAggregate, projectCreated)
    .when({ ...addViewer, userId })
    .thenRejected(t, 'already_member');
});

test('A project has at most 200 members', (t) => {
  const further = Array.from({ length: 199 }, (_, n) => memberAdded(memberId(n), 'viewer'));
  given(projectAggregate, projectCreated, ...further)
    .when(addViewer)
    .thenRejected(t, 'member_limit_reached');
  given(projectAggregate, projectCreated, ...further.slice(1))
    .when(addViewer)
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

test('A source that holds is revoked, and another source changes nothing', (t) => {
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

test('A change records only the values that differ', (t) => {
  const change = { type: 'Change', name: 'Lakes', require_2fa: true } as const;
  const renamed = { type: 'ProjectRenamed', data: { name: 'Lakes' } } as const;
  const required = { type: 'TwoFactorRequirementChanged', data: { require_2fa: true } } as const;
  given(projectAggregate, projectCreated).when(change).then(t, renamed, required);
  given(projectAggregate, projectCreated, renamed).when(change).then(t, required);
  given(projectAggregate, projectCreated, required)
    .when({ ...change, require_2fa: undefined })
    .then(t, renamed);
  given(projectAggregate, projectCreated)
    .when({ type: 'Change', name: undefined, require_2fa: false })
    .thenNothing(t);
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

test('A project that does not exist can only be created', (t) => {
  const nothing = given(projectAggregate);
  nothing.when({ ...addViewer, userId }).thenRejected(t, 'project_not_found');
  nothing.when({ type: 'GrantEntitlement', ...byOperator }).thenRejected(t, 'project_not_found');
  nothing.when({ type: 'RevokeEntitlement', ...byOperator }).thenRejected(t, 'project_not_found');
  nothing.when({ type: 'ChangeDefaultStorage', storageId }).thenRejected(t, 'project_not_found');
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
const deleted: ProjectEvent = { type: 'ProjectDeleted', data: {} };
const keys = (count: number, ends?: string): readonly ProjectEvent[] =>
  Array.from({ length: count }, (_, n) => apiKeyIssued(memberId(n + 100), userId, ends));

test('Only admins and owners issue a key', (t) => {
  given(projectAggregate, projectCreated).when(issue).then(t, apiKeyIssued(apiKeyId, userId));
  given(projectAggregate, projectCreated, memberAdded(otherUserId, 'admin'))
    .when({ ...issue, actorId: otherUserId })
    .then(t, apiKeyIssued(apiKeyId, otherUserId));
  for (const role of ['editor', 'viewer'] as const) {
    given(projectAggregate, projectCreated, memberAdded(otherUserId, role))
      .when({ ...issue, actorId: otherUserId })
      .thenRejected(t, 'insufficient_role');
  }
  given(projectAggregate, projectCreated)
    .when({ ...issue, actorId: otherUserId })
    .thenRejected(t, 'insufficient_role');
  given(projectAggregate, projectCreated, deleted).when(issue).thenRejected(t, 'project_not_found');
});

test('A project has at most 100 valid keys, and a revoked key makes room', (t) => {
  given(projectAggregate, projectCreated, ...keys(100))
    .when(issue)
    .thenRejected(t, 'api_key_limit_reached');
  given(projectAggregate, projectCreated, ...keys(99))
    .when(issue)
    .then(t, apiKeyIssued(apiKeyId, userId));
  given(projectAggregate, projectCreated, ...keys(100), apiKeyRevoked(memberId(100)))
    .when(issue)
    .then(t, apiKeyIssued(apiKeyId, userId));
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

test('A key is revoked once', (t) => {
  const revoke = { type: 'RevokeApiKey', keyId: apiKeyId } as const;
  const { state } = given(projectAggregate, projectCreated, apiKeyIssued(apiKeyId, userId));
  t.deepEqual(projectAggregate.decider.decide(revoke, state), [apiKeyRevoked(apiKeyId)]);
  given(projectAggregate, projectCreated, apiKeyIssued(apiKeyId, userId), apiKeyRevoked(apiKeyId))
    .when(revoke)
    .thenRejected(t, 'api_key_not_found');
  given(projectAggregate, projectCreated).when(revoke).thenRejected(t, 'api_key_not_found');
});

test('A late repetition issues no revoked key again, also after every key of the project was revoked', (t) => {
  const revoked = [apiKeyIssued(apiKeyId, userId), apiKeyRevoked(apiKeyId)];
  const others = keys(100);
  const allRevoked = others.map((_, n) => apiKeyRevoked(memberId(n + 100)));
  given(projectAggregate, projectCreated, ...revoked, ...others, ...allRevoked)
    .when(issue)
    .thenRejected(t, 'api_key_issued_before');
});

test('A key expires after now and within 365 days, to the millisecond', (t) => {
  const year = 365 * 24 * 60 * 60 * 1000;
  const at = (ms: number): string => new Date(now.getTime() + ms).toISOString();
  t.is(apiKeyExpiry(undefined, now), at(year));
  for (const ms of [1, year]) t.is(apiKeyExpiry(at(ms), now), at(ms));
  for (const ms of [0, -1, year + 1]) {
    const error = t.throws(() => apiKeyExpiry(at(ms), now), { instanceOf: CommandRejected });
    t.is(error.code, 'invalid_request', `${ms}`);
    t.regex(error.message, /^expires_at /);
  }
});
