import { z } from 'zod';
import { entityId, instant } from '../../../src/validation/fields.js';

/** A share with what opens it. */
export const shareResource = z.strictObject({
  id: entityId,
  project_id: entityId,
  asset_id: entityId.nullable().describe('The first of `asset_ids`; null for a share of a tag.'),
  asset_ids: z.array(entityId).describe('The chosen assets; none for a share of a tag.'),
  tag: z
    .string()
    .nullable()
    .describe('Visitors see the assets that have the tag; null for a share of chosen assets.'),
  token: z.string(),
  url: z.string(),
  expires_at: instant.nullable().describe('Null: never.'),
  max_uses: z.int().nullable().describe('How often its password may be used. Null: any number.'),
  remaining_uses: z.int().nullable().describe('Null where uses are not limited.'),
  views: z.int().describe('How often it was opened. An opening counts within moments.'),
  downloads: z
    .int()
    .describe(
      'How often visitors saved an asset of it by the page, once for each asset and opening. It counts within moments.',
    ),
  allow_download: z.boolean(),
  password_required: z.boolean(),
  title: z.string().nullable().describe('For visitors.'),
  note: z.string().nullable().describe('For visitors.'),
  frame_ancestors: z.array(z.string()).describe('The origins whose pages may show the share in a frame.'),
  notify_sharer: z.boolean().describe('Whether the sharer gets a mail at the first opening.'),
  show_sender: z.boolean().describe('Whether visitors see the nickname of the sharer after the password.'),
  problem: z
    .enum(['upload_pending', 'upload_mismatched'])
    .meta({ id: 'ShareProblem' })
    .nullable()
    .describe(
      'Why visitors do not get a chosen asset of the share: the first `upload` that is not complete. Null: no such reason.',
    ),
  throttled_at: instant
    .nullable()
    .describe('When the service last reported many wrong passwords, at most once an hour.'),
  created_by: z.uuid().nullable().describe('The id of a user; null where an API key created it.'),
  created_at: instant,
  updated_at: instant,
});

/** A share as members see it (src/areas/shares/README.md#rules-of-a-share). Token and URL open it, so only those who may share see them. */
export const shownShare = shareResource
  .extend({
    token: z.string().nullable().describe('22 characters; part of `url`.'),
    url: z.string().nullable().describe('Where people open it. Null for callers who may not share.'),
  })
  .meta({ id: 'Share' });
export type ShownShare = z.infer<typeof shownShare>;
export type ShareResource = z.infer<typeof shareResource>;
