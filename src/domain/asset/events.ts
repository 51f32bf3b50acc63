// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/ports/event-codec.js';
import { byteCount, entityId } from '../fields.js';

/** Streams `asset-<asset id>`. */
export const assetCategory = 'asset';

/** A file that was made from the original, for example a thumbnail. */
const rendition = z.strictObject({
  kind: z.string().min(1),
  object_key: z.string().min(1),
  media_type: z.string().min(1),
  /** In bytes; null in events from before renditions had a size. */
  size: byteCount.nullable().default(null),
});

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
  }),
  AssetRenamed: z.strictObject({ name: z.string().min(1) }),
  AssetRemoved: z.strictObject({
    /** The asset's project and `bytesOfAsset`; null in events from before projects had totals. */
    project_id: entityId.nullable().default(null),
    bytes: byteCount.nullable().default(null),
  }),
};

export type AssetEvent = EventOf<typeof schemas>;
export type AssetDescription = Extract<AssetEvent, { type: 'AssetAdded' }>['data'];
export const assetCodec = makeEventCodec(schemas);
