import { z } from 'zod';
import { entityId, instant } from '../../src/domain/fields.js';

/** A user as they see themselves (docs/design.md#accounts). */
export const userResource = z
  .strictObject({
    id: entityId,
    email: z.string(),
    nickname: z.string(),
    email_verified: z.boolean(),
    two_factor_enabled: z.boolean(),
    capacity_bytes: z.int(),
    used_bytes: z.int(),
    created_at: instant,
  })
  .meta({ id: 'User' });
export type UserResource = z.infer<typeof userResource>;
