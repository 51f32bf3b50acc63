import { changeBy, type ChangesBy } from '../../../../event-sourcing/ports/events.js';
import type { Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import { type Passkey, passkeysAfter } from '../factors/passkey-state.js';
import type { UserEvent, VoidedCredential } from './events.js';
import { type AddressHistory, formerAfter } from './former-addresses.js';
import { noNotices, noticesAfter, type SecurityNotices } from './security-notices.js';
import { applyEvent, endsRecoveryCodes, newUser, type UserFields } from './fold.js';
import type { MailOutcome } from '../../../../validation/fields.js';
import { mailedCode } from '../../../../security/guessing/mailed-code.js';

export type UserState =
  | { readonly status: 'absent' }
  | { readonly status: 'abandoned' }
  | RegisteredUser
  | {
      readonly status: 'erased';
      readonly email_digest: string;
      /** Digests of the former addresses that were still reserved. */
      readonly formerDigests: readonly string[];
    };

export interface RegisteredUser extends UserFields, AddressHistory {
  readonly status: 'registered';
  /** The last code that was mailed to prove the address; null before the first one. */
  readonly verification: EmailVerification | null;
  /** The store's recorded times of the last of these codes, oldest first. */
  readonly verificationsAskedAt: readonly Date[];
  /** The store's recorded time when the mail server last accepted such a code for the present address; null: never. */
  readonly verificationMailedAt: Date | null;
  /** The outcome of the mail that warns of the erasure, with the store's recorded time; null: it was not sent. */
  readonly warning: { readonly outcome: MailOutcome; readonly at: Date } | null;
  readonly emailChange: EmailChange | null;
  /** The last requested changes of address with the store's recorded times, oldest first. */
  readonly emailChangesAsked: readonly { readonly change_id: string; readonly askedAt: Date }[];
  /** Null: no password signs in; see `CredentialsVoided`. */
  readonly password_hash: Sealed | null;
  /** The store's recorded time of the CredentialsVoided that ended the given access; null without one. */
  readonly voidedAt: Date | null;
  /** The store's recorded time of the registration or of the last PasswordChanged. */
  readonly passwordSetAt: Date;
  readonly totp: Totp;
  /** Keyed digests of the unused codes. */
  readonly recoveryCodes: ReadonlySet<string>;
  /** In order of registration. */
  readonly passkeys: readonly Passkey[];
  /** The store's recorded time; null: none were issued. */
  readonly recoveryCodesIssuedAt: Date | null;
  readonly notices: SecurityNotices;
  /** The store's recorded time of the last GuessingLimitReached. */
  readonly guessedAt: Date | null;
}

/** A mailed code, and what became of it. */
type Tried = { readonly attempts: number; readonly mailed: boolean };
type DataOf<Type extends UserEvent['type']> = Readonly<Extract<UserEvent, { type: Type }>['data']>;
export type EmailVerification = DataOf<'EmailVerificationRequested'> & Tried;
export type EmailChange = DataOf<'EmailChangeRequested'> & Tried;
const untried: Tried = { attempts: 0, mailed: false };

export type Totp =
  | { readonly status: 'off' }
  | { readonly status: 'enrolling'; readonly enrolment_id: string; readonly secret: Sealed }
  | TotpOn;

export interface TotpOn {
  readonly status: 'on';
  readonly enrolment_id: string;
  readonly secret: Sealed;
  /** Codes of this time step and of earlier ones are used up. */
  readonly lastStep: number;
  /** The store's recorded time. */
  readonly confirmedAt: Date;
}

export function evolve(state: UserState, event: Evolving<UserEvent>): UserState {
  if (event.type === 'UserRegistered') {
    return {
      status: 'registered',
      ...newUser(event.data),
      verification: null,
      verificationsAskedAt: [],
      ...{ verificationMailedAt: null, warning: null },
      emailChange: null,
      emailChangesAsked: [],
      formerAddresses: [],
      lastRevert: null,
      password_hash: event.data.password_hash,
      voidedAt: null,
      passwordSetAt: event.recordedAt,
      totp: { status: 'off' },
      recoveryCodes: new Set(),
      passkeys: [],
      recoveryCodesIssuedAt: null,
      notices: noNotices,
      guessedAt: null,
    };
  }
  if (event.type === 'RegistrationAbandoned') return { status: 'abandoned' };
  if (state.status !== 'registered') return state;
  if (event.type === 'UserErased') {
    const formerDigests = state.formerAddresses.map(({ email_digest }) => email_digest);
    return { status: 'erased', email_digest: state.email_digest, formerDigests };
  }
  const notices = noticesAfter(state, event);
  const passkeys = passkeysAfter(state.passkeys, event);
  const after = {
    ...state,
    ...applyEvent(state, event),
    ...changeBy(changes, event, state),
    passkeys,
    notices,
  };
  const isFactorLeft = hasFactor(after);
  return endsRecoveryCodes(event, isFactorLeft) ? { ...after, recoveryCodes: new Set() } : after;
}

/** Returns whether the user has a second factor. */
export function hasFactor({ totp, passkeys }: Pick<RegisteredUser, 'totp' | 'passkeys'>): boolean {
  return totp.status === 'on' || passkeys.length > 0;
}

type Change = Exclude<UserEvent, { type: 'UserRegistered' | 'RegistrationAbandoned' | 'UserErased' }>;

const changes: ChangesBy<Evolving<Change>, RegisteredUser, Partial<RegisteredUser>> = {
  // A pending change of address may lead to the stranger's mailbox.
  CredentialsVoided: (event) => ({
    voidedAt: event.recordedAt,
    password_hash: null,
    ...{ totp: { status: 'off' }, emailChange: null },
  }),
  EmailVerificationRequested: (event, state) => ({
    verification: { ...event.data, ...untried },
    verificationsAskedAt: [...state.verificationsAskedAt, event.recordedAt].slice(-mailedCode.codesPerHour),
  }),
  EmailVerificationMailed: (event, state) => ({
    ...withVerification(state, event.data.verification_id, () => ({ mailed: true })),
    ...(event.data.outcome === 'accepted' && { verificationMailedAt: event.recordedAt }),
  }),
  UnprovedWarned: (event) => ({ warning: { outcome: event.data.outcome, at: event.recordedAt } }),
  EmailVerificationAttempted: (event, state) =>
    withVerification(state, event.data.verification_id, ({ attempts }) => ({ attempts: attempts + 1 })),
  EmailChangeRequested: (event, state) => ({
    emailChange: { ...event.data, ...untried },
    emailChangesAsked: [
      ...state.emailChangesAsked,
      { change_id: event.data.change_id, askedAt: event.recordedAt },
    ].slice(-mailedCode.codesPerHour),
  }),
  EmailChangeMailed: (event, state) => withEmailChange(state, event.data.change_id, () => ({ mailed: true })),
  EmailChangeAttempted: (event, state) =>
    withEmailChange(state, event.data.change_id, ({ attempts }) => ({ attempts: attempts + 1 })),
  EmailChanged: (event, state) => ({ emailChange: null, ...formerAfter(state, event) }),
  EmailChangeReverted: (event, state) => ({
    emailChange: null,
    ...formerAfter(state, event),
    ...withoutVoided(event.data.voided),
  }),
  FormerAddressLapsed: (event, state) => formerAfter(state, event),
  PasswordChanged: (event) => ({ password_hash: event.data.password_hash, passwordSetAt: event.recordedAt }),
  PasswordRehashed: (event) => ({ password_hash: event.data.password_hash }),
  TotpEnrolled: (event) => {
    const { enrolment_id, secret } = event.data;
    return { totp: { status: 'enrolling', enrolment_id, secret } };
  },
  TotpConfirmed: (event, state) =>
    state.totp.status === 'off'
      ? {}
      : { totp: { ...state.totp, status: 'on', lastStep: event.data.step, confirmedAt: event.recordedAt } },
  TotpStepUsed: (event, state) =>
    state.totp.status === 'on' ? { totp: { ...state.totp, lastStep: event.data.step } } : {},
  TotpRemoved: () => ({ totp: { status: 'off' } }),
  RecoveryCodesIssued: (event) => ({
    recoveryCodes: new Set(event.data.digests),
    recoveryCodesIssuedAt: event.recordedAt,
  }),
  RecoveryCodeUsed: (event, state) => {
    const recoveryCodes = new Set(state.recoveryCodes);
    recoveryCodes.delete(event.data.digest);
    return { recoveryCodes };
  },
  GuessingLimitReached: (event) => ({ guessedAt: event.recordedAt }),
};

/** Changes the last mailed code. An event of an older code changes nothing. */
function withVerification(
  { verification }: RegisteredUser,
  verification_id: string,
  change: (current: EmailVerification) => Partial<EmailVerification>,
): Partial<RegisteredUser> {
  if (verification?.verification_id !== verification_id) return {};
  return { verification: { ...verification, ...change(verification) } };
}

function withoutVoided(voided: readonly VoidedCredential[]): Partial<RegisteredUser> {
  return {
    ...(voided.includes('password') && { password_hash: null }),
    ...(voided.includes('totp') && { totp: { status: 'off' } as const }),
  };
}

/** Changes the last requested change. An event of an older change changes nothing. */
function withEmailChange(
  { emailChange }: RegisteredUser,
  change_id: string,
  change: (current: EmailChange) => Partial<EmailChange>,
): Partial<RegisteredUser> {
  if (emailChange?.change_id !== change_id) return {};
  return { emailChange: { ...emailChange, ...change(emailChange) } };
}
