import { z } from 'zod';
import { event, type EventIn, makeEvents, sealedSchema } from '../../../../event-sourcing/ports/events.js';
import { entityId, hexDigest, instant } from '../../../../validation/fields.js';
import { passwordClass } from './password.js';
import { inQuotes, countInWords } from '../../../../validation/text.js';

/** The largest `max_uses` (src/areas/shares/README.md#rules-of-a-share). */
export const maxUsesMax = 10_000;

/** Assets of one share (src/areas/shares/README.md#rules-of-a-share). */
export const sharedAssetsMax = 50;
/** Origins of pages that may show one share in a frame. */
export const framesMax = 10;

/** What a member decides about a share, and changes later. Requests and resource have the same fields. */
export const shareTerms = z.strictObject({
  /** Null: the share does not expire. */
  expires_at: instant.nullable(),
  /** How often the password may be used; null: not limited. */
  max_uses: z.int().min(1).max(maxUsesMax).nullable(),
  allow_download: z.boolean(),
  /** For visitors; sealed for the share, because people write it to a person. */
  title: sealedSchema.nullable(),
  note: sealedSchema.nullable(),
  /** The origins whose pages may show the share in a frame. */
  frame_ancestors: z.array(z.string()).max(framesMax),
  /** Whether the sharer gets a mail when the share is opened for the first time. */
  notify_sharer: z.boolean(),
  /** Whether visitors see the nickname of the sharer. */
  show_sender: z.boolean(),
});
export type ShareTerms = z.infer<typeof shareTerms>;

/** The class of the password's length. */
const classed = { password_class: passwordClass };

export const shareEvents = makeEvents('share-{id}', {
  ShareCreated: event(
    {
      project_id: entityId,
      /** In the order in which visitors see them; none for a share of a tag. */
      asset_ids: z.array(entityId).max(sharedAssetsMax),
      /** The share is of the assets that have the tag when it is opened; null for a share of chosen assets. */
      tag: z.string().min(1).nullable(),
      /** Sealed for the share, because members may see it again. */
      token: sealedSchema,
      /** Keyed digest, which finds the share of a visitor's token. */
      token_digest: hexDigest,
      /** A PHC string, sealed for the share; null: the share opens without a password. */
      password_hash: sealedSchema.nullable(),
      ...classed,
      ...shareTerms.shape,
      created_by: entityId.nullable(),
    },
    ({ project_id, asset_ids, tag, created_by, password_hash, ...data }, id) =>
      `shared ${tag === null ? assetsInWords(asset_ids) : `the assets with the tag ${inQuotes(tag)}`} ` +
      `of project ${project_id} as share ${id}, ${termsInWords(data)}` +
      (created_by === null ? '' : `, for user ${created_by}`) +
      (password_hash === null
        ? ', without a password; the link is sealed'
        : '; link and password hash are sealed'),
    'share.created',
  ),
  /** All terms after the change. */
  ShareChanged: event(
    shareTerms.shape,
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
    ({ password_hash }) => ({ has_password: password_hash !== null }),
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
/** The fields of a new share. */
export type NewShare = Extract<ShareEvent, { type: 'ShareCreated' }>['data'];
export const { category: shareCategory, codec: shareCodec } = shareEvents;

function assetsInWords(ids: readonly string[]): string {
  return `${ids.length === 1 ? 'asset' : 'assets'} ${ids.join(', ')}`;
}

function termsInWords(terms: ShareTerms): string {
  const frames = terms.frame_ancestors.join(' and ');
  return [
    terms.expires_at === null ? 'without an end' : `until ${terms.expires_at}`,
    terms.max_uses === null ? 'for any number of uses' : `for at most ${countInWords(terms.max_uses, 'use')}`,
    terms.allow_download ? 'with downloads' : 'without downloads',
    terms.title !== null && 'with a sealed title',
    terms.note !== null && 'with a sealed note',
    frames !== '' && `in frames of ${frames}`,
    terms.notify_sharer && 'with a mail to the sharer on the first opening',
    terms.show_sender && 'with the name of the sharer',
  ]
    .filter((words) => words !== false)
    .join(', ');
}
