// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { sealedSchema } from '../../../../event-sourcing/ports/sealed.js';
import { entityId, hexDigest, instant } from '../../../../validation/fields.js';
import { passwordClass } from './password.js';

/** Streams `share-<share id>`. */
export const shareCategory = 'share';

/** The largest `max_uses` (src/areas/shares/README.md#rules-of-a-share). */
export const maxUsesMax = 10_000;

/** Assets of one share (src/areas/shares/README.md#rules-of-a-share). */
export const sharedAssetsMax = 50;
/** Origins of pages that may show one share in a frame. */
export const frameAncestorsMax = 10;

const terms = {
  /** Null: the share does not expire. */
  expires_at: instant.nullable(),
  /** How often the password may be used; null: not limited. */
  max_uses: z.int().min(1).max(maxUsesMax).nullable(),
  allow_download: z.boolean(),
  /** For visitors; sealed for the share, because people write it to a person. */
  title: sealedSchema.nullable(),
  note: sealedSchema.nullable(),
  /** The origins whose pages may show the share in a frame. */
  frame_ancestors: z.array(z.string()).max(frameAncestorsMax),
  /** Whether the sharer gets a mail when the share is opened for the first time. */
  notify_sharer: z.boolean(),
  /** Whether visitors see the nickname of the sharer. */
  show_sender: z.boolean(),
};

/** The class of the password's length. */
const classed = { password_class: passwordClass };

const schemas = {
  ShareCreated: z.strictObject({
    project_id: entityId,
    /** The first asset; null for a share of a tag. */
    asset_id: entityId.nullable(),
    more_asset_ids: z.array(entityId).max(sharedAssetsMax - 1),
    /** The share is of the assets that have the tag when it is opened; null for a share of chosen assets. */
    tag: z.string().min(1).nullable(),
    /** Sealed for the share, because members may see it again. */
    token: sealedSchema,
    /** Keyed digest, which finds the share of a visitor's token. */
    token_digest: hexDigest,
    /** A PHC string, sealed for the share; null: the share opens without a password. */
    password_hash: sealedSchema.nullable(),
    ...classed,
    ...terms,
    created_by: entityId.nullable(),
  }),
  /** All terms after the change. */
  ShareChanged: z.strictObject(terms),
  /** Ends the sessions that the previous password opened. */
  SharePasswordChanged: z.strictObject({ password_hash: sealedSchema.nullable(), ...classed }),
  /** Appended before the visitor gets the media, if uses are limited. */
  ShareUsed: z.strictObject({ access_id: entityId }),
  /** A client has to wait, or many wrong passwords come. Appended at most once an hour. */
  ShareVerificationThrottled: z.strictObject({ failures: z.int().positive() }),
  /** So many wrong passwords that no more are checked for up to a day. Appended at most once a day. */
  ShareGuessingLimitReached: z.strictObject({}),
  ShareRevoked: z.strictObject({}),
};

export type ShareEvent = EventOf<typeof schemas>;
export const shareCodec = makeEventCodec(schemas);
