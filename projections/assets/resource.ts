import { z } from 'zod';
import { entityId, instant } from '../../src/domain/fields.js';

/** An asset as members see it (docs/design.md#assets). */
export const assetResource = z
  .strictObject({
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
        size: z.int().nullable().meta({ description: 'Null for one from before renditions had a size.' }),
      }),
    ),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Asset' });
export type AssetResource = z.infer<typeof assetResource>;
