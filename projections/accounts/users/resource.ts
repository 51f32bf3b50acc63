import { z } from 'zod';
import { entityId, instant, namedObject } from '../../../src/validation/fields.js';
import { platformRole } from '../../../src/areas/accounts/domain/user/events.js';

/** A user as they see themselves (src/areas/accounts/README.md#rules-of-an-account). */
export const userResource = namedObject('User', {
  id: entityId,
  email: z.string(),
  nickname: z.string(),
  email_verified: z.boolean(),
  two_factor_enabled: z.boolean(),
  capacity_bytes: z.int(),
  used_bytes: z.int(),
  created_at: instant,
});
/** The user of the caller's session, with the roles over the whole installation. */
export const meResource = userResource.extend({ platform_roles: z.array(platformRole) }).meta({ id: 'Me' });

/** An account as operators see it (docs/operate.md#commands). */
export const accountResource = namedObject('Account', {
  id: entityId,
  email: z.string(),
  nickname: z.string(),
  email_verified: z.boolean(),
  two_factor_enabled: z.boolean(),
  banned: z.boolean(),
  platform_roles: z.array(platformRole),
  created_at: instant,
  updated_at: instant,
});
export type AccountResource = z.infer<typeof accountResource>;

export type MeResource = z.infer<typeof meResource>;
export type UserResource = z.infer<typeof userResource>;

/** A passkey as its user sees it (src/areas/accounts/commands/README.md#passkeys). */
export const passkeyResource = namedObject('Passkey', {
  id: entityId,
  name: z.string(),
  created_at: instant,
  last_used_at: instant.nullable(),
  synced: z.boolean().describe('Whether it may be copied to other devices.'),
  backed_up: z.boolean().describe('Whether a copy existed at its last use.'),
  transports: z.array(z.string()).readonly(),
  aaguid: z.string().describe('The model of the authenticator; zeros where it does not say.'),
});
export type PasskeyResource = z.infer<typeof passkeyResource>;
