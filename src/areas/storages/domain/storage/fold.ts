import { z } from 'zod';
import { withoutFields } from '../../../../validation/fields.js';
import { type ChangesBy, changeBy } from '../../../../event-sourcing/ports/events.js';
import { type CdnTokenSettings, type DeliveryMode, defaultDelivery } from '../delivery/delivery.js';
import {
  connectionFields,
  type credentials,
  type OtherFields,
  otherFields,
  type StorageConfiguration,
  type StorageConnection,
  type StorageEvent,
} from './events.js';
import type { TestWarning } from '../delivery/test-failure.js';

export const storageStatus = z.enum(['pending', 'testing', 'active', 'failed', 'disabled']);
type StorageStatus = z.infer<typeof storageStatus>;

/** The fields that a test depends on: it writes below the base path and reads through the domain. */
type TestedConfiguration = StorageConnection & Pick<StorageConfiguration, 'base_path' | 'cdn_domain'>;

/** The fields that the aggregate and the view both fold. */
export type StorageFields = {
  readonly status: StorageStatus;
  /** The test under way. `of_candidate`: it tests other values, while the present ones go on serving. */
  readonly test: { readonly id: string; readonly of_candidate: boolean } | null;
  /** What the last passed test of the present connection found. */
  readonly warnings: readonly TestWarning[];
};

type TestedStatus = Pick<StorageFields, 'status' | 'test'>;

export const newStorage: StorageFields = { status: 'pending', test: null, warnings: [] };

/**
 * Returns the fields after the event.
 * @param present the configuration before the event
 */
export function applyEvent(
  before: StorageFields,
  present: TestedConfiguration,
  event: StorageEvent,
): StorageFields {
  const { status, test, warnings } = before;
  return { status, test, warnings, ...changeBy(changes, event, { before, present }) };
}

type Before = { readonly before: StorageFields; readonly present: TestedConfiguration };

const changes: ChangesBy<StorageEvent, Before, Partial<StorageFields>> = {
  StorageChanged: ({ data }, { before, present }) => {
    if (!sameConnection(present, data)) return { ...invalidateTest(before), warnings: [] };
    return samePaths(present, data) ? {} : invalidateRunningTest(before);
  },
  StorageCredentialsReplaced: (_, { before }) => invalidateTest(before),
  StorageDeliveryChanged: (_, { before }) => invalidateRunningTest(before),
  StorageTestStarted: ({ data: { test_id: id, candidate } }) =>
    candidate === null
      ? { status: 'testing', test: { id, of_candidate: false } }
      : { test: { id, of_candidate: true } },
  StorageTestSucceeded: ({ data: { test_id, warnings } }, { before }) =>
    isUnderWay(before, test_id) ? { status: 'active', test: null, warnings } : {},
  StorageTestFailed: ({ data }, { before }) => {
    if (!isUnderWay(before, data.test_id)) return {};
    return before.test?.of_candidate === true
      ? { test: null }
      : { status: 'failed', test: null, warnings: [] };
  },
  StorageCorsSet: ({ data: { refused: origins } }, { before }) => {
    const others = before.warnings.filter(({ code }) => code !== 'cors_missing');
    const missing = { code: 'cors_missing', origins, cause: null } as const;
    return { warnings: origins.length === 0 ? others : [missing, ...others] };
  },
  StorageDisabled: () => ({ status: 'disabled', test: null }),
  StorageEnabled: () => ({ status: 'pending', test: null, warnings: [] }),
};

/** Returns whether the result of this test counts. That of a superseded or cancelled test does not. */
export function isUnderWay({ test }: Pick<StorageFields, 'test'>, testId: string): boolean {
  return test?.id === testId;
}

export function sameConnection(one: StorageConnection, other: StorageConnection): boolean {
  return connectionFields.every((field) => one[field] === other[field]);
}

function samePaths(one: TestedConfiguration, other: TestedConfiguration): boolean {
  return one.base_path === other.base_path && one.cdn_domain === other.cdn_domain;
}

/** Cancels a running test, which proves nothing for other paths or another delivery. An earlier result still holds. */
function invalidateRunningTest({ status, test }: TestedStatus): TestedStatus {
  return test === null ? { status, test } : invalidateTest({ status, test });
}

/** Back to pending, unless disabled; a candidate's test goes on. */
function invalidateTest({ status, test }: TestedStatus): TestedStatus {
  // An append contains the values of a passed candidate before StorageTestSucceeded, which needs the test.
  if (test?.of_candidate === true) return { status, test };
  return { status: status === 'disabled' ? 'disabled' : 'pending', test: null };
}

export type StorageState =
  | { readonly status: 'absent' }
  | ExistingStorage
  | {
      readonly status: 'deleted';
      readonly projectId: string;
      /** The highest version of its credentials. */
      readonly credentialsVersion: number;
    };

export interface ExistingStorage extends StorageFields {
  readonly projectId: string;
  readonly configuration: StorageConfiguration;
  readonly credentials: StorageCredentials;
  /** The highest recorded version, including the versions of dropped candidates. */
  readonly credentialsVersionMax: number;
  readonly delivery: DeliveryMode;
  /** Of the mode `token`; null for other modes. */
  readonly cdnToken: StoredCdnToken | null;
  /** The CORS rule that the service has set since the last passed test of the connection. */
  readonly corsSet: Extract<StorageEvent, { type: 'StorageCorsSet' }>['data'] | null;
  /** The candidate of the test under way. */
  readonly candidate: StorageCandidate | null;
}

export type StorageCredentials = z.infer<typeof credentials>;

/** A token for the CDN, with sealed keys. */
export interface StoredCdnToken extends CdnTokenSettings {
  readonly credentials: StorageCredentials;
}

/** The connection under test, and the other fields that change with it. */
export type StorageCandidate = StorageConnection &
  Partial<OtherFields> & {
    /** Null: the present ones. */
    readonly credentials: StorageCredentials | null;
  };

export function evolve(state: StorageState, event: StorageEvent): StorageState {
  if (event.type === 'StorageCreated') {
    const { project_id: projectId, credentials_version: version, credentials, ...configuration } = event.data;
    return {
      ...newStorage,
      projectId,
      configuration,
      credentials: { version, sealed: credentials },
      credentialsVersionMax: version,
      delivery: defaultDelivery(configuration.provider),
      cdnToken: null,
      corsSet: null,
      candidate: null,
    };
  }
  if (state.status === 'absent' || state.status === 'deleted') return state;
  if (event.type === 'StorageDeleted') {
    const { projectId, credentialsVersionMax: credentialsVersion } = state;
    return { status: 'deleted', projectId, credentialsVersion };
  }
  const fields = applyEvent(state, state.configuration, event);
  const candidate = fields.test === null ? null : state.candidate;
  return { ...state, ...fields, candidate, ...changeBy(stateChanges, event, state) };
}

const stateChanges: ChangesBy<StorageEvent, ExistingStorage, Partial<ExistingStorage>> = {
  StorageChanged: ({ data }, { configuration, candidate, corsSet }) => ({
    configuration: { ...configuration, ...data },
    corsSet: sameConnection(configuration, data) ? corsSet : null,
    candidate: candidate && withoutChanged(candidate, configuration, data),
  }),
  StorageCredentialsReplaced: ({ data: { credentials } }, before) => ({
    credentials,
    ...recorded(before, credentials.version),
  }),
  StorageDeliveryChanged: ({ data: { mode, token } }, before) => {
    if (token === null) return { delivery: mode, cdnToken: null };
    const { scheme, valid_seconds: validSeconds, credentials } = token;
    const cdnToken = { scheme, validSeconds, credentials };
    return { delivery: mode, cdnToken, ...recorded(before, credentials.version) };
  },
  StorageTestStarted: ({ data: { candidate } }, before) => ({
    candidate,
    ...recorded(before, candidate?.credentials?.version ?? 0),
  }),
  StorageCorsSet: ({ data }) => ({ corsSet: data }),
  StorageTestSucceeded: () => ({ corsSet: null }),
};

/** A change that applies during the test is later than what the candidate says of the same fields. */
function withoutChanged(
  candidate: StorageCandidate,
  before: StorageConfiguration,
  after: OtherFields,
): StorageCandidate {
  const changed = otherFields.filter((field) => before[field] !== after[field]);
  return withoutFields(candidate, changed);
}

function recorded({ credentialsVersionMax }: ExistingStorage, version: number) {
  return { credentialsVersionMax: Math.max(credentialsVersionMax, version) };
}
