// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { byteCount, entityId, hexDigest, instant } from '../../../../validation/fields.js';

/** Streams `asset-<asset id>`. */
export const assetCategory = 'asset';

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

const schemas = {
  AssetAdded: z.strictObject({
    project_id: entityId,
    storage_id: entityId,
    name: z.string().min(1),
    /** Relative to the storage's base path. */
    object_key: z.string().min(1),
    media_type: z.string().min(1),
    size: byteCount,
    renditions: z.array(rendition),
    tags: z.array(z.string().min(1)),
  }),
  AssetRenamed: z.strictObject({ name: z.string().min(1) }),
  /** All tags of the asset. */
  AssetTagged: z.strictObject({ tags: z.array(z.string().min(1)) }),
  /** Media type and size of the own file, which the asset described otherwise. */
  AssetFileChanged: z.strictObject({
    media_type: z.string().min(1),
    size: byteCount,
    capacity: changeOfBytes,
  }),
  /** Adds a rendition, or replaces the one of the same kind and language. */
  AssetRenditionPut: z.strictObject({ rendition, capacity: changeOfBytes }),
  AssetRenditionRemoved: z.strictObject({
    kind: z.string().min(1),
    language: z.string().min(1).nullable(),
    capacity: changeOfBytes,
  }),
  /** The service issued an upload URL, and asks the bucket at `check_at`; or it asked and asks again. */
  AssetUploadExpected: z.strictObject({ attempt: z.int().positive(), check_at: instant }),
  /** The last check found no new object. */
  AssetUploadChecksEnded: z.strictObject({}),
  /** The bucket holds the object that the asset describes. */
  AssetUploadVerified: z.strictObject(seenObject),
  AssetUploadMismatched: z.strictObject({
    ...seenObject,
    differs: z.array(z.enum(['size', 'media_type', 'sha256'])).min(1),
  }),
  /** The bucket no longer holds an object that was complete or mismatched. */
  AssetUploadMissing: z.strictObject({}),
  /** The bucket opened an upload in parts. Its URLs are signed with `bucket_upload_id`. */
  AssetMultipartStarted: z.strictObject({
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
  }),
  /** The bucket gave no answer to an abort. */
  AssetMultipartAbortPutOff: z.strictObject({
    upload_id: entityId,
    attempt: z.int().positive(),
    abort_at: instant,
  }),
  AssetMultipartEnded: z.strictObject({
    upload_id: entityId,
    /** `lost`: the bucket knows no such upload. `given_up`: it gave no answer to 7 attempts to abort. */
    outcome: z.enum(['completed', 'aborted', 'lost', 'given_up']),
  }),
  AssetRemoved: z.strictObject({
    project_id: entityId,
    /** `bytesOfAsset`. */
    bytes: byteCount,
  }),
  /** The objects of the removed asset are to be deleted from the bucket. */
  AssetDeletionRequested: z.strictObject({
    project_id: entityId,
    storage_id: entityId,
    /** Where the objects are. A storage that has changed since leads to other objects. */
    endpoint: z.string(),
    bucket: z.string().min(1),
    /** Without an endpoint the region names the host. */
    region: z.string(),
    base_path: z.string(),
    object_keys: z.array(z.string().min(1)).min(1),
  }),
  /** An attempt left objects, and the next one is due. */
  AssetDeletionPutOff: z.strictObject({
    /** The number of the next attempt. */
    attempt: z.int().min(2),
    delete_at: instant,
    left: z.array(undeletedObject).min(1),
    /** Objects that stay, because another asset has them. */
    kept: z.array(z.string().min(1)),
  }),
  /** Nothing more is tried. `left` and `kept` are empty where the bucket deleted all objects. */
  AssetDeletionEnded: z.strictObject({
    left: z.array(undeletedObject),
    kept: z.array(z.string().min(1)),
  }),
};

export type AssetEvent = EventOf<typeof schemas>;
export type AssetDescription = Extract<AssetEvent, { type: 'AssetAdded' }>['data'];
export const assetCodec = makeEventCodec(schemas);
