import test, { type ExecutionContext } from 'ava';
import {
  applyEvent,
  isUnderWay,
  newStorage,
  type StorageFields,
  storageStatus,
} from '../../../../src/areas/storages/domain/storage/fold.js';
import { otherTestId, testId } from '../../../support/examples/ids.js';
import {
  candidateFailed,
  candidateStarted,
  candidateSucceeded,
  changedTo,
  configuration,
  newCredentials,
  otherBucket,
  storageDisabled,
  testFailed,
  testStarted,
  testSucceeded,
} from '../../../support/examples/storage.js';

const tested = { id: testId, of_candidate: false };
const testedBeside = { id: otherTestId, of_candidate: true };
const warnings = [] as const;
const pending: StorageFields = { status: 'pending', test: null, warnings };
const testing: StorageFields = { status: 'testing', test: tested, warnings };
const active: StorageFields = { status: 'active', test: null, warnings };
const failed: StorageFields = { status: 'failed', test: null, warnings };
const disabled: StorageFields = { status: 'disabled', test: null, warnings };
const withCandidate: StorageFields = { status: 'active', test: testedBeside, warnings };
const fields = { pending, testing, active, failed, disabled, withCandidate };

type Happened = Parameters<typeof applyEvent>[2];

const renamed = changedTo({ ...configuration, name: 'Archive' });
const moved = changedTo(otherBucket);
const elsewhere = changedTo({ ...configuration, base_path: 'old' });
const otherDomain = changedTo({ ...configuration, cdn_domain: '' });
const delivered: Happened = { type: 'StorageDeliveryChanged', data: { mode: 'public', token: null } };
const replaced: Happened = {
  type: 'StorageCredentialsReplaced',
  data: { credentials: newCredentials },
};
const enabled: Happened = { type: 'StorageEnabled', data: {} };

/** `given(before, event).then(t, before)`, for a storage of the example's configuration. */
function given(before: StorageFields, event: Happened) {
  return {
    then: (t: ExecutionContext, expected: StorageFields): void => {
      t.deepEqual(applyEvent(before, configuration, event), expected);
    },
  };
}

test('A new storage waits for its first test', (t) => t.deepEqual(newStorage, pending));

test('A test makes every storage testing, and its result makes it active or failed', (t) => {
  for (const before of [pending, active, failed]) given(before, testStarted).then(t, testing);
  given(testing, testSucceeded).then(t, active);
  given(testing, testFailed).then(t, failed);
});

test('The test of a candidate leaves the status as it is until the candidate passes', (t) => {
  given(active, candidateStarted).then(t, withCandidate);
  given(withCandidate, candidateFailed).then(t, active);
  given(withCandidate, candidateSucceeded).then(t, active);
});

test('The result of a test that is not under way changes nothing', (t) => {
  for (const event of [candidateSucceeded, candidateFailed]) given(testing, event).then(t, testing);
  for (const event of [testSucceeded, testFailed]) {
    for (const before of [pending, active, failed, disabled, withCandidate]) {
      given(before, event).then(t, before);
    }
  }
  t.true(isUnderWay(testing, testId));
  t.false(isUnderWay(testing, otherTestId));
  t.false(isUnderWay(active, testId));
});

test('A new name changes the status of no storage', (t) => {
  for (const before of Object.values(fields)) given(before, renamed).then(t, before);
});

test('Another connection and other credentials need a test, unless the storage is disabled', (t) => {
  for (const event of [moved, replaced]) {
    for (const before of [pending, testing, active, failed]) given(before, event).then(t, pending);
    given(disabled, event).then(t, disabled);
  }
});

test('Other paths and another delivery cancel a running test, and leave the result of an ended one', (t) => {
  for (const event of [elsewhere, otherDomain, delivered]) {
    given(testing, event).then(t, pending);
    for (const before of [pending, active, failed, disabled]) given(before, event).then(t, before);
  }
});

test('The test of a candidate goes on while other values change, because its result applies to the tested values', (t) => {
  for (const event of [moved, replaced, elsewhere, otherDomain, delivered]) {
    given(withCandidate, event).then(t, withCandidate);
  }
});

test('A disabled storage has no test, and an enabled one waits for one', (t) => {
  for (const before of Object.values(fields)) {
    given(before, storageDisabled).then(t, disabled);
    given(before, enabled).then(t, pending);
  }
});

test('A storage reaches every status', (t) => {
  t.deepEqual(new Set(Object.values(fields).map(({ status }) => status)), new Set(storageStatus.options));
});
