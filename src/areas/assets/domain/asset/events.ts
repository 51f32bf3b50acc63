import { z } from 'zod';
import { event, type EventIn, makeEvents } from '../../../../event-sourcing/ports/events.js';
import { byteCount, entityId, hexDigest, instant } from '../../../../validation/fields.js';
import { inQuotes, countInWords } from '../../../../validation/text.js';

/** A file that was made from the original, for example a thumbnail. */
const rendition = z.strictObject({
  kind: z.string().min(1),
  object_key: z.string().min(1),
  media_type: z.string().min(1),
  size: byteCount,
  /** BCP 47; null for a rendition without a language. */
  language: z.string().min(1).nullable(),
});
export type Rendition = z.output<typeof rendition>;

/** By how much `bytesOfAsset` changes; null where it does not. */
const changeOfBytes = z.strictObject({ project_id: entityId, bytes: z.int() }).nullable();

/** An object as its bucket reported it. */
const seenObject = {
  size: byteCount,
  /** Without its quotation marks; null where the bucket named none. */
  entity_tag: z.string().min(1).nullable(),
  /** Null where the bucket named none. */
  media_type: z.string().min(1).nullable(),
  /** Of the bucket, or of the client where the bucket gives none. */
  sha256: hexDigest.nullable(),
};

/** An object that the bucket still holds after an attempt to delete it. */
const undeletedObject = z.strictObject({
  object_key: z.string().min(1),
  /** A code of storage tests, or one of `undeletedCauses`. */
  cause: z.string().min(1),
  /** The code that the provider wrote; null without one. */
  provider_code: z.string().min(1).max(64).nullable(),
});
export type UndeletedObject = z.output<typeof undeletedObject>;

export const assetEvents = makeEvents('asset-{id}', {
  AssetAdded: event(
    {
      project_id: entityId,
      storage_id: entityId,
      name: z.string().min(1),
      /** Relative to the storage's base path. */
      object_key: z.string().min(1),
      media_type: z.string().min(1),
      size: byteCount,
      renditions: z.array(rendition),
      tags: z.array(z.string().min(1)),
    },
    ({ project_id, storage_id, name, media_type, size, renditions }, id) =>
      `added asset ${id} to project ${project_id}: ${inQuotes(name)}, ${media_type}, ${countInWords(size, 'byte')} and ` +
      `${countInWords(renditions.length, 'rendition')}, in storage ${storage_id}`,
  ),
  AssetRenamed: event(
    { name: z.string().min(1) },
    ({ name }, id) => `renamed asset ${id} to ${inQuotes(name)}`,
  ),
  /** All tags of the asset. */
  AssetTagged: event({ tags: z.array(z.string().min(1)) }, ({ tags }, id) =>
    tags.length === 0
      ? `removed the tags of asset ${id}`
      : `tagged asset ${id} with ${tags.map(inQuotes).join(', ')}`,
  ),
  /** Media type and size of the own file, which the asset described otherwise. */
  AssetFileChanged: event(
    { media_type: z.string().min(1), size: byteCount, capacity: changeOfBytes },
    ({ media_type, size }, id) =>
      `described the file of asset ${id} as ${media_type} of ${countInWords(size, 'byte')}`,
  ),
  /** Adds a rendition, or replaces the one of the same kind and language. */
  AssetRenditionPut: event(
    { rendition, capacity: changeOfBytes },
    ({ rendition: { kind, language, media_type, size } }, id) =>
      `put rendition ${nameOf(kind, language)} of asset ${id}: ${media_type}, ${countInWords(size, 'byte')}`,
  ),
  AssetRenditionRemoved: event(
    { kind: z.string().min(1), language: z.string().min(1).nullable(), capacity: changeOfBytes },
    ({ kind, language }, id) => `removed rendition ${nameOf(kind, language)} of asset ${id}`,
  ),
  /** The service issued an upload URL, and asks the bucket at `check_at`; or it asked and asks again. */
  AssetUploadExpected: event(
    { attempt: z.int().positive(), check_at: instant },
    ({ attempt, check_at }, id) =>
      `expects an upload of asset ${id}; check ${attempt} of its bucket is due at ${check_at}`,
  ),
  /** The last check found no new object. */
  AssetUploadChecksEnded: event(
    {},
    (_, id) => `asked the bucket of asset ${id} for the last time after its upload URL`,
  ),
  /** The bucket holds the object that the asset describes. */
  AssetUploadVerified: event(
    seenObject,
    ({ size, entity_tag }, id) =>
      `found the upload of asset ${id} complete: ${countInWords(size, 'byte')}, ${tagInWords(entity_tag)}`,
  ),
  AssetUploadMismatched: event(
    { ...seenObject, differs: z.array(z.enum(['size', 'media_type', 'sha256'])).min(1) },
    ({ size, entity_tag, differs }, id) =>
      `found another object than asset ${id} describes: ${countInWords(size, 'byte')}, ${tagInWords(entity_tag)}; it differs in ` +
      differs.join(', '),
  ),
  /** The bucket no longer holds an object that was complete or mismatched. */
  AssetUploadMissing: event({}, (_, id) => `found no object of asset ${id} in its bucket`),
  /** The bucket opened an upload in parts. Its URLs are signed with `bucket_upload_id`. */
  AssetMultipartStarted: event(
    {
      upload_id: entityId,
      bucket_upload_id: z.string().min(1).max(1_024),
      part_size: byteCount,
      /** Where it is open, also after the asset is removed. */
      storage_id: entityId,
      object_key: z.string().min(1),
      /** When the service aborts it. */
      abort_at: instant,
      /** What told the object apart that the bucket had under the key before; null where it had none. */
      replaces: z
        .strictObject({ entity_tag: z.string().min(1).nullable(), modified_at: instant.nullable() })
        .nullable(),
    },
    ({ upload_id, part_size }, id) =>
      `started upload ${upload_id} of asset ${id} in parts of ${countInWords(part_size, 'byte')}`,
  ),
  /** The bucket gave no answer to an abort. */
  AssetMultipartAbortPutOff: event(
    { upload_id: entityId, attempt: z.int().positive(), abort_at: instant },
    ({ upload_id, attempt, abort_at }, id) =>
      `could not abort upload ${upload_id} of asset ${id}; attempt ${attempt} is due at ${abort_at}`,
  ),
  AssetMultipartEnded: event(
    {
      upload_id: entityId,
      /** `lost`: the bucket knows no such upload. `given_up`: it gave no answer to 7 attempts to abort. */
      outcome: z.enum(['completed', 'aborted', 'lost', 'given_up']),
    },
    ({ upload_id, outcome }, id) => `ended upload ${upload_id} of asset ${id}: ${outcome.replace('_', ' ')}`,
  ),
  AssetRemoved: event(
    {
      project_id: entityId,
      /** `bytesOfAsset`. */
      bytes: byteCount,
    },
    ({ bytes }, id) => `removed asset ${id} of ${countInWords(bytes, 'byte')}`,
  ),
  /** The objects of the removed asset are to be deleted from the bucket. */
  AssetDeletionRequested: event(
    {
      project_id: entityId,
      storage_id: entityId,
      /** Where the objects are. A storage that has changed since leads to other objects. */
      endpoint: z.string(),
      bucket: z.string().min(1),
      /** Without an endpoint the region names the host. */
      region: z.string(),
      base_path: z.string(),
      object_keys: z.array(z.string().min(1)).min(1),
    },
    ({ object_keys, storage_id }, id) =>
      `asked to delete ${countInWords(object_keys.length, 'object')} of removed asset ${id} from the bucket of storage ${storage_id}`,
  ),
  /** An attempt left objects, and the next one is due. */
  AssetDeletionPutOff: event(
    {
      /** The number of the next attempt. */
      attempt: z.int().min(2),
      delete_at: instant,
      left: z.array(undeletedObject).min(1),
      /** Objects that stay, because another asset has them. */
      kept: z.array(z.string().min(1)),
    },
    ({ attempt, delete_at, left, kept }, id) =>
      `could not delete ${countInWords(left.length, 'object')} of removed asset ${id}${keptWords(kept)}; attempt ${attempt} is due at ${delete_at}`,
  ),
  /** Nothing more is tried. `left` and `kept` are empty where the bucket deleted all objects. */
  AssetDeletionEnded: event(
    { left: z.array(undeletedObject), kept: z.array(z.string().min(1)) },
    ({ left, kept }, id) =>
      left.length === 0
        ? `deleted the objects of removed asset ${id}${keptWords(kept)}`
        : `gave up deleting ${countInWords(left.length, 'object')} of removed asset ${id}${keptWords(kept)}`,
  ),
});

export type AssetEvent = EventIn<typeof assetEvents>;
/** A check that the service owes after it issued an upload URL. `attempt`: 1 for the first check. */
export type ExpectedUpload = Extract<AssetEvent, { type: 'AssetUploadExpected' }>['data'];
export type AssetDescription = Extract<AssetEvent, { type: 'AssetAdded' }>['data'];
export const { category: assetCategory, codec: assetCodec } = assetEvents;

function keptWords(kept: readonly string[]): string {
  return kept.length === 0 ? '' : `, and kept ${kept.length} that another asset has`;
}

function nameOf(kind: string, language: string | null): string {
  return language === null ? kind : `${kind} (${language})`;
}

function tagInWords(entityTag: string | null): string {
  return entityTag === null ? 'no entity tag' : `entity tag ${inQuotes(entityTag)}`;
}
