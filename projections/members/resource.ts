import { z } from 'zod';
import { entityId, instant } from '../../src/domain/fields.js';
import { role } from '../../src/domain/role.js';

/** A member of a project, or an invited person (docs/design.md#members). */
export const memberResource = z
  .strictObject({
    id: entityId.meta({ description: 'Of the user; of the invitation while `status` is `invited`.' }),
    email: z.string().nullable().meta({ description: 'Null for callers who are neither admin nor owner.' }),
    nickname: z.string().nullable().meta({ description: 'Null while `status` is `invited`.' }),
    role,
    status: z.enum(['active', 'invited']),
    joined_at: instant.nullable().meta({ description: 'Null while `status` is `invited`.' }),
    invited_at: instant.nullable().meta({ description: 'Null unless `status` is `invited`.' }),
  })
  .meta({ id: 'Member' });
export type MemberResource = z.infer<typeof memberResource>;
