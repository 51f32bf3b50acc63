import { z } from 'zod';
import { entityId, instant } from '../../../src/validation/fields.js';
import { accentColor } from '../../../src/areas/projects/domain/project/events.js';
import { role } from '../../../src/areas/projects/domain/role.js';

/** A project as one member sees it (src/areas/projects/README.md#rules-of-a-project). */
export const projectResource = z
  .strictObject({
    id: entityId,
    name: z.string(),
    role,
    require_2fa: z.boolean(),
    accent_color: accentColor.nullable().meta({
      description: 'The colour of the pages of its shares. Null: the colour of the service.',
    }),
    open_shares: z.boolean().meta({ description: 'Whether its shares may open without a password.' }),
    billed_to: entityId.meta({ description: 'The user whose capacity the assets use: an owner.' }),
    used_bytes: z.int().meta({ description: 'What its assets use of that capacity.' }),
    billing_offer: z
      .strictObject({ id: entityId, user_id: entityId, offered_by: entityId, expires_at: instant })
      .meta({ id: 'ProjectBillingOffer' })
      .nullable()
      .meta({
        description:
          'The offer of the billing to another member, also an expired one; null where there is none.',
      }),
    entitlements: z.strictObject({ allow_s3: z.boolean() }),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Project' });
export type ProjectResource = z.infer<typeof projectResource>;
