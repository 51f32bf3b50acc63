import { z } from 'zod';
import { entityId, instant } from '../../../src/validation/fields.js';
import { role } from '../../../src/areas/projects/domain/role.js';

/** A member of a project, or an invited person (src/areas/projects/README.md#members). */
export const memberResource = z
  .strictObject({
    id: entityId.meta({ description: 'Of the user; of the invitation while `joined_at` is null.' }),
    email: z.string().nullable().meta({ description: 'Null for callers who are neither admin nor owner.' }),
    nickname: z.string().nullable().meta({ description: 'Null until the person is a member.' }),
    role: role.meta({
      description: 'The role that a member has, also while another one is offered; else the invited role.',
    }),
    status: z.enum(['active', 'invited', 'offered']).meta({
      description: '`offered`: the role of owner is offered, and the person has not accepted it yet.',
    }),
    joined_at: instant.nullable().meta({ description: 'Null until the person is a member.' }),
    invited_at: instant.nullable().meta({ description: 'Null for members.' }),
    offer: z
      .strictObject({
        id: entityId.meta({ description: 'DELETE of the member with this id withdraws the offer.' }),
        role,
        expires_at: instant,
      })
      .meta({ id: 'MemberOffer' })
      .nullable()
      .meta({ description: 'Null unless `status` is `offered`.' }),
  })
  .meta({ id: 'Member' });
export type MemberResource = z.infer<typeof memberResource>;
