import type { Evolving } from '../../event-sourcing/decider.js';
import type { Sealed } from '../../event-sourcing/sealed.js';
import type { StorageConfiguration } from './configuration.js';
import { defaultDelivery, type DeliveryMode } from './delivery.js';
import type { StorageEvent } from './events.js';

export type StorageState =
  | { readonly status: 'absent' }
  | ExistingStorage
  | {
      readonly status: 'deleted';
      readonly projectId: string;
      /** The highest version of its credentials. */
      readonly credentialsVersion: number;
    };

export interface ExistingStorage {
  readonly status: 'pending' | 'testing' | 'active' | 'failed' | 'disabled';
  readonly projectId: string;
  readonly configuration: StorageConfiguration;
  readonly credentials: StorageCredentials;
  /** The highest version of credentials that was ever recorded, those of dropped candidates included. */
  readonly credentialsVersionMax: number;
  readonly delivery: DeliveryMode;
  /** The test under way. */
  readonly test: StorageTest | null;
}

export interface StorageCredentials {
  readonly version: number;
  /** By the provider's own names. */
  readonly sealed: Readonly<Record<string, Sealed>>;
}

/** What decides where and how a storage is reached. */
export type StorageConnection = Pick<StorageConfiguration, 'endpoint' | 'bucket' | 'region'>;

export interface StorageTest {
  readonly testId: string;
  /** The store's recorded time. */
  readonly startedAt: Date;
  /** What is tested in place of the present connection, with what changes besides. */
  readonly candidate:
    | (StorageConnection &
        Partial<Pick<StorageConfiguration, 'name' | 'base_path' | 'cdn_domain'>> & {
          /** Null: the present ones. */
          readonly credentials: StorageCredentials | null;
        })
    | null;
}

export function evolve(state: StorageState, event: Evolving<StorageEvent>): StorageState {
  if (event.type === 'StorageCreated') {
    const { project_id: projectId, credentials_version: version, credentials, ...configuration } = event.data;
    return {
      status: 'pending',
      projectId,
      configuration,
      credentials: { version, sealed: credentials },
      credentialsVersionMax: version,
      delivery: defaultDelivery(configuration.provider),
      test: null,
    };
  }
  if (state.status === 'absent' || state.status === 'deleted') return state;
  if (event.type === 'StorageDeleted') {
    const { projectId, credentialsVersionMax: credentialsVersion } = state;
    return { status: 'deleted', projectId, credentialsVersion };
  }
  return { ...state, ...changeOf(state, event) };
}

function changeOf(
  state: ExistingStorage,
  event: Exclude<Evolving<StorageEvent>, { type: 'StorageCreated' | 'StorageDeleted' }>,
): Partial<ExistingStorage> {
  switch (event.type) {
    case 'StorageChanged':
      return reconfigured(state, { ...state.configuration, ...event.data });
    case 'StorageCredentialsReplaced': {
      const { credentials } = event.data;
      return { credentials, credentialsVersionMax: highest(state, credentials.version), ...untested(state) };
    }
    case 'StorageDeliveryChanged':
      return { delivery: event.data.mode, ...testedOtherwise(state) };
    case 'StorageTestStarted': {
      const { test_id: testId, candidate } = event.data;
      return {
        // A candidate is tested beside the connection that serves.
        status: candidate === null ? 'testing' : state.status,
        test: { testId, startedAt: event.recordedAt, candidate },
        credentialsVersionMax: highest(state, candidate?.credentials?.version ?? 0),
      };
    }
    case 'StorageTestSucceeded':
      return state.test?.testId === event.data.test_id ? { status: 'active', test: null } : {};
    case 'StorageTestFailed':
      if (state.test?.testId !== event.data.test_id) return {};
      return { status: state.test.candidate === null ? 'failed' : state.status, test: null };
    case 'StorageDisabled':
      return { status: 'disabled', test: null };
    case 'StorageEnabled':
      return { status: 'pending', test: null };
  }
}

/** What was tested says nothing of another connection; a candidate that has just passed is named active next. */
function reconfigured(state: ExistingStorage, configuration: StorageConfiguration): Partial<ExistingStorage> {
  const present = state.configuration;
  if (!sameConnection(present, configuration)) return { configuration, ...untested(state) };
  const { base_path, cdn_domain } = configuration;
  const samePaths = base_path === present.base_path && cdn_domain === present.cdn_domain;
  return { configuration, ...(samePaths ? {} : testedOtherwise(state)) };
}

/** A test under way says nothing of other paths or another delivery; one that has ended is left alone. */
function testedOtherwise(state: ExistingStorage): Partial<ExistingStorage> {
  return state.test === null ? {} : untested(state);
}

export function sameConnection(one: StorageConnection, other: StorageConnection): boolean {
  return one.endpoint === other.endpoint && one.bucket === other.bucket && one.region === other.region;
}

/** A storage that is switched off stays so. */
function untested({ status, test }: ExistingStorage): Partial<ExistingStorage> {
  // Within one append a passed candidate's values come before StorageTestSucceeded, which still needs the test.
  if (test !== null && test.candidate !== null) return {};
  return { status: status === 'disabled' ? 'disabled' : 'pending', test: null };
}

function highest({ credentialsVersionMax }: ExistingStorage, version: number): number {
  return Math.max(credentialsVersionMax, version);
}
