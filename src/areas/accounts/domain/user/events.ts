import { z } from 'zod';
import { event, type EventIn, makeEvents, sealedSchema } from '../../../../event-sourcing/ports/events.js';
import {
  byteCount,
  entityId,
  grantSource,
  hexDigest,
  instant,
  mailOutcome,
} from '../../../../validation/fields.js';
import { listInWords, outcomeInWords, sourceInWords, countInWords } from '../../../../validation/text.js';

const secrets = {
  password: 'the password',
  mailed_code: 'a mailed code',
  totp: 'a code of the app',
} as const;

/** A role over the whole installation. */
export const platformRole = z.enum(['operator', 'auditor']);
export type PlatformRole = z.infer<typeof platformRole>;

/** A secret of an account whose wrong attempts are bounded (src/security/README.md#guessing). */
const guessedSecret = z.enum(['password', 'mailed_code', 'totp']);
export type GuessedSecret = z.infer<typeof guessedSecret>;

/** A credential that a revert of an address change voids. */
export const voidedCredential = z.enum(['password', 'totp', 'recovery_codes', 'passkeys']);
export type VoidedCredential = z.infer<typeof voidedCredential>;

/** The number of a 30 s time step since 1970 (RFC 6238, section 4). */
const timeStep = z.int().nonnegative();

/** The signature counter of an authenticator (WebAuthn Level 3, section 6.1.1). */
const signatureCounter = z.int().nonnegative().max(0xffff_ffff);

/** The name of a transport; browsers may know others than this service. */
export const transport = z.string().regex(/^[a-z0-9-]{1,32}$/);

/** In code points (src/areas/accounts/README.md#registration). */
export const nicknameLengthMax = 50;

/** Personal data is sealed for the person under the name of its field. */
export const userEvents = makeEvents('user-{id}', {
  UserRegistered: event(
    {
      email: sealedSchema,
      /** Keyed digest of the normalised address (src/areas/accounts/README.md#unique-address). */
      email_digest: hexDigest,
      nickname: sealedSchema,
      /** A PHC string. */
      password_hash: sealedSchema,
    },
    (_, id) => `registered user ${id}; e-mail address, nickname and password hash are sealed`,
  ),
  /** Takes the place of UserRegistered: the registration took too long and can no longer succeed. */
  RegistrationAbandoned: event({}, (_, id) => `ended the registration of user ${id}, which took too long`),
  CapacityGranted: event(
    { source: grantSource, bytes: byteCount },
    ({ bytes, source }, id) =>
      `gave user ${id} a capacity of ${countInWords(bytes, 'byte')} ${sourceInWords(source)}`,
  ),
  CapacityRevoked: event(
    { source: grantSource },
    ({ source }, id) => `took from user ${id} the capacity that was given ${sourceInWords(source)}`,
  ),
  PlatformRoleGranted: event(
    { role: platformRole },
    ({ role }, id) => `gave user ${id} the platform role ${role}`,
  ),
  PlatformRoleRevoked: event(
    { role: platformRole },
    ({ role }, id) => `took the platform role ${role} from user ${id}`,
  ),
  ProfileChanged: event({ nickname: sealedSchema }, (_, id) => `changed the nickname of user ${id} (sealed)`),
  /** The address with this digest is verified. */
  EmailVerified: event({ email_digest: hexDigest }, (_, id) => `proved the e-mail address of user ${id}`),
  /** A code is mailed to the address. A session of the account proves the address by it. */
  EmailVerificationRequested: event(
    {
      verification_id: entityId,
      email_digest: hexDigest,
      /** The key of CODE_KEYS that makes the mailed code. */
      code_key_id: z.string().min(1),
      expires_at: instant,
    },
    ({ verification_id, expires_at }, id) =>
      `asked for a code that proves the e-mail address of user ${id} (verification ${verification_id}, until ${expires_at})`,
  ),
  EmailVerificationMailed: event(
    { verification_id: entityId, outcome: mailOutcome },
    ({ verification_id, outcome }, id) =>
      `mailed user ${id} the code of verification ${verification_id}; ${outcomeInWords(outcome)}`,
  ),
  /** A mail said that the account is erased unless its address is proved. */
  UnprovedWarned: event(
    { outcome: mailOutcome },
    ({ outcome }, id) => `recorded that a warning of the erasure of user ${id} was ${outcome}`,
  ),
  /** Appended before the code is compared. */
  EmailVerificationAttempted: event(
    { verification_id: entityId },
    ({ verification_id }, id) => `entered a code for verification ${verification_id} of user ${id}`,
  ),
  /**
   * A sign-in by a mailed code proved the address for the first time. All that the account holds is older than the
   * proof, so it may belong to a stranger who registered this address: password, sessions, second factor, passkeys, the API keys
   * that the account issued, its invitations and the members that it added.
   */
  CredentialsVoided: event(
    {},
    (_, id) =>
      `voided all credentials of user ${id}, because the e-mail address was proved for the first time; ` +
      'the access that the account gave ends',
  ),
  EmailChangeRequested: event(
    {
      change_id: entityId,
      email: sealedSchema,
      email_digest: hexDigest,
      /** The key of CODE_KEYS that makes the mailed code. */
      code_key_id: z.string().min(1),
      expires_at: instant,
    },
    ({ change_id, expires_at }, id) =>
      `asked to change the e-mail address of user ${id} (change ${change_id}, until ${expires_at}); the new address is sealed`,
  ),
  EmailChangeMailed: event(
    { change_id: entityId, outcome: mailOutcome },
    ({ change_id, outcome }, id) =>
      `mailed the code of address change ${change_id} of user ${id}; ${outcomeInWords(outcome)}`,
  ),
  /** Appended before the code is compared. */
  EmailChangeAttempted: event(
    { change_id: entityId },
    ({ change_id }, id) => `entered a code for address change ${change_id} of user ${id}`,
  ),
  /** The new address is verified. The previous one stays reserved while `revert` holds; then it is released. */
  EmailChanged: event(
    {
      change_id: entityId,
      email: sealedSchema,
      email_digest: hexDigest,
      previous_email_digest: hexDigest,
      /** The code that the previous address gets: its key of CODE_KEYS and its end. Null: none, after a return to a former address. */
      revert: z.strictObject({ code_key_id: z.string().min(1), until: instant }).nullable(),
    },
    ({ change_id, revert }, id) =>
      `changed the e-mail address of user ${id} (change ${change_id}); the new address is sealed` +
      (revert === null ? '' : `, and the former one can undo the change until ${revert.until}`),
  ),
  /** A change of address is undone, with all later ones. It ends all sessions and the pending change. */
  EmailChangeReverted: event(
    {
      /** The change that is undone: the user gets the address of before it. */
      change_id: entityId,
      email: sealedSchema,
      email_digest: hexDigest,
      email_verified: z.boolean(),
      previous_email_digest: hexDigest,
      /** See `credentialsToVoid`. */
      voided: z.array(voidedCredential),
      /** The passkeys that stay where `voided` names passkeys. */
      kept_passkeys: z.array(entityId),
    },
    ({ change_id, voided }, id) =>
      `undid address change ${change_id} of user ${id} and voided: ${listInWords(voided)}; the address is sealed`,
  ),
  /** The address of before the change can no longer be put back. Its release follows. */
  FormerAddressLapsed: event(
    { change_id: entityId },
    ({ change_id }, id) =>
      `ended the time in which address change ${change_id} of user ${id} could be undone`,
  ),
  /** Ends all sessions except the named one. */
  PasswordChanged: event(
    { password_hash: sealedSchema, kept_session_id: entityId.nullable() },
    ({ kept_session_id: kept }, id) =>
      `changed the password of user ${id} (sealed hash) and ended all sessions${kept === null ? '' : ` except ${kept}`}`,
  ),
  /** The same password, hashed with newer parameters or a newer pepper. */
  PasswordRehashed: event(
    { password_hash: sealedSchema },
    (_, id) => `stored the same password of user ${id} with a newer hash (sealed)`,
  ),
  SessionsRevoked: event({}, (_, id) => `ended all sessions of user ${id}`),
  TotpEnrolled: event(
    { enrolment_id: entityId, secret: sealedSchema },
    ({ enrolment_id }, id) =>
      `began to set up a second factor for user ${id} (enrolment ${enrolment_id}); the secret is sealed`,
  ),
  /** Turns the second factor on: the first code was right. */
  TotpConfirmed: event(
    { enrolment_id: entityId, step: timeStep },
    ({ enrolment_id }, id) => `turned the second factor of user ${id} on (enrolment ${enrolment_id})`,
  ),
  TotpStepUsed: event(
    { step: timeStep },
    ({ step }, id) => `used the second factor of user ${id} (time step ${step})`,
  ),
  TotpRemoved: event(
    {
      /** They stay while a passkey is left. */
      recovery_codes: z.enum(['end', 'stay']),
    },
    (_, id) => `turned the second factor of user ${id} off`,
  ),
  /** Keyed digests. They replace all earlier ones. */
  RecoveryCodesIssued: event(
    { digests: z.array(hexDigest).min(1) },
    ({ digests }, id) => `gave user ${id} ${digests.length} recovery codes, of which only digests are stored`,
  ),
  RecoveryCodeUsed: event({ digest: hexDigest }, (_, id) => `used a recovery code of user ${id}`),
  /** Ends all sessions. No sign-in succeeds until UserUnbanned. The end of the user's API keys follows. */
  UserBanned: event({}, (_, id) => `banned user ${id} and ended all sessions`),
  UserUnbanned: event({}, (_, id) => `ended the ban of user ${id}`),
  /** So many wrong attempts that no more are checked for up to a day. Appended at most once a day. */
  GuessingLimitReached: event(
    { secret: guessedSecret },
    ({ secret }, id) => `reached the limit of wrong attempts at ${secrets[secret]} of user ${id}`,
  ),
  PasskeyRegistered: event(
    {
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
    },
    ({ passkey_id, synced }, id) =>
      `registered the passkey ${passkey_id} of user ${id}${synced ? ', which may be copied to other devices' : ''}; ` +
      'its name and its public key are sealed',
  ),
  /** A sign-in or a reauthentication. */
  PasskeyUsed: event(
    { passkey_id: entityId, counter: signatureCounter, backed_up: z.boolean() },
    ({ passkey_id, counter }, id) => `used the passkey ${passkey_id} of user ${id} (counter ${counter})`,
  ),
  /** A valid signature with a counter that did not rise: the passkey may have been copied. It was refused. */
  PasskeyCounterRegressed: event(
    { passkey_id: entityId, counter: signatureCounter },
    ({ passkey_id, counter }, id) =>
      `presented the passkey ${passkey_id} of user ${id} with a counter that did not rise (${counter}), and was refused`,
  ),
  PasskeyRenamed: event(
    { passkey_id: entityId, name: sealedSchema },
    ({ passkey_id }, id) => `renamed the passkey ${passkey_id} of user ${id} (sealed name)`,
  ),
  PasskeyRemoved: event(
    { passkey_id: entityId },
    ({ passkey_id }, id) => `removed the passkey ${passkey_id} of user ${id}`,
  ),
  /** The destruction of the user's data key follows. */
  UserErased: event(
    {},
    (_, id) => `erased user ${id}; the destruction of the key of the sealed personal data follows`,
  ),
});

export type UserEvent = EventIn<typeof userEvents>;
export const { category: userCategory, codec: userCodec } = userEvents;
