import { z } from 'zod';
import { event, type EventIn, makeEvents } from '../../../../event-sourcing/ports/events.js';
import { sealedSchema } from '../../../../event-sourcing/ports/sealed.js';
import { entityId, hexDigest, instant } from '../../../../validation/fields.js';
import { passwordClass } from './password.js';
import { inQuotes } from '../../../../validation/in-words.js';

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

export const shareEvents = makeEvents('share-{id}', {
  ShareCreated: event(
    {
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
    },
    ({ project_id, asset_id, more_asset_ids, tag, created_by, password_hash, ...data }, id) =>
      `shared ${tag === null ? assetsInWords([asset_id, ...more_asset_ids]) : `the assets with the tag ${inQuotes(tag)}`} ` +
      `of project ${project_id} as share ${id}, ${termsInWords(data)}` +
      (created_by === null ? '' : `, for user ${created_by}`) +
      (password_hash === null
        ? ', without a password; the link is sealed'
        : '; link and password hash are sealed'),
    'share.created',
  ),
  /** All terms after the change. */
  ShareChanged: event(
    terms,
    (data, id) => `changed the terms of share ${id}: ${termsInWords(data)}`,
    'share.changed',
  ),
  /** Ends the sessions that the previous password opened. */
  SharePasswordChanged: event(
    { password_hash: sealedSchema.nullable(), ...classed },
    ({ password_hash }, id) =>
      password_hash === null
        ? `removed the password of share ${id}`
        : `changed the password of share ${id} (sealed hash)`,
    'share.password_changed',
  ),
  /** Appended before the visitor gets the media, if uses are limited. */
  ShareUsed: event(
    { access_id: entityId },
    ({ access_id }, id) => `used share ${id} once (access ${access_id})`,
  ),
  /** A client has to wait, or many wrong passwords come. Appended at most once an hour. */
  ShareVerificationThrottled: event(
    { failures: z.int().positive() },
    ({ failures }, id) => `entered ${failures} wrong passwords at share ${id}`,
    'share.throttled',
  ),
  /** So many wrong passwords that no more are checked for up to a day. Appended at most once a day. */
  ShareGuessingLimitReached: event(
    {},
    (_, id) => `reached the limit of wrong passwords at share ${id}`,
    'share.guessing_limit_reached',
  ),
  ShareRevoked: event({}, (_, id) => `revoked share ${id}`, 'share.revoked'),
});

export type ShareEvent = EventIn<typeof shareEvents>;
export const { category: shareCategory, codec: shareCodec } = shareEvents;

function assetsInWords(ids: readonly (string | null)[]): string {
  return `${ids.length === 1 ? 'asset' : 'assets'} ${ids.join(', ')}`;
}

/** The terms of a share. */
function termsInWords({
  expires_at,
  max_uses,
  allow_download,
  title,
  note,
  frame_ancestors,
  notify_sharer,
  show_sender,
}: z.infer<z.ZodObject<typeof terms>>): string {
  return [
    expires_at === null ? 'without an end' : `until ${expires_at}`,
    max_uses === null ? 'for any number of uses' : `for at most ${max_uses} uses`,
    allow_download ? 'with downloads' : 'without downloads',
    ...(title === null ? [] : ['with a sealed title']),
    ...(note === null ? [] : ['with a sealed note']),
    ...(frame_ancestors.length === 0 ? [] : [`in frames of ${frame_ancestors.join(' and ')}`]),
    ...(notify_sharer ? ['with a mail to the sharer on the first opening'] : []),
    ...(show_sender ? ['with the name of the sharer'] : []),
  ].join(', ');
}
