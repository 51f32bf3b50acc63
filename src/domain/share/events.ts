// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/ports/event-codec.js';
import { sealedSchema } from '../../event-sourcing/ports/sealed.js';
import { entityId, hexDigest, instant } from '../fields.js';
import { passwordClass } from './password.js';

/** Streams `share-<share id>`. */
export const shareCategory = 'share';

/** The largest `max_uses` (docs/design.md#shares). */
export const maxUsesMax = 10_000;

const terms = {
  /** Null: the share does not expire. */
  expires_at: instant.nullable(),
  /** How often the password may be used; null: not limited. */
  max_uses: z.int().min(1).max(maxUsesMax).nullable(),
  allow_download: z.boolean(),
};

/** The class of the password's length. Events of earlier releases have none; the strictest one holds for them. */
const classed = { password_class: passwordClass.default('short') };

const schemas = {
  ShareCreated: z.strictObject({
    project_id: entityId,
    asset_id: entityId,
    /** Sealed for the share, because members may see it again. */
    token: sealedSchema,
    /** Keyed digest, which finds the share of a visitor's token. */
    token_digest: hexDigest,
    /** A PHC string, sealed for the share. */
    password_hash: sealedSchema,
    ...classed,
    ...terms,
    created_by: entityId.nullable(),
  }),
  /** All terms after the change. */
  ShareChanged: z.strictObject(terms),
  /** Ends the sessions that the previous password opened. */
  SharePasswordChanged: z.strictObject({ password_hash: sealedSchema, ...classed }),
  /** Appended before the visitor gets the media, if uses are limited. */
  ShareUsed: z.strictObject({ access_id: entityId }),
  /** Wrong passwords have slowed the share down. Appended at most once an hour. */
  ShareVerificationThrottled: z.strictObject({ failures: z.int().positive() }),
  /** So many wrong passwords that no more are checked for up to a day. Appended at most once a day. */
  ShareGuessingLimitReached: z.strictObject({}),
  ShareRevoked: z.strictObject({}),
};

export type ShareEvent = EventOf<typeof schemas>;
export const shareCodec = makeEventCodec(schemas);
