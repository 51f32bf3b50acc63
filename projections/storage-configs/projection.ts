import type { Recorded } from '../../src/event-sourcing/domain-event.js';
import type { Projection } from '../../src/event-sourcing/projection.js';
import { defaultDelivery, type DeliveryMode } from '../../src/domain/storage/delivery.js';
import { storageCodec, type StorageEvent } from '../../src/domain/storage/events.js';
import type { StorageProvider } from '../../src/domain/storage/provider.js';
import { storageCategory } from '../../src/domain/storage/stream.js';
import { describeFailure } from '../../src/domain/storage/test-failure.js';

/** All of a storage but its credentials, which stay in the log, and `is_default`, which is a fact of the project. */
export type StorageDocument = {
  readonly project_id: string;
  readonly name: string;
  readonly provider: StorageProvider;
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly base_path: string;
  readonly cdn_domain: string;
  readonly delivery: DeliveryMode;
  readonly status: 'pending' | 'testing' | 'active' | 'failed' | 'disabled';
  /** The test under way, and whether it is of a candidate, which the status does not tell. */
  readonly test: { readonly id: string; readonly of_candidate: boolean } | null;
  readonly last_test_at: string | null;
  readonly last_error: string;
  readonly has_credentials: boolean;
  readonly created_at: string;
  readonly updated_at: string;
};

function evolve(document: StorageDocument | null, event: Recorded<StorageEvent>): StorageDocument | null {
  if (event.type === 'StorageCreated') {
    const { project_id, name, provider, endpoint, bucket, region, base_path, cdn_domain } = event.data;
    return {
      project_id,
      name,
      provider,
      endpoint,
      bucket,
      region,
      base_path,
      cdn_domain,
      delivery: defaultDelivery(provider),
      status: 'pending',
      test: null,
      last_test_at: null,
      last_error: '',
      has_credentials: Object.keys(event.data.credentials).length > 0,
      created_at: event.time,
      updated_at: event.time,
    };
  }
  if (document === null || event.type === 'StorageDeleted') return null;
  return { ...document, ...changeOf(document, event) };
}

function changeOf(
  document: StorageDocument,
  event: Exclude<Recorded<StorageEvent>, { type: 'StorageCreated' | 'StorageDeleted' }>,
): Partial<StorageDocument> {
  const touched = { updated_at: event.time };
  switch (event.type) {
    case 'StorageChanged':
      return { ...event.data, ...touched, ...afterChange(document, event.data) };
    case 'StorageCredentialsReplaced':
      return { ...touched, ...untested(document) };
    case 'StorageDeliveryChanged':
      return { ...touched, delivery: event.data.mode, ...testedOtherwise(document) };
    case 'StorageTestStarted': {
      const { test_id: id, candidate } = event.data;
      const test = { id, of_candidate: candidate !== null };
      // Nothing that is shown changes while a candidate is tested.
      return candidate === null ? { ...touched, status: 'testing', test } : { test };
    }
    case 'StorageTestSucceeded':
      if (document.test?.id !== event.data.test_id) return {};
      return { ...touched, status: 'active', test: null, last_test_at: event.time, last_error: '' };
    case 'StorageTestFailed': {
      if (document.test?.id !== event.data.test_id) return {};
      const last_error = describeFailure(event.data);
      const status = document.test.of_candidate ? document.status : 'failed';
      return { ...touched, status, test: null, last_test_at: event.time, last_error };
    }
    case 'StorageDisabled':
      return { ...touched, status: 'disabled', test: null };
    case 'StorageEnabled':
      return { ...touched, status: 'pending', test: null };
  }
}

type Changed = Pick<StorageDocument, 'endpoint' | 'bucket' | 'region' | 'base_path' | 'cdn_domain'>;

/** As in the aggregate: another connection is unproven, and so are other paths while a test is under way. */
function afterChange(document: StorageDocument, changed: Changed): Partial<StorageDocument> {
  const { endpoint, bucket, region, base_path, cdn_domain } = changed;
  const same = endpoint === document.endpoint && bucket === document.bucket && region === document.region;
  if (!same) return untested(document);
  const samePaths = base_path === document.base_path && cdn_domain === document.cdn_domain;
  return samePaths ? {} : testedOtherwise(document);
}

function testedOtherwise(document: StorageDocument): Partial<StorageDocument> {
  return document.test === null ? {} : untested(document);
}

/** A candidate that has just passed is named active next. */
function untested({ status, test }: StorageDocument): Partial<StorageDocument> {
  if (test?.of_candidate === true) return {};
  return { status: status === 'disabled' ? 'disabled' : 'pending', test: null };
}

export const storageConfigsProjection: Projection<StorageDocument, StorageEvent> = {
  name: 'storage_configs',
  version: 3,
  category: storageCategory,
  codec: storageCodec,
  indexes: ['project_id'],
  evolve,
};
