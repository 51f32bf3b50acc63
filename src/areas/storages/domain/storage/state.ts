import { type ChangesBy, changeBy } from '../../../../event-sourcing/ports/events.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import type { StorageConfiguration } from './configuration.js';
import { type CdnTokenSettings, type DeliveryMode, defaultDelivery } from '../delivery/delivery.js';
import type { StorageEvent } from './events.js';
import { type StorageConnection, type StorageFields, applyEvent, newStorage } from './fold.js';
import { CommandRejected, TargetNotFound } from '../../../../event-sourcing/ports/errors.js';

export type StorageRejection =
  | 'entitlement_required'
  | 'storage_limit_reached'
  /** The storage was never created, was deleted, or belongs to another project. */
  | 'storage_not_found'
  /** Another test is under way. One test runs at a time. */
  | 'storage_test_running'
  | 'storage_disabled'
  /** Another command has replaced the credentials first. */
  | 'storage_credentials_replaced'
  /** The bucket did not take the CORS rule. The message begins with the cause. */
  | 'storage_cors_refused'
  /** Only an active storage can become the default. */
  | 'storage_not_active'
  /** It is the default while other storages exist, or it contains assets. */
  | 'storage_in_use';

export function rejectStorage(code: StorageRejection, message: string): never {
  throw new CommandRejected<StorageRejection>(code, message);
}

export function storageNotFound(): never {
  throw new TargetNotFound<StorageRejection>('storage_not_found', 'the storage does not exist');
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
  /** The CORS rule that the service has set since the last passed test. */
  readonly corsSet: Extract<StorageEvent, { type: 'StorageCorsSet' }>['data'] | null;
  /** The candidate of the test under way. */
  readonly candidate: StorageCandidate | null;
}

export interface StorageCredentials {
  readonly version: number;
  /** By the provider's names. */
  readonly sealed: Readonly<Record<string, Sealed>>;
}

/** A token for the CDN, with sealed keys. */
export interface StoredCdnToken extends CdnTokenSettings {
  readonly credentials: StorageCredentials;
}

/** The connection under test, and the other fields that change with it. */
export type StorageCandidate = StorageConnection &
  Partial<Pick<StorageConfiguration, 'name' | 'base_path' | 'cdn_domain'>> & {
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
  return { ...state, ...fields, candidate, ...changeBy(changes, event, state) };
}

const changes: ChangesBy<StorageEvent, ExistingStorage, Partial<ExistingStorage>> = {
  StorageChanged: ({ data }, { configuration }) => ({ configuration: { ...configuration, ...data } }),
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

function recorded({ credentialsVersionMax }: ExistingStorage, version: number) {
  return { credentialsVersionMax: Math.max(credentialsVersionMax, version) };
}
