import { isDeepStrictEqual } from 'node:util';
import type { Aggregate } from '../../event-sourcing/decider.js';
import type { StorageConfiguration } from './configuration.js';
import type { DeliveryMode } from './delivery.js';
import { storageCodec, type StorageEvent } from './events.js';
import { rejectStorage } from './rejections.js';
import {
  evolve,
  type ExistingStorage,
  sameConnection,
  type StorageCredentials,
  type StorageState,
  type StorageTest,
} from './state.js';
import { storageCategory } from './stream.js';
import type { TestFailure } from './test-failure.js';

export type { ExistingStorage, StorageConnection, StorageCredentials, StorageState } from './state.js';

export type StorageCommand =
  | {
      readonly type: 'Create';
      readonly projectId: string;
      readonly configuration: StorageConfiguration;
      readonly credentials: StorageCredentials;
    }
  /**
   * `change` makes the configuration that is wanted of the present one, whichever that is by then; it may reject.
   * `testId` names the test that another connection of an active storage has to pass first.
   */
  | {
      readonly type: 'Change';
      readonly change: (present: StorageConfiguration) => StorageConfiguration;
      readonly testId: string;
    }
  /** `credentials.version` is one more than `credentialsVersionMax`. */
  | { readonly type: 'ReplaceCredentials'; readonly credentials: StorageCredentials; readonly testId: string }
  | { readonly type: 'ChangeDelivery'; readonly mode: DeliveryMode }
  | { readonly type: 'StartTest'; readonly testId: string }
  | { readonly type: 'FinishTest'; readonly testId: string; readonly failure: TestFailure | null }
  | { readonly type: 'Disable' }
  | { readonly type: 'Enable' }
  | { readonly type: 'Delete' };

/** DESIGN 4.2: storages of one project. */
export const storagesMax = 20;

/** The version of a storage's first credentials. */
export const firstCredentialsVersion = 1;

const initialState: StorageState = { status: 'absent' };

function decide(command: StorageCommand, state: StorageState): readonly StorageEvent[] {
  switch (command.type) {
    case 'Create':
      return create(command, state);
    case 'Change':
      return change(command, existing(state));
    case 'ReplaceCredentials':
      return replaceCredentials(command, existing(state));
    case 'ChangeDelivery':
      if (existing(state).delivery === command.mode) return [];
      return [{ type: 'StorageDeliveryChanged', data: { mode: command.mode } }];
    case 'StartTest':
      return startTest(command.testId, existing(state));
    case 'FinishTest':
      return finishTest(command, state);
    case 'Disable':
      return existing(state).status === 'disabled' ? [] : [{ type: 'StorageDisabled', data: {} }];
    case 'Enable':
      return existing(state).status === 'disabled' ? [{ type: 'StorageEnabled', data: {} }] : [];
    case 'Delete':
      if (state.status === 'deleted') return [];
      existing(state);
      return [{ type: 'StorageDeleted', data: {} }];
  }
}

function create(
  { projectId, configuration, credentials }: Extract<StorageCommand, { type: 'Create' }>,
  state: StorageState,
): readonly StorageEvent[] {
  // A storage's id is made from the command that creates it, so one that exists is what an earlier try has made.
  if (state.status === 'deleted')
    return rejectStorage('storage_not_found', 'there is no such storage any more');
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
}

/** What is active goes on serving by what was proven; what is not has nothing to lose (DESIGN 4.3). */
function change(
  { change: changeOf, testId }: Extract<StorageCommand, { type: 'Change' }>,
  storage: ExistingStorage,
): readonly StorageEvent[] {
  const configuration = changeOf(storage.configuration);
  if (storage.status !== 'active' || sameConnection(storage.configuration, configuration)) {
    return changed(storage, configuration);
  }
  // Repeated: the test's id is made from the command.
  if (storage.test?.testId === testId) return [];
  requireNoTest(storage);
  const { endpoint, bucket, region } = configuration;
  const candidate = { endpoint, bucket, region, ...besides(storage.configuration, configuration) };
  return [
    { type: 'StorageTestStarted', data: { test_id: testId, candidate: { ...candidate, credentials: null } } },
  ];
}

/** What else is to change once the connection is proven: until then all stays as it is (DESIGN 4.3). */
function besides(present: StorageConfiguration, wanted: StorageConfiguration) {
  const { name, base_path, cdn_domain } = wanted;
  return {
    ...(name === present.name ? {} : { name }),
    ...(base_path === present.base_path ? {} : { base_path }),
    ...(cdn_domain === present.cdn_domain ? {} : { cdn_domain }),
  };
}

function replaceCredentials(
  { credentials, testId }: Extract<StorageCommand, { type: 'ReplaceCredentials' }>,
  storage: ExistingStorage,
): readonly StorageEvent[] {
  const recorded = { version: credentials.version, sealed: { ...credentials.sealed } };
  const known = storage.test?.candidate?.credentials ?? storage.credentials;
  if (isDeepStrictEqual(known, recorded)) return [];
  if (credentials.version <= storage.credentialsVersionMax) {
    rejectStorage('storage_credentials_replaced', 'the credentials have been replaced meanwhile');
  }
  if (storage.status !== 'active') {
    return [{ type: 'StorageCredentialsReplaced', data: { credentials: recorded } }];
  }
  requireNoTest(storage);
  const { endpoint, bucket, region } = storage.configuration;
  return [
    {
      type: 'StorageTestStarted',
      data: { test_id: testId, candidate: { endpoint, bucket, region, credentials: recorded } },
    },
  ];
}

function startTest(testId: string, storage: ExistingStorage): readonly StorageEvent[] {
  if (storage.status === 'disabled') {
    rejectStorage('storage_disabled', 'the storage is disabled; enable it first');
  }
  if (storage.test?.testId === testId) return [];
  requireNoTest(storage);
  return [{ type: 'StorageTestStarted', data: { test_id: testId, candidate: null } }];
}

/** A result counts only for what was tested: of a test that was superseded, cancelled or given up nothing is kept. */
function finishTest(
  { testId, failure }: Extract<StorageCommand, { type: 'FinishTest' }>,
  state: StorageState,
): readonly StorageEvent[] {
  if (state.status === 'absent' || state.status === 'deleted' || state.test?.testId !== testId) return [];
  if (failure !== null) {
    return [{ type: 'StorageTestFailed', data: { test_id: testId, ...failure } }];
  }
  return [...adopt(state, state.test), { type: 'StorageTestSucceeded', data: { test_id: testId } }];
}

/** The candidate's values, now that they are proven. */
function adopt(storage: ExistingStorage, { candidate }: StorageTest): readonly StorageEvent[] {
  if (candidate === null) return [];
  const { credentials, ...values } = candidate;
  const events = [...changed(storage, { ...storage.configuration, ...values })];
  if (credentials !== null) {
    const recorded = { version: credentials.version, sealed: { ...credentials.sealed } };
    events.push({ type: 'StorageCredentialsReplaced', data: { credentials: recorded } });
  }
  return events;
}

function changed(storage: ExistingStorage, configuration: StorageConfiguration): readonly StorageEvent[] {
  const { name, endpoint, bucket, region, base_path, cdn_domain } = configuration;
  const present = storage.configuration;
  const same =
    sameConnection(present, configuration) &&
    name === present.name &&
    base_path === present.base_path &&
    cdn_domain === present.cdn_domain;
  if (same) return [];
  return [{ type: 'StorageChanged', data: { name, endpoint, bucket, region, base_path, cdn_domain } }];
}

function requireNoTest({ test }: ExistingStorage): void {
  if (test !== null) {
    rejectStorage('storage_test_running', 'a test of the storage is under way; wait until it has ended');
  }
}

function existing(state: StorageState): ExistingStorage {
  if (state.status === 'absent' || state.status === 'deleted') {
    return rejectStorage('storage_not_found', 'there is no such storage');
  }
  return state;
}

export const storageAggregate: Aggregate<StorageState, StorageCommand, StorageEvent> = {
  category: storageCategory,
  codec: storageCodec,
  followsStoreTime: true,
  decider: { initialState, decide, evolve },
};
