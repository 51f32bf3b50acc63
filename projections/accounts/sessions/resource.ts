import { z } from 'zod';
import { entityId, instant } from '../../../src/validation/fields.js';
import { authenticationMethod } from '../../../src/areas/accounts/domain/session/events.js';

/** A session as its user sees it (src/areas/accounts/README.md#sessions). */
export const sessionResource = z.strictObject({
  id: entityId,
  methods: z.array(authenticationMethod).meta({
    description: '`email`: a mailed code. `otp`: TOTP. `recovery`: a recovery code.',
  }),
  created_at: instant,
  last_used_at: instant.meta({ description: 'When it was last given tokens.' }),
  authenticated_at: instant.meta({ description: 'When the user last signed in or authenticated again.' }),
  strengthened_at: instant.nullable().meta({ description: 'When it last passed a second factor.' }),
  expires_at: instant.meta({ description: 'When it ends unless it is used again.' }),
  user_agent: z.string().nullable(),
});
export type SessionResource = z.infer<typeof sessionResource>;
