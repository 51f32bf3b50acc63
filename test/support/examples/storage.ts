import type { StorageConfiguration } from '../../../src/areas/storages/domain/storage/configuration.js';
import type { StorageEvent } from '../../../src/areas/storages/domain/storage/events.js';
import { otherTestId, projectId, testId } from './ids.js';
import { sealedExample } from './sealed.js';

export const configuration: StorageConfiguration = {
  name: 'Media',
  provider: 'oss',
  endpoint: 'https://oss-cn-hangzhou.aliyuncs.com',
  public_endpoint: '',
  bucket: 'rivers-media',
  region: 'cn-hangzhou',
  base_path: 'videos/2026',
  cdn_domain: 'cdn.example.com',
};

export const credentials = {
  access_key: sealedExample('the access key'),
  secret_key: sealedExample('the secret key'),
};

export const storageCreated = {
  type: 'StorageCreated',
  data: { project_id: projectId, ...configuration, credentials_version: 1, credentials },
} satisfies StorageEvent;

export const testStarted = {
  type: 'StorageTestStarted',
  data: { test_id: testId, candidate: null },
} satisfies StorageEvent;
export const testSucceeded = {
  type: 'StorageTestSucceeded',
  data: { test_id: testId, warnings: [] },
} satisfies StorageEvent;
export const testFailed = {
  type: 'StorageTestFailed',
  data: { test_id: testId, code: 'signature_mismatch', hint: null },
} satisfies StorageEvent;
export const storageDisabled = { type: 'StorageDisabled', data: {} } satisfies StorageEvent;
export const storageDeleted = { type: 'StorageDeleted', data: {} } satisfies StorageEvent;

/** The events that make a storage active. */
export const activated: readonly StorageEvent[] = [storageCreated, testStarted, testSucceeded];

export const newCredentials = {
  version: 2,
  sealed: { access_key: sealedExample('another key'), secret_key: sealedExample('another secret') },
};

export const otherBucket = { ...configuration, bucket: 'lakes-media' };

/** The start of a test of another bucket in place of the current one. */
export const candidateStarted = {
  type: 'StorageTestStarted',
  data: {
    test_id: otherTestId,
    candidate: {
      endpoint: configuration.endpoint,
      public_endpoint: '',
      bucket: otherBucket.bucket,
      region: configuration.region,
      credentials: null,
    },
  },
} satisfies StorageEvent;
export const candidateSucceeded = {
  type: 'StorageTestSucceeded',
  data: { test_id: otherTestId, warnings: [] },
} satisfies StorageEvent;
export const candidateFailed = {
  type: 'StorageTestFailed',
  data: { test_id: otherTestId, code: 'bucket_not_found', hint: null },
} satisfies StorageEvent;

/** Makes the event `StorageChanged` from a configuration. */
export function changedTo(to: StorageConfiguration): Extract<StorageEvent, { type: 'StorageChanged' }> {
  const { name, endpoint, public_endpoint, bucket, region, base_path, cdn_domain } = to;
  const data = { name, endpoint, public_endpoint, bucket, region, base_path, cdn_domain };
  return { type: 'StorageChanged', data };
}
