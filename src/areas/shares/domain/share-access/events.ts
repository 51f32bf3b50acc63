// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { entityId, hexDigest } from '../../../../validation/fields.js';

/** Streams `shareaccess-<access id>`: one stream an opening, so a busy share has no hot stream. */
export const shareAccessCategory = 'shareaccess';

const schemas = {
  /** A visitor gave the right password and got the media. */
  ShareVerified: z.strictObject({
    share_id: entityId,
    project_id: entityId,
    /** Keyed digest of the visitor's address. */
    client_ip_digest: hexDigest.nullable(),
  }),
  /** The page of the visitor said that the visitor saves a file of the asset; once for each asset. */
  ShareDownloaded: z.strictObject({ share_id: entityId, asset_id: entityId }),
};

export type ShareAccessEvent = EventOf<typeof schemas>;
export const shareAccessCodec = makeEventCodec(schemas);
