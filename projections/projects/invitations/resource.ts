import { z } from 'zod';
import { entityId, instant } from '../../../src/validation/fields.js';
import { offerKind } from '../../../src/areas/projects/domain/project/events.js';
import { role } from '../../../src/areas/projects/domain/role.js';

/** An invitation or an offer as the person sees it whom it is addressed to (src/areas/projects/README.md#offers). */
export const invitationResource = z
  .strictObject({
    id: entityId,
    kind: z.enum(['membership', ...offerKind.options]).meta({
      description:
        '`membership`: the person becomes a member with `role`; `owner`: a member becomes an owner; `payer`: the assets of the project use the capacity of the person; `both`: a member becomes an owner and the payer.',
    }),
    project: z.strictObject({ id: entityId, name: z.string() }),
    role: role.nullable().meta({ description: 'The role after the acceptance; null for `payer`.' }),
    invited_by: z.string().nullable().meta({ description: 'The nickname; null where the account is gone.' }),
    created_at: instant,
    expires_at: instant.nullable().meta({ description: 'Null: never.' }),
  })
  .meta({ id: 'Invitation' });
export type InvitationResource = z.infer<typeof invitationResource>;
