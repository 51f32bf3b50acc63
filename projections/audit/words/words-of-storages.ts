import type { AssetEvent } from '../../../src/areas/assets/domain/asset/events.js';
import type { StorageEvent } from '../../../src/areas/storages/domain/storage/events.js';
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
  StorageDeliveryChanged: ({ mode, token }, id) =>
    `changed the delivery of storage ${id} to ${mode}` +
    (token === null
      ? ''
      : ` of the scheme ${token.scheme}, valid for ${token.valid_seconds} s; its keys are sealed`),

  StorageTestStarted: ({ test_id, candidate }, id) =>
    `started test ${test_id} of storage ${id} with ${candidate === null ? 'its present values' : 'new values'}` +
    (candidate?.credentials == null ? '' : '; the new credentials are sealed'),
  StorageTestSucceeded: ({ test_id, warnings }, id) =>
    `ended test ${test_id} of storage ${id} with success` +
    (warnings.length === 0 ? '' : `, and the warnings ${warnings.map(({ code }) => code).join(', ')}`),
  StorageTestFailed: ({ test_id, code }, id) =>
    `ended test ${test_id} of storage ${id} with the failure ${code}`,

  StorageCorsSet: ({ origins, refused }, id) =>
    `set the CORS rule of the bucket of storage ${id} for ${origins.join(', ')}` +
    (refused.length === 0 ? '' : `; the bucket still refused ${refused.join(', ')}`),

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
  AssetUploadExpected: ({ attempt, check_at }, id) =>
    `expects an upload of asset ${id}; check ${attempt} of its bucket is due at ${check_at}`,
  AssetUploadChecksEnded: (_, id) => `asked the bucket of asset ${id} for the last time after its upload URL`,
  AssetUploadVerified: ({ size, entity_tag }, id) =>
    `found the upload of asset ${id} complete: ${size} bytes, ${tagInWords(entity_tag)}`,
  AssetUploadMismatched: ({ size, entity_tag, differs }, id) =>
    `found another object than asset ${id} describes: ${size} bytes, ${tagInWords(entity_tag)}; it differs in ` +
    differs.join(', '),
  AssetUploadMissing: (_, id) => `found no object of asset ${id} in its bucket`,
  AssetTagged: ({ tags }, id) =>
    tags.length === 0
      ? `removed the tags of asset ${id}`
      : `tagged asset ${id} with ${tags.map(inQuotes).join(', ')}`,
  AssetFileChanged: ({ media_type, size }, id) =>
    `described the file of asset ${id} as ${media_type} of ${size} bytes`,
  AssetRenditionPut: ({ rendition: { kind, language, media_type, size } }, id) =>
    `put rendition ${nameOf(kind, language)} of asset ${id}: ${media_type}, ${size} bytes`,
  AssetRenditionRemoved: ({ kind, language }, id) =>
    `removed rendition ${nameOf(kind, language)} of asset ${id}`,
  AssetMultipartStarted: ({ upload_id, part_size }, id) =>
    `started upload ${upload_id} of asset ${id} in parts of ${part_size} bytes`,
  AssetMultipartAbortPutOff: ({ upload_id, attempt, abort_at }, id) =>
    `could not abort upload ${upload_id} of asset ${id}; attempt ${attempt} is due at ${abort_at}`,
  AssetMultipartEnded: ({ upload_id, outcome }, id) =>
    `ended upload ${upload_id} of asset ${id}: ${outcome.replace('_', ' ')}`,
  AssetDeletionRequested: ({ object_keys, storage_id }, id) =>
    `asked to delete ${object_keys.length} objects of removed asset ${id} from the bucket of storage ${storage_id}`,
  AssetDeletionPutOff: ({ attempt, delete_at, left, kept }, id) =>
    `could not delete ${left.length} objects of removed asset ${id}${keptWords(kept)}; attempt ${attempt} is due at ${delete_at}`,
  AssetDeletionEnded: ({ left, kept }, id) =>
    left.length === 0
      ? `deleted the objects of removed asset ${id}${keptWords(kept)}`
      : `gave up deleting ${left.length} objects of removed asset ${id}${keptWords(kept)}`,
  AssetRemoved: ({ bytes }, id) => `removed asset ${id} of ${bytes} bytes`,
};

function keptWords(kept: readonly string[]): string {
  return kept.length === 0 ? '' : `, and kept ${kept.length} that another asset has`;
}

function nameOf(kind: string, language: string | null): string {
  return language === null ? kind : `${kind} (${language})`;
}

function tagInWords(entityTag: string | null): string {
  return entityTag === null ? 'no entity tag' : `entity tag ${inQuotes(entityTag)}`;
}
