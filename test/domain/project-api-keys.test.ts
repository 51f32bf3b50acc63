import test from 'ava';
import type { ProjectEvent } from '../../src/domain/project/events.js';
import { apiKeyExpiry } from '../../src/domain/project/api-keys.js';
import { projectAggregate } from '../../src/domain/project/project.js';
import { CommandRejected } from '../../src/event-sourcing/errors.js';
import { digest, otherUserId, userId } from '../support/examples/ids.js';
import {
  apiKeyId,
  apiKeyIssued,
  apiKeyRevoked,
  memberAdded,
  memberId,
  projectCreated,
} from '../support/examples/project.js';
import { given } from '../support/given.js';

const now = new Date('2026-01-02T03:04:05.000Z');
const expiresAt = new Date('2026-06-01T00:00:00.000Z');
const issue = {
  type: 'IssueApiKey',
  actorId: userId,
  keyId: apiKeyId,
  name: 'Export',
  digest,
  prefix: 'stw_0123',
  lastFour: 'wxyz',
  scopes: ['storage:read'],
  expiresAt,
  now,
} as const;
const deleted: ProjectEvent = { type: 'ProjectDeleted', data: {} };
const keys = (count: number, ends?: string): readonly ProjectEvent[] =>
  Array.from({ length: count }, (_, n) => apiKeyIssued(memberId(n + 100), userId, ends));

test('A key is issued by admins and owners only', (t) => {
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

test('A project has at most 100 living keys; a revoked one makes room', (t) => {
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

test('Expired keys count for nothing from their very millisecond on, and go when the room is needed', (t) => {
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

test('A key ends within 365 days and after now, to the millisecond', (t) => {
  const year = 365 * 24 * 60 * 60 * 1000;
  const at = (ms: number): Date => new Date(now.getTime() + ms);
  t.deepEqual(apiKeyExpiry(undefined, now), at(year));
  for (const ms of [1, year]) t.deepEqual(apiKeyExpiry(at(ms), now), at(ms));
  for (const ms of [0, -1, year + 1]) {
    const error = t.throws(() => apiKeyExpiry(at(ms), now), { instanceOf: CommandRejected });
    t.is(error.code, 'invalid_request', `${ms}`);
    t.regex(error.message, /^expires_at: /);
  }
});
