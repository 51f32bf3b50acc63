// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { sealedSchema } from '../../event-sourcing/sealed.js';
import { byteCount, grantSource, hexDigest } from '../fields.js';

/** Powers over the whole installation. */
export const platformRole = z.enum(['operator', 'auditor']);
export type PlatformRole = z.infer<typeof platformRole>;

const schemas = {
  /** Sealed for the person, under the fields' own names. */
  UserRegistered: z.strictObject({
    email: sealedSchema,
    /** Keyed digest of the address as it is spelled for uniqueness. */
    email_digest: hexDigest,
    nickname: sealedSchema,
    /** A PHC string. */
    password_hash: sealedSchema,
  }),
  /** Stands where UserRegistered would have: the registration took too long and can no longer happen. */
  RegistrationAbandoned: z.strictObject({}),
  CapacityGranted: z.strictObject({ source: grantSource, bytes: byteCount }),
  PlatformRoleGranted: z.strictObject({ role: platformRole }),
  PlatformRoleRevoked: z.strictObject({ role: platformRole }),
};

export type UserEvent = EventOf<typeof schemas>;
export const userCodec = makeEventCodec(schemas);
