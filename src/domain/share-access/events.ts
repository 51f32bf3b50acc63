// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { entityId, hexDigest } from '../fields.js';

const schemas = {
  /** The right password was given and the media handed out. */
  ShareVerified: z.strictObject({
    share_id: entityId,
    project_id: entityId,
    /** Keyed digest of the visitor's address. */
    client_ip_digest: hexDigest.nullable(),
  }),
};

export type ShareAccessEvent = EventOf<typeof schemas>;
export const shareAccessCodec = makeEventCodec(schemas);
