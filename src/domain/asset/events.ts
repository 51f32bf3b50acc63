// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { byteCount, entityId } from '../fields.js';

/** A file that was made from the asset's own, such as a thumbnail. */
const rendition = z.strictObject({
  kind: z.string().min(1),
  object_key: z.string().min(1),
  media_type: z.string().min(1),
});
export type Rendition = z.infer<typeof rendition>;

const schemas = {
  AssetAdded: z.strictObject({
    project_id: entityId,
    storage_id: entityId,
    name: z.string().min(1),
    /** Below the storage's base path. */
    object_key: z.string().min(1),
    media_type: z.string().min(1),
    size: byteCount,
    renditions: z.array(rendition),
  }),
  AssetRenamed: z.strictObject({ name: z.string().min(1) }),
  AssetRemoved: z.strictObject({}),
};

export type AssetEvent = EventOf<typeof schemas>;
export type AssetDescription = Extract<AssetEvent, { type: 'AssetAdded' }>['data'];
export const assetCodec = makeEventCodec(schemas);
