import { decideBy, defineAggregate, narrowed } from '../../../../event-sourcing/deciding/command-handler.js';
import { isDeepStrictEqual } from 'node:util';
import { type DeliveryMode, checkCdnDomain } from '../delivery/delivery.js';
import {
  otherFields,
  type StorageConfiguration,
  type StorageConnection,
  type StorageEvent,
  storageEvents,
} from './events.js';
import {
  type ExistingStorage,
  evolve,
  isUnderWay,
  sameConnection,
  type StorageCandidate,
  type StorageCredentials,
  type StorageState,
  type StoredCdnToken,
} from './fold.js';
import { rejectStorage, storageNotFound } from './rejections.js';
import type { TestResult } from '../delivery/test-failure.js';
import { checkEach } from '../../../../validation/field-problems.js';
import { withoutFields } from '../../../../validation/fields.js';
import { checkName } from '../../../../validation/text.js';
import {
  type AllowsHttp,
  type EndpointField,
  checkBasePath,
  checkEndpoint,
  checkBucket,
  checkRegion,
} from '../bucket/bucket.js';
import { checkConnection } from '../bucket/connection.js';

export type { ExistingStorage, StorageCredentials, StorageState, StoredCdnToken } from './fold.js';

export type StorageCommand =
  | {
      readonly type: 'Create';
      readonly projectId: string;
      readonly configuration: StorageConfiguration;
      readonly credentials: StorageCredentials;
    }
  | MemberCommand
  | { readonly type: 'FinishTest'; readonly testId: string; readonly result: TestResult }
  /** A reaction deletes the storage of a deleted project. */
  | { readonly type: 'DeleteOrphaned' };

/** The commands of a project's members. */
type MemberCommand = {
  /** The caller's project. */
  readonly projectId: string;
} & (
  | {
      readonly type: 'Change';
      /** Makes the wanted configuration from the present one. @throws CommandRejected */
      readonly change: (present: StorageConfiguration) => StorageConfiguration;
      /** The test that another connection of an active storage must pass first. */
      readonly testId: string;
    }
  /** `credentials.version` is one more than `credentialsVersionMax`. */
  | { readonly type: 'ReplaceCredentials'; readonly credentials: StorageCredentials; readonly testId: string }
  /** `token`: of the mode `token`. Its version is one more than `credentialsVersionMax`. */
  | { readonly type: 'ChangeDelivery'; readonly mode: DeliveryMode; readonly token: StoredCdnToken | null }
  | { readonly type: 'StartTest'; readonly testId: string }
  /**
   * `connection`: of the bucket that was asked. `isChanged`: whether the service changed the rules of the bucket. `refused`: origins
   * that it still refuses.
   */
  | {
      readonly type: 'RecordCors';
      readonly connection: StorageConnection;
      readonly origins: readonly string[];
      readonly refused: readonly string[];
      readonly isChanged: boolean;
    }
  | { readonly type: 'Disable' }
  | { readonly type: 'Enable' }
  | { readonly type: 'Delete' }
);

/** Storages of one project (src/areas/projects/README.md#rules-of-a-project). */
export const storagesMax = 20;

export const firstCredentialsVersion = 1;

const initialState: StorageState = { status: 'absent' };

const forMember = narrowed<MemberCommand, StorageState, ExistingStorage, StorageEvent>(
  {
    Change: change,
    ReplaceCredentials: ({ credentials, testId }, storage) => {
      const known = storage.candidate?.credentials ?? storage.credentials;
      if (isDeepStrictEqual(known, credentials)) return [];
      if (credentials.version <= storage.credentialsVersionMax)
        rejectStorage('storage_credentials_replaced', 'the credentials have been replaced meanwhile');
      if (storage.status !== 'active') return [{ type: 'StorageCredentialsReplaced', data: { credentials } }];
      requireNoTest(storage);
      const { configuration } = storage;
      const candidate = { ...candidateOf(configuration, configuration), credentials };
      return [{ type: 'StorageTestStarted', data: { test_id: testId, candidate } }];
    },
    ChangeDelivery: ({ mode, token }, storage) => {
      // A repetition: no two sealings of keys yield the same text.
      if (storage.delivery === mode && isDeepStrictEqual(storage.cdnToken, token)) return [];
      if (token === null) return [{ type: 'StorageDeliveryChanged', data: { mode, token } }];
      const { scheme, validSeconds: valid_seconds, credentials } = token;
      if (credentials.version <= storage.credentialsVersionMax)
        rejectStorage('storage_credentials_replaced', 'keys of the storage have been replaced meanwhile');
      const recorded = { scheme, valid_seconds, credentials };
      return [{ type: 'StorageDeliveryChanged', data: { mode, token: recorded } }];
    },
    StartTest: (command, storage) => startTest(command.testId, storage),
    /** A bucket that had the rules already, and of which no warning stands, appends nothing, nor does that of another connection. */
    RecordCors: ({ connection, origins, refused, isChanged }, { configuration, warnings, corsSet }) => {
      if (!sameConnection(configuration, connection)) return [];
      const known = warnings.find(({ code }) => code === 'cors_missing')?.origins ?? [];
      const data = { origins: [...origins], refused: [...refused] };
      const isRecorded = !isChanged || isDeepStrictEqual(corsSet, data);
      return isRecorded && isDeepStrictEqual(known, data.refused) ? [] : [{ type: 'StorageCorsSet', data }];
    },
    Disable: (_, storage) => (storage.status === 'disabled' ? [] : [{ type: 'StorageDisabled', data: {} }]),
    Enable: (_, storage) => (storage.status === 'disabled' ? [{ type: 'StorageEnabled', data: {} }] : []),
    Delete: () => [{ type: 'StorageDeleted', data: {} }],
  },
  (state, { projectId }) => existingStorage(state, projectId),
);

const decide = decideBy<StorageCommand, StorageState, StorageEvent>({
  Create: ({ projectId, configuration, credentials }, state) => {
    // The id derives from the command, so an earlier attempt made the existing storage.
    if (state.status !== 'absent') return [];
    return [
      {
        type: 'StorageCreated',
        data: {
          project_id: projectId,
          ...configuration,
          credentials_version: credentials.version,
          credentials: { ...credentials.sealed },
        },
      },
    ];
  },
  /** A result counts only for the tested values. That of a superseded, cancelled or timed-out test appends nothing. */
  FinishTest: ({ testId, result: { failure, warnings } }, state) => {
    if (state.status === 'absent' || state.status === 'deleted' || !isUnderWay(state, testId)) return [];
    if (failure !== null) return [{ type: 'StorageTestFailed', data: { test_id: testId, ...failure } }];
    const data = { test_id: testId, warnings: [...warnings] };
    return [...adopt(state, state.candidate), { type: 'StorageTestSucceeded', data }];
  },
  DeleteOrphaned: (_, { status }) => {
    if (status === 'absent') return storageNotFound();
    return status === 'deleted' ? [] : [{ type: 'StorageDeleted', data: {} }];
  },
  ...forMember,
});

/** An active storage serves its proven connection until a new one passes its test: src/areas/storages/README.md#storage-changes. */
function change(
  { change: changeOf, testId }: Extract<MemberCommand, { type: 'Change' }>,
  storage: ExistingStorage,
): readonly StorageEvent[] {
  const configuration = changeOf(storage.configuration);
  if (storage.status !== 'active' || sameConnection(storage.configuration, configuration))
    return changed(storage, configuration);
  // A repetition, because the test's id derives from the command.
  if (isUnderWay(storage, testId)) return [];
  requireNoTest(storage);
  const candidate = candidateOf(storage.configuration, configuration);
  return [
    { type: 'StorageTestStarted', data: { test_id: testId, candidate: { ...candidate, credentials: null } } },
  ];
}

/** Returns the connection, and the other changes, which wait until it is proven. */
function candidateOf(
  present: StorageConfiguration,
  wanted: StorageConfiguration,
): Omit<StorageCandidate, 'credentials'> {
  const same = otherFields.filter((field) => wanted[field] === present[field]);
  return withoutFields(wanted, ['provider', ...same]);
}

/** Returns whether a change takes effect after a test. */
export function awaitsTest(events: readonly StorageEvent[]): boolean {
  return events.some(({ type }) => type === 'StorageTestStarted');
}

function startTest(testId: string, storage: ExistingStorage): readonly StorageEvent[] {
  if (storage.status === 'disabled')
    rejectStorage('storage_disabled', 'the storage is disabled; enable it first');
  if (isUnderWay(storage, testId)) return [];
  requireNoTest(storage);
  return [{ type: 'StorageTestStarted', data: { test_id: testId, candidate: null } }];
}

/** Returns the changes to the candidate's values, which the test has proven. */
function adopt(storage: ExistingStorage, candidate: StorageCandidate | null): readonly StorageEvent[] {
  if (candidate === null) return [];
  const { credentials, ...values } = candidate;
  const events = [...changed(storage, { ...storage.configuration, ...values })];
  if (credentials !== null) events.push({ type: 'StorageCredentialsReplaced', data: { credentials } });
  return events;
}

function changed(storage: ExistingStorage, configuration: StorageConfiguration): readonly StorageEvent[] {
  return isDeepStrictEqual(configuration, storage.configuration)
    ? []
    : [{ type: 'StorageChanged', data: withoutFields(configuration, ['provider']) }];
}

function requireNoTest({ test }: ExistingStorage): void {
  if (test !== null)
    rejectStorage('storage_test_running', 'a test of the storage is under way; wait until it has ended');
}

/** Returns the project's storage. @throws CommandRejected storage_not_found, also for a storage of another project */
export function existingStorage(state: StorageState, projectId: string): ExistingStorage {
  const exists = state.status !== 'absent' && state.status !== 'deleted';
  return exists && state.projectId === projectId ? state : storageNotFound();
}

export const storageAggregate = defineAggregate(storageEvents, { initialState, decide, evolve });

export type { StorageConfiguration } from './events.js';

/**
 * Normalises and checks a configuration (src/areas/storages/README.md#rules-of-a-storage).
 * @param present the configuration before the change; null for a new storage
 * @throws CommandRejected invalid_request
 */
export function checkConfiguration(
  input: StorageConfiguration,
  allowsHttp: AllowsHttp,
  present: StorageConfiguration | null = null,
): StorageConfiguration {
  const { provider } = input;
  const endpointOf = (field: EndpointField): string =>
    checkEndpoint({ provider, bucket: input.bucket, endpoint: input[field], field }, allowsHttp);
  const checked = checkEach({
    bucket: () => checkBucket(provider, input.bucket),
    name: () => checkName(input.name),
    endpoint: () => endpointOf('endpoint'),
    public_endpoint: () => endpointOf('public_endpoint'),
    region: () => checkRegion(provider, input.region),
    base_path: () => checkBasePath(input.base_path, provider),
    cdn_domain: () => checkCdnDomain(input.cdn_domain),
  });
  const configuration = { provider, ...checked };
  checkConnection(configuration, present);
  return configuration;
}
