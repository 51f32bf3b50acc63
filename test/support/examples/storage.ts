import type { StorageConfiguration } from '../../../src/areas/storages/domain/storage/storage.js';
import { storageCodec, type StorageEvent } from '../../../src/areas/storages/domain/storage/events.js';
import { anEvent } from './event.js';
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

export const storageCreated = anEvent(storageCodec, 'StorageCreated', {
  project_id: projectId,
  ...configuration,
  credentials_version: 1,
  credentials,
});

export const testStarted = anEvent(storageCodec, 'StorageTestStarted', { test_id: testId, candidate: null });
export const testSucceeded = anEvent(storageCodec, 'StorageTestSucceeded', { test_id: testId, warnings: [] });
export const testFailed = anEvent(storageCodec, 'StorageTestFailed', {
  test_id: testId,
  code: 'signature_mismatch',
  hint: null,
});
export const storageDisabled = anEvent(storageCodec, 'StorageDisabled', {});
export const storageDeleted = anEvent(storageCodec, 'StorageDeleted', {});

/** The events that make a storage active. */
export const activated: readonly StorageEvent[] = [storageCreated, testStarted, testSucceeded];

export const newCredentials = {
  version: 2,
  sealed: { access_key: sealedExample('another key'), secret_key: sealedExample('another secret') },
};

export const otherBucket = { ...configuration, bucket: 'lakes-media' };

/** Another bucket in place of the current one, and the start of its test. */
export const candidate = {
  endpoint: configuration.endpoint,
  public_endpoint: '',
  bucket: otherBucket.bucket,
  region: configuration.region,
  credentials: null,
};
export const candidateStarted = anEvent(storageCodec, 'StorageTestStarted', {
  test_id: otherTestId,
  candidate,
});
export const candidateSucceeded = anEvent(storageCodec, 'StorageTestSucceeded', {
  test_id: otherTestId,
  warnings: [],
});
export const candidateFailed = anEvent(storageCodec, 'StorageTestFailed', {
  test_id: otherTestId,
  code: 'bucket_not_found',
  hint: null,
});

/** Makes the event `StorageChanged` from a configuration. */
export function changedTo(to: StorageConfiguration): Extract<StorageEvent, { type: 'StorageChanged' }> {
  const { name, endpoint, public_endpoint, bucket, region, base_path, cdn_domain } = to;
  const data = { name, endpoint, public_endpoint, bucket, region, base_path, cdn_domain };
  return { type: 'StorageChanged', data };
}
