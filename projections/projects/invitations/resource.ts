import { z } from 'zod';
import { entityId, instant } from '../../../src/validation/fields.js';
import { role } from '../../../src/areas/projects/domain/role.js';

/** An invitation or an offer as the person sees it whom it is addressed to (docs/design.md#offers). */
export const invitationResource = z
  .strictObject({
    id: entityId,
    kind: z.enum(['membership', 'ownership', 'billing']).meta({
      description:
        '`membership`: the person becomes a member with `role`; `ownership`: a member becomes an owner; `billing`: the assets of the project use the capacity of the person.',
    }),
    project: z.strictObject({ id: entityId, name: z.string() }),
    role: role.nullable().meta({ description: 'The role after the acceptance; null for `billing`.' }),
    invited_by: z.string().nullable().meta({ description: 'The nickname; null where the account is gone.' }),
    created_at: instant,
    expires_at: instant.nullable().meta({ description: 'Null: never.' }),
  })
  .meta({ id: 'Invitation' });
export type InvitationResource = z.infer<typeof invitationResource>;
