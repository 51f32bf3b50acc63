import test from 'ava';
import type { StorageEvent } from '../../../../src/areas/storages/domain/storage/events.js';
import {
  describeFailure,
  testFailureCodes,
} from '../../../../src/areas/storages/domain/delivery/test-failure.js';
import { storageAggregate } from '../../../../src/areas/storages/domain/storage/storage.js';
import { change_id, otherProjectId, otherTestId, projectId, testId } from '../../../support/examples/ids.js';
import {
  activated,
  candidate,
  candidateFailed,
  candidateStarted,
  candidateSucceeded,
  changedTo,
  configuration,
  credentials,
  newCredentials,
  otherBucket,
  storageCreated,
  storageDeleted,
  storageDisabled,
  testFailed,
  testStarted,
  testSucceeded,
} from '../../../support/examples/storage.js';
import { given } from '../../../support/given/given.js';

const create = {
  type: 'Create',
  projectId,
  configuration,
  credentials: { version: 1, sealed: credentials },
} as const;
const startTest = { type: 'StartTest', projectId, testId } as const;
const success = { failure: null, warnings: [] } as const;
const mismatch = { failure: { code: 'signature_mismatch', hint: null }, warnings: [] } as const;
const passed = { type: 'FinishTest', testId, result: success } as const;
const refused = { type: 'FinishTest', testId, result: mismatch } as const;
const replace = {
  type: 'ReplaceCredentials',
  projectId,
  credentials: newCredentials,
  testId: otherTestId,
} as const;
const moveBucket = { type: 'Change', projectId, change: () => otherBucket, testId: otherTestId } as const;
const renamed = { ...configuration, name: 'Archive', base_path: 'old' };
const rename = { type: 'Change', projectId, change: () => renamed, testId: otherTestId } as const;

const changing = given(storageAggregate, ...activated, candidateStarted);
const disabled = given(storageAggregate, ...activated, storageDisabled);
const active = given(storageAggregate, ...activated);
const testing = given(storageAggregate, storageCreated, testStarted);
const pending = given(storageAggregate, storageCreated);

type Started = Extract<StorageEvent, { type: 'StorageTestStarted' }>;
const startedWith = (of: Started['data']['candidate']): Started => ({
  type: 'StorageTestStarted',
  data: { test_id: otherTestId, candidate: of },
});
const finish = { type: 'FinishTest', testId: otherTestId, result: success } as const;
const replaced: StorageEvent = {
  type: 'StorageCredentialsReplaced',
  data: { credentials: newCredentials },
};

function statusAfter(...events: readonly StorageEvent[]): string {
  return given(storageAggregate, ...events).state.status;
}

test('A storage is created with its configuration and sealed credentials, and is pending', (t) => {
  given(storageAggregate).when(create).then(t, storageCreated);
  t.is(statusAfter(storageCreated), 'pending');
});

test('Unsealed credentials cannot be stored', (t) => {
  const clear = { ...storageCreated, data: { ...storageCreated.data, credentials: { access_key: 'AKIA' } } };
  // @ts-expect-error -- the types forbid unsealed credentials too
  t.throws(() => storageAggregate.codec.encode(clear), { name: 'UndecodableEvent' });
});

test('A test makes a storage active or failed', (t) => {
  pending.when(startTest).then(t, testStarted);
  t.is(statusAfter(storageCreated, testStarted), 'testing');
  testing.when(passed).then(t, testSucceeded);
  t.is(statusAfter(...activated), 'active');
  testing.when(refused).then(t, testFailed);
  t.is(statusAfter(storageCreated, testStarted, testFailed), 'failed');
});

test('One test runs at a time', (t) => {
  testing.when({ type: 'StartTest', projectId, testId: otherTestId }).thenRejected(t, 'storage_test_running');
});

test('A result counts only for the configuration that it tested', (t) => {
  const moved = changedTo(otherBucket);
  const changed = given(storageAggregate, storageCreated, testStarted, moved);
  t.is(changed.state.status, 'pending');
  changed.when(passed).thenNothing(t);
  changed.when(refused).thenNothing(t);
  given(storageAggregate, storageCreated, testStarted, storageDisabled).when(passed).thenNothing(t);
  given(storageAggregate, storageCreated, testStarted, storageDeleted).when(passed).thenNothing(t);
  active.when(refused).thenNothing(t);
  // A test writes below the base path and reads through the domain.
  const other: readonly StorageEvent[] = [
    changedTo({ ...configuration, base_path: 'old' }),
    changedTo({ ...configuration, cdn_domain: '' }),
    { type: 'StorageDeliveryChanged', data: { mode: 'public', token: null } },
  ];
  for (const event of other) {
    given(storageAggregate, storageCreated, testStarted, event).when(passed).thenNothing(t);
  }
  const archive = changedTo({ ...configuration, name: 'Archive' });
  given(storageAggregate, storageCreated, testStarted, archive).when(passed).then(t, testSucceeded);
  // A second test follows the change.
  const followed = given(storageAggregate, storageCreated, testStarted, moved, startedWith(null));
  followed.when(passed).thenNothing(t);
  followed.when(refused).thenNothing(t);
  followed.when({ ...passed, testId: otherTestId }).then(t, candidateSucceeded);
});

test('A storage that is not active changes at once and is pending again', (t) => {
  const untested = given(storageAggregate, storageCreated, testStarted, testFailed);
  untested.when(moveBucket).then(t, changedTo(otherBucket));
  untested.when(replace).then(t, replaced);
  t.is(statusAfter(storageCreated, testStarted, testFailed, changedTo(otherBucket)), 'pending');
});

test('The name and the paths of an active storage change at once, and it stays active', (t) => {
  active.when(rename).then(t, changedTo(renamed));
  t.is(statusAfter(...activated, changedTo(renamed)), 'active');
});

test('Another connection of an active storage is tested first, and the present one stays in use', (t) => {
  active.when(moveBucket).then(t, candidateStarted);
  t.like(changing.state, { status: 'active', configuration });
});

test('A candidate that passes replaces the configuration, and one that fails changes nothing', (t) => {
  changing.when(finish).then(t, changedTo(otherBucket), candidateSucceeded);
  const moved = [...activated, candidateStarted, changedTo(otherBucket), candidateSucceeded];
  const taken = given(storageAggregate, ...moved);
  t.like(taken.state, { status: 'active', configuration: otherBucket });
  changing
    .when({ ...finish, result: { failure: { code: 'bucket_not_found', hint: null }, warnings: [] } })
    .then(t, candidateFailed);
  const kept = given(storageAggregate, ...activated, candidateStarted, candidateFailed);
  t.like(kept.state, { status: 'active', configuration });
});

test('Changes that come with a connection take effect together with it, or not at all', (t) => {
  const wanted = { ...otherBucket, name: 'Archive', base_path: 'old' };
  const started = startedWith({ ...candidate, name: 'Archive', base_path: 'old' });
  active.when({ ...moveBucket, change: () => wanted }).then(t, started);
  const tested = given(storageAggregate, ...activated, started);
  t.like(tested.state, { status: 'active', configuration });
  tested.when(finish).then(t, changedTo(wanted), candidateSucceeded);
  t.like(given(storageAggregate, ...activated, started, candidateFailed).state, { configuration });
  // A value that another change has set meanwhile stays, where the candidate does not change it.
  const cdn = changedTo({ ...configuration, cdn_domain: 'media.example.com' });
  given(storageAggregate, ...activated, started, cdn)
    .when(finish)
    .then(t, changedTo({ ...wanted, cdn_domain: 'media.example.com' }), candidateSucceeded);
});

test('A value that is changed during the test of a candidate is later than the value of the candidate', (t) => {
  const started = startedWith({ ...candidate, name: 'First', base_path: 'first' });
  const later = { name: 'Second', base_path: 'second' };
  given(storageAggregate, ...activated, started, changedTo({ ...configuration, ...later }))
    .when(finish)
    .then(t, changedTo({ ...otherBucket, ...later }), candidateSucceeded);
});

test('New credentials of an active storage replace the old ones only after a successful test', (t) => {
  const { endpoint, public_endpoint, bucket, region } = configuration;
  const started = startedWith({ endpoint, public_endpoint, bucket, region, credentials: newCredentials });
  active.when(replace).then(t, started);
  given(storageAggregate, ...activated, started)
    .when(finish)
    .then(t, replaced, candidateSucceeded);
  // The version of a failed candidate is never used again.
  const dropped = given(storageAggregate, ...activated, started, candidateFailed);
  t.like(dropped.state, { credentials: { version: 1 }, credentialsVersionMax: 2 });
});

test('A storage has at most one candidate', (t) => {
  changing.when({ ...replace, testId }).thenRejected(t, 'storage_test_running');
  changing
    .when({ type: 'Change', projectId, change: () => ({ ...configuration, bucket: 'seas-media' }), testId })
    .thenRejected(t, 'storage_test_running');
  changing.when(startTest).thenRejected(t, 'storage_test_running');
});

test('A storage is disabled from every state, and pending after it is enabled', (t) => {
  for (const events of [[storageCreated], [storageCreated, testStarted], activated]) {
    given(storageAggregate, ...events)
      .when({ type: 'Disable', projectId })
      .then(t, storageDisabled);
  }
  disabled.when(startTest).thenRejected(t, 'storage_disabled');
  disabled.when({ type: 'Enable', projectId }).then(t, { type: 'StorageEnabled', data: {} });
  t.is(statusAfter(...activated, storageDisabled, { type: 'StorageEnabled', data: {} }), 'pending');
});

test('A deleted storage is not found', (t) => {
  active.when({ type: 'Delete', projectId }).thenEnds(t, 'storage_not_found', storageDeleted);
  const deleted = given(storageAggregate, ...activated, storageDeleted);
  deleted.when(startTest).thenRejected(t, 'storage_not_found');
  deleted.when(rename).thenRejected(t, 'storage_not_found');
});

test('The service deletes an orphaned storage, and a repetition decides nothing', (t) => {
  active.when({ type: 'DeleteOrphaned' }).then(t, storageDeleted);
});

test('A storage does not exist for another project, before any other rejection', (t) => {
  // Given a storage that rejects most changes, for a test of it is under way
  for (const command of [
    { type: 'Disable' },
    { type: 'Enable' },
    { type: 'Delete' },
    { type: 'ChangeDelivery', mode: 'public', token: null },
    { ...startTest, testId: change_id },
    { ...replace, testId: change_id },
    { ...moveBucket, testId: change_id },
  ] as const) {
    changing.when({ ...command, projectId: otherProjectId }).thenRejected(t, 'storage_not_found');
  }
});

test('The delivery mode has a default by provider and can be changed', (t) => {
  t.like(pending.state, { delivery: 'origin' });
  pending
    .when({ type: 'ChangeDelivery', projectId, mode: 'public', token: null })
    .then(t, { type: 'StorageDeliveryChanged', data: { mode: 'public', token: null } });
});

test('Every failure has a code and advice, and no text of the provider', (t) => {
  const texts = testFailureCodes.map((code) => describeFailure({ code, hint: null }));
  t.is(new Set(texts).size, texts.length);
  t.is(
    describeFailure({ code: 'region_wrong', hint: 'eu-west-1' }),
    'region_wrong: The bucket is in another region. (eu-west-1)',
  );
});
