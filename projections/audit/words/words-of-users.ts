import type { UserEvent } from '../../../src/areas/accounts/domain/user/events.js';
import { listInWords, outcomeInWords, type Phrases, sourceInWords } from './phrases.js';

const secrets = {
  password: 'the password',
  mailed_code: 'a mailed code',
  totp: 'a code of the app',
} as const;

/** The events of a user. */
export const userWords: Phrases<UserEvent> = {
  UserRegistered: (_, id) => `registered user ${id}; e-mail address, nickname and password hash are sealed`,
  RegistrationAbandoned: (_, id) => `ended the registration of user ${id}, which took too long`,

  CapacityGranted: ({ bytes, source }, id) =>
    `gave user ${id} a capacity of ${bytes} bytes ${sourceInWords(source)}`,
  CapacityRevoked: ({ source }, id) =>
    `took from user ${id} the capacity that was given ${sourceInWords(source)}`,
  PlatformRoleGranted: ({ role }, id) => `gave user ${id} the platform role ${role}`,
  PlatformRoleRevoked: ({ role }, id) => `took the platform role ${role} from user ${id}`,
  ProfileChanged: (_, id) => `changed the nickname of user ${id} (sealed)`,

  EmailVerified: (_, id) => `proved the e-mail address of user ${id}`,
  EmailVerificationRequested: ({ verification_id, expires_at }, id) =>
    `asked for a code that proves the e-mail address of user ${id} (verification ${verification_id}, until ${expires_at})`,
  EmailVerificationMailed: ({ verification_id, outcome }, id) =>
    `mailed user ${id} the code of verification ${verification_id}; ${outcomeInWords(outcome)}`,
  UnprovedWarned: ({ outcome }, id) => `recorded that a warning of the erasure of user ${id} was ${outcome}`,
  EmailVerificationAttempted: ({ verification_id }, id) =>
    `entered a code for verification ${verification_id} of user ${id}`,
  CredentialsVoided: (_, id) =>
    `voided all credentials of user ${id}, because the e-mail address was proved for the first time; ` +
    'the access that the account gave ends',
  EmailChangeRequested: ({ change_id, expires_at }, id) =>
    `asked to change the e-mail address of user ${id} (change ${change_id}, until ${expires_at}); the new address is sealed`,
  EmailChangeMailed: ({ change_id, outcome }, id) =>
    `mailed the code of address change ${change_id} of user ${id}; ${outcomeInWords(outcome)}`,
  EmailChangeAttempted: ({ change_id }, id) => `entered a code for address change ${change_id} of user ${id}`,
  EmailChanged: ({ change_id, revert }, id) =>
    `changed the e-mail address of user ${id} (change ${change_id}); the new address is sealed` +
    (revert === null ? '' : `, and the former one can undo the change until ${revert.until}`),
  EmailChangeReverted: ({ change_id, voided }, id) =>
    `undid address change ${change_id} of user ${id} and voided: ${listInWords(voided)}; the address is sealed`,
  FormerAddressLapsed: ({ change_id }, id) =>
    `ended the time in which address change ${change_id} of user ${id} could be undone`,

  PasswordChanged: ({ kept_session_id: kept }, id) =>
    `changed the password of user ${id} (sealed hash) and ended all sessions${kept === null ? '' : ` except ${kept}`}`,
  PasswordRehashed: (_, id) => `stored the same password of user ${id} with a newer hash (sealed)`,
  SessionsRevoked: (_, id) => `ended all sessions of user ${id}`,

  TotpEnrolled: ({ enrolment_id }, id) =>
    `began to set up a second factor for user ${id} (enrolment ${enrolment_id}); the secret is sealed`,
  TotpConfirmed: ({ enrolment_id }, id) =>
    `turned the second factor of user ${id} on (enrolment ${enrolment_id})`,
  TotpStepUsed: ({ step }, id) => `used the second factor of user ${id} (time step ${step})`,
  TotpRemoved: (_, id) => `turned the second factor of user ${id} off`,
  RecoveryCodesIssued: ({ digests }, id) =>
    `gave user ${id} ${digests.length} recovery codes, of which only digests are stored`,
  RecoveryCodeUsed: (_, id) => `used a recovery code of user ${id}`,

  UserBanned: (_, id) => `banned user ${id} and ended all sessions`,
  UserUnbanned: (_, id) => `ended the ban of user ${id}`,
  GuessingLimitReached: ({ secret }, id) =>
    `reached the limit of wrong attempts at ${secrets[secret]} of user ${id}`,

  PasskeyRegistered: ({ passkey_id, synced }, id) =>
    `registered the passkey ${passkey_id} of user ${id}${synced ? ', which may be copied to other devices' : ''}; ` +
    'its name and its public key are sealed',
  PasskeyUsed: ({ passkey_id, counter }, id) =>
    `used the passkey ${passkey_id} of user ${id} (counter ${counter})`,
  PasskeyCounterRegressed: ({ passkey_id, counter }, id) =>
    `presented the passkey ${passkey_id} of user ${id} with a counter that did not rise (${counter}), and was refused`,
  PasskeyRenamed: ({ passkey_id }, id) => `renamed the passkey ${passkey_id} of user ${id} (sealed name)`,
  PasskeyRemoved: ({ passkey_id }, id) => `removed the passkey ${passkey_id} of user ${id}`,

  UserErased: (_, id) => `erased user ${id}; the destruction of the key of the sealed personal data follows`,
};
