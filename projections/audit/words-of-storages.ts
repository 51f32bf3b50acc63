import type { AssetEvent } from '../../src/domain/asset/events.js';
import type { StorageEvent } from '../../src/domain/storage/events.js';
import { inQuotes, type Phrases } from './phrases.js';

/** The events of a storage. */
export const storageWords: Phrases<StorageEvent> = {
  StorageCreated: ({ project_id, provider, name, bucket }, id) =>
    `bound storage ${id} to project ${project_id}: ${inQuotes(name)}, bucket ${inQuotes(bucket)} at provider ${provider}; ` +
    'the credentials are sealed',
  StorageChanged: ({ name, bucket }, id) =>
    `changed storage ${id}: its name is ${inQuotes(name)} and its bucket ${inQuotes(bucket)}`,
  StorageCredentialsReplaced: ({ credentials }, id) =>
    `replaced the credentials of storage ${id} with version ${credentials.version} (sealed)`,
  StorageDeliveryChanged: ({ mode }, id) => `changed the delivery of storage ${id} to ${mode}`,

  StorageTestStarted: ({ test_id, candidate }, id) =>
    `started test ${test_id} of storage ${id} with ${candidate === null ? 'its present values' : 'new values'}` +
    (candidate?.credentials == null ? '' : '; the new credentials are sealed'),
  StorageTestSucceeded: ({ test_id }, id) => `ended test ${test_id} of storage ${id} with success`,
  StorageTestFailed: ({ test_id, code }, id) =>
    `ended test ${test_id} of storage ${id} with the failure ${code}`,

  StorageDisabled: (_, id) => `disabled storage ${id}`,
  StorageEnabled: (_, id) => `enabled storage ${id}`,
  StorageDeleted: (_, id) =>
    `deleted storage ${id}; the destruction of the keys of its sealed credentials follows`,
};

/** The events of an asset. */
export const assetWords: Phrases<AssetEvent> = {
  AssetAdded: ({ project_id, storage_id, name, media_type, size, renditions }, id) =>
    `added asset ${id} to project ${project_id}: ${inQuotes(name)}, ${media_type}, ${size} bytes and ` +
    `${renditions.length} renditions, in storage ${storage_id}`,
  AssetRenamed: ({ name }, id) => `renamed asset ${id} to ${inQuotes(name)}`,
  AssetRemoved: ({ bytes }, id) => `removed asset ${id}${bytes === null ? '' : ` of ${bytes} bytes`}`,
};
