import test from 'ava';
import { printCorsRule } from '../../../../src/areas/storages/domain/delivery/cors-rule.js';
import type { StorageEvent } from '../../../../src/areas/storages/domain/storage/events.js';
import { storageAggregate } from '../../../../src/areas/storages/domain/storage/storage.js';
import {
  type TestWarning,
  describeWarning,
} from '../../../../src/areas/storages/domain/delivery/test-failure.js';
import { projectId, testId } from '../../../support/examples/ids.js';
import {
  activated,
  candidateFailed,
  candidateStarted,
  candidateSucceeded,
  changedTo,
  configuration,
  otherBucket,
  storageCreated,
  testFailed,
  testStarted,
} from '../../../support/examples/storage.js';
import { given } from '../../../support/given/given.js';

const app = 'https://app.example.com';
const api = 'https://api.example.com';
const missing = (...origins: string[]): TestWarning => ({ code: 'cors_missing', origins, cause: null });
const unchecked: TestWarning = { code: 'public_endpoint_unchecked', origins: [], cause: 'host_not_found' };

const passedWith = (...warnings: TestWarning[]): readonly StorageEvent[] => [
  storageCreated,
  testStarted,
  { type: 'StorageTestSucceeded', data: { test_id: testId, warnings } },
];

function warningsAfter(...events: readonly StorageEvent[]): readonly TestWarning[] {
  const { state } = given(storageAggregate, ...events);
  if (state.status === 'absent' || state.status === 'deleted') throw new Error('there is no storage');
  return state.warnings;
}

test('A passed test records its warnings, and the storage is active', (t) => {
  given(storageAggregate, storageCreated, testStarted)
    .when({ type: 'FinishTest', testId, result: { failure: null, warnings: [missing(app)] } })
    .then(t, { type: 'StorageTestSucceeded', data: { test_id: testId, warnings: [missing(app)] } });
  t.is(given(storageAggregate, ...passedWith(missing(app))).state.status, 'active');
});

test('Warnings hold until the next result, or until the connection changes', (t) => {
  const warned = passedWith(missing(app));
  t.deepEqual(warningsAfter(...warned, testStarted), [missing(app)]);
  t.deepEqual(warningsAfter(...warned, testStarted, testFailed), []);
  t.deepEqual(warningsAfter(...warned, changedTo({ ...configuration, name: 'Archive' })), [missing(app)]);
  t.deepEqual(warningsAfter(...warned, changedTo(otherBucket)), []);
  // A storage that is enabled again waits for a test, as a new one does.
  const disabled: StorageEvent = { type: 'StorageDisabled', data: {} };
  t.deepEqual(warningsAfter(...warned, disabled), [missing(app)]);
  t.deepEqual(warningsAfter(...warned, disabled, { type: 'StorageEnabled', data: {} }), []);
  // A candidate that fails changes nothing of the storage that serves.
  t.deepEqual(warningsAfter(...warned, candidateStarted, candidateFailed), [missing(app)]);
  t.deepEqual(warningsAfter(...warned, candidateStarted, changedTo(otherBucket), candidateSucceeded), []);
});

const record = (refused: readonly string[], isChanged: boolean) =>
  ({
    ...({ type: 'RecordCors', projectId, connection: configuration } as const),
    ...{ origins: [app, api], refused, isChanged },
  }) as const;
const corsSet = (...refused: string[]): StorageEvent => ({
  type: 'StorageCorsSet',
  data: { origins: [app, api], refused },
});

test('A rule that the bucket took ends the warning, and other warnings stay', (t) => {
  const warned = passedWith(unchecked, missing(app, api));
  given(storageAggregate, ...warned)
    .when(record([], true))
    .then(t, corsSet());
  t.deepEqual(warningsAfter(...warned, corsSet()), [unchecked]);
  t.deepEqual(warningsAfter(...warned, corsSet(api)), [missing(api), unchecked]);
});

test('A bucket that the storage has left ends no warning of the next one', (t) => {
  const warned = passedWith(unchecked);
  const next = [
    ...[...warned, candidateStarted, changedTo(otherBucket)],
    { ...candidateSucceeded, data: { ...candidateSucceeded.data, warnings: [missing(app, api)] } },
  ];
  // The rule was set at the bucket before, and the storage changed meanwhile
  given(storageAggregate, ...next)
    .when(record([], true))
    .then(t);
});

test('The same rule at another bucket appends an event', (t) => {
  // Given a storage that was moved to another bucket while it was disabled
  const moved: readonly StorageEvent[] = [
    ...[...activated, corsSet(), { type: 'StorageDisabled', data: {} } as const],
    ...[changedTo(otherBucket), { type: 'StorageEnabled', data: {} } as const],
  ];
  given(storageAggregate, ...moved)
    .when({ ...record([], true), connection: otherBucket })
    .then(t, corsSet());
});

test('A bucket that had the rule appends an event only if a warning says otherwise', (t) => {
  const active = given(storageAggregate, ...activated);
  const warned = given(storageAggregate, ...passedWith(missing(app)));
  active.when(record([], false)).then(t);
  warned.when(record([], false)).then(t, corsSet());
  warned.when(record([app], false)).then(t);
});

test('A warning names the rule to set, in words and in the form of the provider', (t) => {
  const s3 = describeWarning(missing(app), 's3');
  t.regex(s3.message, /https:\/\/app\.example\.com .* methods GET, HEAD, PUT; .* exposed headers ETag, /);
  t.deepEqual(JSON.parse(s3.rule?.text ?? ''), [
    {
      AllowedOrigins: [app],
      AllowedMethods: ['GET', 'HEAD', 'PUT'],
      AllowedHeaders: ['*'],
      ExposeHeaders: ['ETag', 'Content-Range'],
      MaxAgeSeconds: 3_600,
    },
  ]);
  for (const provider of ['oss', 'cos'] as const) {
    t.is(describeWarning(missing(app), provider).rule?.format, 'xml');
    t.is(
      printCorsRule(provider, [app, 'https://x.example/?a&b<']).text,
      `<CORSConfiguration><CORSRule><AllowedOrigin>${app}</AllowedOrigin>` +
        '<AllowedOrigin>https://x.example/?a&amp;b&lt;</AllowedOrigin><AllowedMethod>GET</AllowedMethod>' +
        '<AllowedMethod>HEAD</AllowedMethod><AllowedMethod>PUT</AllowedMethod><AllowedHeader>*</AllowedHeader>' +
        '<ExposeHeader>ETag</ExposeHeader><ExposeHeader>Content-Range</ExposeHeader>' +
        '<MaxAgeSeconds>3600</MaxAgeSeconds></CORSRule></CORSConfiguration>',
    );
  }
  t.regex(describeWarning(unchecked, 's3').message, /cannot reach the public endpoint \(host_not_found\)/);
  t.is(describeWarning(unchecked, 's3').rule, null);
});
