// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { sealedSchema } from '../../event-sourcing/sealed.js';
import { byteCount, entityId, grantSource, hexDigest, instant, mailOutcome } from '../fields.js';

/** Powers over the whole installation. */
export const platformRole = z.enum(['operator', 'auditor']);
export type PlatformRole = z.infer<typeof platformRole>;

/** Number of a 30 s time step since 1970 (RFC 6238, section 4). */
const timeStep = z.int().nonnegative();

/** Personal data is sealed for the person, under the fields' own names. */
const schemas = {
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
  CapacityRevoked: z.strictObject({ source: grantSource }),
  PlatformRoleGranted: z.strictObject({ role: platformRole }),
  PlatformRoleRevoked: z.strictObject({ role: platformRole }),
  ProfileChanged: z.strictObject({ nickname: sealedSchema }),

  /** The address with this digest was proved to be the user's. */
  EmailVerified: z.strictObject({ email_digest: hexDigest }),
  /**
   * The address was first proved by a mailed code, which none of these had to do with: password, sessions and second factor
   * may be those of somebody who has registered another person's address.
   */
  CredentialsVoided: z.strictObject({}),
  EmailChangeRequested: z.strictObject({
    change_id: entityId,
    email: sealedSchema,
    email_digest: hexDigest,
    /** The key of CODE_KEYS that the mailed code is made with. */
    code_key_id: z.string().min(1),
    expires_at: instant,
  }),
  EmailChangeMailed: z.strictObject({ change_id: entityId, outcome: mailOutcome }),
  /** Counted before the code is compared. */
  EmailChangeAttempted: z.strictObject({ change_id: entityId }),
  /** The new address; it is verified. The one before is released next. */
  EmailChanged: z.strictObject({
    change_id: entityId,
    email: sealedSchema,
    email_digest: hexDigest,
    previous_email_digest: hexDigest,
  }),

  /** Ends all sessions but the one named. */
  PasswordChanged: z.strictObject({ password_hash: sealedSchema, kept_session_id: entityId.nullable() }),
  /** The same password, hashed with newer parameters or pepper. */
  PasswordRehashed: z.strictObject({ password_hash: sealedSchema }),
  SessionsRevoked: z.strictObject({}),

  TotpEnrolled: z.strictObject({ enrolment_id: entityId, secret: sealedSchema }),
  /** The first code was right: the second factor is on. */
  TotpConfirmed: z.strictObject({ enrolment_id: entityId, step: timeStep }),
  TotpStepUsed: z.strictObject({ step: timeStep }),
  TotpRemoved: z.strictObject({}),
  /** Keyed digests; they replace all earlier ones. */
  RecoveryCodesIssued: z.strictObject({ digests: z.array(hexDigest).min(1) }),
  RecoveryCodeUsed: z.strictObject({ digest: hexDigest }),

  /** The user's subject key is destroyed next. */
  UserErased: z.strictObject({}),
};

export type UserEvent = EventOf<typeof schemas>;
export const userCodec = makeEventCodec(schemas);
