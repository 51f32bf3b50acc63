// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { sealedSchema } from '../../event-sourcing/sealed.js';
import { entityId, hexDigest, instant } from '../fields.js';

/** DESIGN 4.4. */
export const maxUsesMax = 10_000;

const terms = {
  /** The end of the share; null: none. */
  expires_at: instant.nullable(),
  /** How often its password may be used; null: as often as anybody likes. */
  max_uses: z.int().min(1).max(maxUsesMax).nullable(),
  allow_download: z.boolean(),
};

const schemas = {
  ShareCreated: z.strictObject({
    project_id: entityId,
    asset_id: entityId,
    /** Sealed for the share, to be shown again to members. */
    token: sealedSchema,
    /** Keyed digest, by which a visitor's token finds the share. */
    token_digest: hexDigest,
    /** A PHC string, sealed for the share. */
    password_hash: sealedSchema,
    ...terms,
    created_by: entityId.nullable(),
  }),
  /** All terms as they are from now on. */
  ShareChanged: z.strictObject(terms),
  /** Ends the sessions that were opened with the password before. */
  SharePasswordChanged: z.strictObject({ password_hash: sealedSchema }),
  /** Appended before the media is handed out, where uses are limited. */
  ShareUsed: z.strictObject({ access_id: entityId }),
  /** Wrong passwords have slowed the share down; told at most once an hour. */
  ShareVerificationThrottled: z.strictObject({ failures: z.int().positive() }),
  ShareRevoked: z.strictObject({}),
};

export type ShareEvent = EventOf<typeof schemas>;
export const shareCodec = makeEventCodec(schemas);
