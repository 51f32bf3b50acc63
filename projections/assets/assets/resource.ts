import { z } from 'zod';
import { entityId, instant, namedObject } from '../../../src/validation/fields.js';

/** The orders of a list of assets. */
export const assetSorts = ['-created_at', 'created_at', 'name', '-name', 'size', '-size'] as const;
export type AssetSort = (typeof assetSorts)[number];

/** An asset as members see it (src/areas/assets/README.md#rules-of-an-asset). */
export const assetResource = namedObject('Asset', {
  id: entityId,
  project_id: entityId,
  storage_id: entityId,
  name: z.string(),
  object_key: z.string(),
  media_type: z.string(),
  size: z.int(),
  renditions: z.array(
    z.strictObject({
      kind: z.string(),
      object_key: z.string(),
      media_type: z.string(),
      size: z.int(),
      language: z.string().nullable().describe('Of subtitles, as BCP 47 writes it.'),
    }),
  ),
  tags: z.array(z.string()),
  upload: z
    .enum(['pending', 'complete', 'mismatched'])
    .describe(
      'Whether the bucket holds the own file as it is described here. Shares open only for `complete`.',
    ),
  object: namedObject('AssetObject', {
    size: z.int(),
    entity_tag: z.string().nullable(),
    media_type: z.string().nullable(),
    sha256: z.string().nullable(),
  })
    .nullable()
    .describe('The own file as the bucket last reported it. Null where the service saw none.'),
  differs: z
    .array(z.enum(['size', 'media_type', 'sha256']))
    .readonly()
    .describe('The fields in which a `mismatched` object differs.'),
  created_at: instant,
  updated_at: instant,
});
export type AssetResource = z.infer<typeof assetResource>;
