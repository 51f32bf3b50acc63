import { z } from 'zod';
import { entityId, instant } from '../../src/domain/fields.js';

/** A share as members see it (docs/design.md#shares). */
export const shareResource = z
  .strictObject({
    id: entityId,
    project_id: entityId,
    asset_id: entityId,
    token: z.string().meta({ description: '22 characters; part of `url`.' }),
    url: z.string().meta({ description: 'Where people open it.' }),
    expires_at: instant.nullable().meta({ description: 'Null: never.' }),
    max_uses: z
      .int()
      .nullable()
      .meta({ description: 'How often its password may be used. Null: any number.' }),
    remaining_uses: z.int().nullable().meta({ description: 'Null where uses are not limited.' }),
    allow_download: z.boolean(),
    throttled_at: instant.nullable().meta({
      description: 'When many wrong passwords were last noticed. It is told once an hour at most.',
    }),
    created_by: z
      .uuid()
      .nullable()
      .meta({ description: 'The id of a user; null where an API key created it.' }),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Share' });
export type ShareResource = z.infer<typeof shareResource>;
