import { z } from 'zod';
import { entityId, instant } from '../../src/domain/fields.js';
import { role } from '../../src/domain/role.js';

/** A project as one member sees it (docs/design.md#projects). */
export const projectResource = z
  .strictObject({
    id: entityId,
    name: z.string(),
    role,
    require_2fa: z.boolean(),
    billed_to: entityId.meta({ description: 'The user whose capacity the assets use: an owner.' }),
    used_bytes: z.int().meta({ description: 'What its assets use of that capacity.' }),
    entitlements: z.strictObject({ allow_s3: z.boolean() }),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Project' });
export type ProjectResource = z.infer<typeof projectResource>;
