import { z } from 'zod';
import { entityId, instant } from '../../../src/validation/fields.js';

/** A share with what opens it. */
export const shareResource = z.strictObject({
  id: entityId,
  project_id: entityId,
  asset_id: entityId.nullable().meta({ description: 'The first of `asset_ids`; null for a share of a tag.' }),
  asset_ids: z.array(entityId).meta({ description: 'The chosen assets; none for a share of a tag.' }),
  tag: z
    .string()
    .nullable()
    .meta({ description: 'Visitors see the assets that have the tag; null for a share of chosen assets.' }),
  token: z.string(),
  url: z.string(),
  expires_at: instant.nullable().meta({ description: 'Null: never.' }),
  max_uses: z.int().nullable().meta({ description: 'How often its password may be used. Null: any number.' }),
  remaining_uses: z.int().nullable().meta({ description: 'Null where uses are not limited.' }),
  views: z.int().meta({ description: 'How often it was opened. An opening counts within moments.' }),
  downloads: z.int().meta({
    description:
      'How often visitors saved an asset of it by the page, once for each asset and opening. It counts within moments.',
  }),
  allow_download: z.boolean(),
  password_required: z.boolean(),
  title: z.string().nullable().meta({ description: 'For visitors.' }),
  note: z.string().nullable().meta({ description: 'For visitors.' }),
  frame_ancestors: z
    .array(z.string())
    .meta({ description: 'The origins whose pages may show the share in a frame.' }),
  notify_sharer: z.boolean().meta({
    description: 'Whether the sharer gets a mail at the first opening.',
  }),
  show_sender: z.boolean().meta({
    description: 'Whether visitors see the nickname of the sharer after the password.',
  }),
  problem: z.enum(['upload_pending', 'upload_mismatched']).meta({ id: 'ShareProblem' }).nullable().meta({
    description:
      'Why visitors do not get a chosen asset of the share: the first `upload` that is not complete. Null: no such reason.',
  }),
  throttled_at: instant.nullable().meta({
    description: 'When the service last reported many wrong passwords, at most once an hour.',
  }),
  created_by: z
    .uuid()
    .nullable()
    .meta({ description: 'The id of a user; null where an API key created it.' }),
  created_at: instant,
  updated_at: instant,
});

/** A share as members see it (src/areas/shares/README.md#rules-of-a-share). Token and URL open it, so only those who may share see them. */
export const shownShare = shareResource
  .extend({
    token: z.string().nullable().meta({ description: '22 characters; part of `url`.' }),
    url: z
      .string()
      .nullable()
      .meta({ description: 'Where people open it. Null for callers who may not share.' }),
  })
  .meta({ id: 'Share' });
export type ShownShare = z.infer<typeof shownShare>;
export type ShareResource = z.infer<typeof shareResource>;
