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

/** A passkey as its user sees it (docs/design.md#passkeys). */
export const passkeyResource = z
  .strictObject({
    id: entityId,
    name: z.string(),
    created_at: instant,
    last_used_at: instant.nullable(),
    synced: z.boolean().meta({ description: 'Whether it may be copied to other devices.' }),
    backed_up: z.boolean().meta({ description: 'Whether a copy existed at its last use.' }),
    transports: z.array(z.string()).readonly(),
    aaguid: z.string().meta({ description: 'The model of the authenticator; zeros where it does not say.' }),
  })
  .meta({ id: 'Passkey' });
export type PasskeyResource = z.infer<typeof passkeyResource>;
