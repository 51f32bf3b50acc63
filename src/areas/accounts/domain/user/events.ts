// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { sealedSchema } from '../../../../event-sourcing/ports/sealed.js';
import {
  byteCount,
  entityId,
  grantSource,
  hexDigest,
  instant,
  mailOutcome,
} from '../../../../validation/fields.js';

/** Streams `user-<user id>`. */
export const userCategory = 'user';

/** A role over the whole installation. */
export const platformRole = z.enum(['operator', 'auditor']);
export type PlatformRole = z.infer<typeof platformRole>;

/** A secret of an account whose wrong attempts are bounded (src/security/README.md#guessing). */
const guessedSecret = z.enum(['password', 'mailed_code', 'totp']);
export type GuessedSecret = z.infer<typeof guessedSecret>;

/** A credential that a revert of an address change voids. */
const voidedCredential = z.enum(['password', 'totp', 'recovery_codes', 'passkeys']);
export type VoidedCredential = z.infer<typeof voidedCredential>;

/** The number of a 30 s time step since 1970 (RFC 6238, section 4). */
const timeStep = z.int().nonnegative();

/** The signature counter of an authenticator (WebAuthn Level 3, section 6.1.1). */
const signatureCounter = z.int().nonnegative().max(0xffff_ffff);

/** The name of a transport; browsers may know others than this service. */
export const transport = z.string().regex(/^[a-z0-9-]{1,32}$/);

/** Personal data is sealed for the person under the name of its field. */
const schemas = {
  UserRegistered: z.strictObject({
    email: sealedSchema,
    /** Keyed digest of the normalised address (src/areas/accounts/README.md#unique-address). */
    email_digest: hexDigest,
    nickname: sealedSchema,
    /** A PHC string. */
    password_hash: sealedSchema,
  }),
  /** Takes the place of UserRegistered: the registration took too long and can no longer succeed. */
  RegistrationAbandoned: z.strictObject({}),

  CapacityGranted: z.strictObject({ source: grantSource, bytes: byteCount }),
  CapacityRevoked: z.strictObject({ source: grantSource }),
  PlatformRoleGranted: z.strictObject({ role: platformRole }),
  PlatformRoleRevoked: z.strictObject({ role: platformRole }),
  ProfileChanged: z.strictObject({ nickname: sealedSchema }),

  /** The address with this digest is verified. */
  EmailVerified: z.strictObject({ email_digest: hexDigest }),
  /** A code is mailed to the address. A session of the account proves the address by it. */
  EmailVerificationRequested: z.strictObject({
    verification_id: entityId,
    email_digest: hexDigest,
    /** The key of CODE_KEYS that makes the mailed code. */
    code_key_id: z.string().min(1),
    expires_at: instant,
  }),
  EmailVerificationMailed: z.strictObject({ verification_id: entityId, outcome: mailOutcome }),
  /** A mail said that the account is erased unless its address is proved. */
  UnprovedWarned: z.strictObject({ outcome: mailOutcome }),
  /** Appended before the code is compared. */
  EmailVerificationAttempted: z.strictObject({ verification_id: entityId }),
  /**
   * A sign-in by a mailed code proved the address for the first time. All that the account holds is older than the
   * proof, so it may belong to a stranger who registered this address: password, sessions, second factor, passkeys, the API keys
   * that the account issued, its invitations and the members that it added.
   */
  CredentialsVoided: z.strictObject({}),
  EmailChangeRequested: z.strictObject({
    change_id: entityId,
    email: sealedSchema,
    email_digest: hexDigest,
    /** The key of CODE_KEYS that makes the mailed code. */
    code_key_id: z.string().min(1),
    expires_at: instant,
  }),
  EmailChangeMailed: z.strictObject({ change_id: entityId, outcome: mailOutcome }),
  /** Appended before the code is compared. */
  EmailChangeAttempted: z.strictObject({ change_id: entityId }),
  /** The new address is verified. The previous one stays reserved while `revert` holds; then it is released. */
  EmailChanged: z.strictObject({
    change_id: entityId,
    email: sealedSchema,
    email_digest: hexDigest,
    previous_email_digest: hexDigest,
    /** The code that the previous address gets: its key of CODE_KEYS and its end. Null: none, after a return to a former address. */
    revert: z.strictObject({ code_key_id: z.string().min(1), until: instant }).nullable(),
  }),
  /** A change of address is undone, with all later ones. It ends all sessions and the pending change. */
  EmailChangeReverted: z.strictObject({
    /** The change that is undone: the user gets the address of before it. */
    change_id: entityId,
    email: sealedSchema,
    email_digest: hexDigest,
    email_verified: z.boolean(),
    previous_email_digest: hexDigest,
    /** See `credentialsToVoid`. */
    voided: z.array(voidedCredential),
    /** The passkeys that stay where `voided` names passkeys. */
    kept_passkeys: z.array(entityId).default([]),
  }),
  /** The address of before the change can no longer be put back. Its release follows. */
  FormerAddressLapsed: z.strictObject({ change_id: entityId }),

  /** Ends all sessions except the named one. */
  PasswordChanged: z.strictObject({ password_hash: sealedSchema, kept_session_id: entityId.nullable() }),
  /** The same password, hashed with newer parameters or a newer pepper. */
  PasswordRehashed: z.strictObject({ password_hash: sealedSchema }),
  SessionsRevoked: z.strictObject({}),

  TotpEnrolled: z.strictObject({ enrolment_id: entityId, secret: sealedSchema }),
  /** Turns the second factor on: the first code was right. */
  TotpConfirmed: z.strictObject({ enrolment_id: entityId, step: timeStep }),
  TotpStepUsed: z.strictObject({ step: timeStep }),
  TotpRemoved: z.strictObject({
    /** They stay while a passkey is left. Former releases ended them always. */
    recovery_codes: z.enum(['end', 'stay']).default('end'),
  }),
  /** Keyed digests. They replace all earlier ones. */
  RecoveryCodesIssued: z.strictObject({ digests: z.array(hexDigest).min(1) }),
  RecoveryCodeUsed: z.strictObject({ digest: hexDigest }),

  /** Ends all sessions. No sign-in succeeds until UserUnbanned. The end of the user's API keys follows. */
  UserBanned: z.strictObject({}),
  UserUnbanned: z.strictObject({}),
  /** So many wrong attempts that no more are checked for up to a day. Appended at most once a day. */
  GuessingLimitReached: z.strictObject({ secret: guessedSecret }),
  PasskeyRegistered: z.strictObject({
    passkey_id: entityId,
    /** Keyed digest of the credential's id. */
    credential_digest: hexDigest,
    /** The credential's id and public key: JSON of `storedCredential`. */
    credential: sealedSchema,
    counter: signatureCounter,
    /** How browsers reach the authenticator, for example `internal` or `usb`. */
    transports: z.array(transport).max(8),
    /** Whether the authenticator may copy the passkey to other devices (flag BE). */
    synced: z.boolean(),
    /** Whether a copy exists (flag BS). */
    backed_up: z.boolean(),
    /** The model of the authenticator; zeros where it does not say. */
    aaguid: z.guid(),
    name: sealedSchema,
  }),
  /** A sign-in or a reauthentication. */
  PasskeyUsed: z.strictObject({
    passkey_id: entityId,
    counter: signatureCounter,
    backed_up: z.boolean(),
  }),
  /** A valid signature with a counter that did not rise: the passkey may have been copied. It was refused. */
  PasskeyCounterRegressed: z.strictObject({ passkey_id: entityId, counter: signatureCounter }),
  PasskeyRenamed: z.strictObject({ passkey_id: entityId, name: sealedSchema }),
  PasskeyRemoved: z.strictObject({ passkey_id: entityId }),

  /** The destruction of the user's data key follows. */
  UserErased: z.strictObject({}),
};

export type UserEvent = EventOf<typeof schemas>;
export const userCodec = makeEventCodec(schemas);
