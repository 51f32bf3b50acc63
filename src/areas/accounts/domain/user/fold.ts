import { changeBy, type ChangesBy } from '../../../../event-sourcing/ports/events.js';
import type { Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import { mailedCode } from '../../../../security/guessing/mailed-code.js';
import type { GrantSource, MailOutcome } from '../../../../validation/fields.js';
import { type Credentials, credentialsAfter, newCredentials } from '../factors/credentials.js';
import type { SessionEpoch } from '../guard.js';
import type { PlatformRole, UserEvent } from './events.js';
import type { AddressHistory, FormerAddress } from './former-addresses.js';
import { noNotices, noticesAfter, type SecurityNotices } from './security-notices.js';

/** The fields that the aggregate and the view both fold, spelled as in the events. They contain no credentials. */
export type UserFields = SessionEpoch & {
  readonly email: Sealed;
  readonly email_digest: string;
  readonly email_verified: boolean;
  readonly nickname: Sealed;
  /** One entry per source. */
  readonly capacity: readonly { readonly source: GrantSource; readonly bytes: number }[];
  readonly platform_roles: readonly PlatformRole[];
  /** Whether an operator has banned the account: no session of it is valid. */
  readonly banned: boolean;
};

export function newUser(registered: Pick<UserFields, 'email' | 'email_digest' | 'nickname'>): UserFields {
  const { email, email_digest, nickname } = registered;
  return {
    ...{ email, email_digest, email_verified: false, nickname },
    ...{ capacity: [], platform_roles: [], banned: false, epoch: 0, kept_session_id: null },
  };
}

const fieldChanges: ChangesBy<UserEvent, UserFields, Partial<UserFields>> = {
  CapacityGranted: (event, { capacity }) => ({
    capacity: [...withoutSource(capacity, event.data.source), event.data],
  }),
  CapacityRevoked: (event, { capacity }) => ({ capacity: withoutSource(capacity, event.data.source) }),
  PlatformRoleGranted: (event, { platform_roles }) => ({
    platform_roles: [...withoutRole(platform_roles, event.data.role), event.data.role],
  }),
  PlatformRoleRevoked: (event, { platform_roles }) => ({
    platform_roles: withoutRole(platform_roles, event.data.role),
  }),
  ProfileChanged: (event) => ({ nickname: event.data.nickname }),
  // A proof of an earlier address does not verify the present one.
  EmailVerified: (event, { email_digest }) =>
    event.data.email_digest === email_digest ? { email_verified: true } : {},
  EmailChanged: (event) => ({
    email: event.data.email,
    email_digest: event.data.email_digest,
    email_verified: true,
  }),
  EmailChangeReverted: (event, { epoch }) => {
    const { email, email_digest: digest, email_verified } = event.data;
    return { email, email_digest: digest, email_verified, epoch: epoch + 1, kept_session_id: null };
  },
  PasswordChanged: (event, { epoch }) => ({ epoch: epoch + 1, kept_session_id: event.data.kept_session_id }),
  CredentialsVoided: (_, { epoch }) => ({ epoch: epoch + 1, kept_session_id: null }),
  SessionsRevoked: (_, { epoch }) => ({ epoch: epoch + 1, kept_session_id: null }),
  UserBanned: (_, { epoch }) => ({ banned: true, epoch: epoch + 1, kept_session_id: null }),
  UserUnbanned: () => ({ banned: false }),
};

/** Returns the fields that the event changes. */
export function applyEvent(before: UserFields, event: UserEvent): Partial<UserFields> {
  return changeBy(fieldChanges, event, before) ?? {};
}

function withoutSource(capacity: UserFields['capacity'], source: GrantSource): UserFields['capacity'] {
  return capacity.filter((grant) => grant.source !== source);
}

function withoutRole(roles: readonly PlatformRole[], role: PlatformRole): readonly PlatformRole[] {
  return roles.filter((held) => held !== role);
}

export type UserState =
  | { readonly status: 'absent' }
  | { readonly status: 'abandoned' }
  | RegisteredUser
  | {
      readonly status: 'erased';
      readonly email_digest: string;
      /** Digests of the former addresses that were still reserved. */
      readonly formerDigests: readonly string[];
      /** Digests of the present address and the former ones that the account had proved. */
      readonly provedDigests: readonly string[];
      /** The store's recorded time. */
      readonly erasedAt: Date;
    };

export interface RegisteredUser extends UserFields, AddressHistory, Credentials {
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
  /** The store's recorded time of the CredentialsVoided that ended the given access; null without one. */
  readonly voidedAt: Date | null;
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

export function evolve(state: UserState, event: Evolving<UserEvent>): UserState {
  if (event.type === 'UserRegistered') {
    return {
      status: 'registered',
      ...newUser(event.data),
      ...newCredentials(event.data.password_hash, event.recordedAt),
      ...{ verification: null, verificationsAskedAt: [], verificationMailedAt: null, warning: null },
      ...{ emailChange: null, emailChangesAsked: [], formerAddresses: [], lastRevert: null },
      ...{ voidedAt: null, notices: noNotices, guessedAt: null },
    };
  }
  if (event.type === 'RegistrationAbandoned') return { status: 'abandoned' };
  if (state.status !== 'registered') return state;
  if (event.type === 'UserErased') {
    const { email_digest, email_verified: verified, formerAddresses } = state;
    const formerDigests = formerAddresses.map((one) => one.email_digest);
    const proved = [{ email_digest, verified }, ...formerAddresses].filter((one) => one.verified);
    const provedDigests = proved.map((one) => one.email_digest);
    return { status: 'erased', email_digest, formerDigests, provedDigests, erasedAt: event.recordedAt };
  }
  return {
    ...state,
    ...applyEvent(state, event),
    ...credentialsAfter(state, event),
    ...changeBy(changes, event, state),
    notices: noticesAfter(state, event),
  };
}

/** The events after which access to projects that the account gave ends. */
export const endingGivenAccess = ['CredentialsVoided', 'UserBanned'] as const satisfies UserEvent['type'][];

/** The events after which the account has proved the address that their data names. */
export const provingAddress = ['EmailVerified', 'EmailChanged', 'EmailChangeReverted'] as const;

const changes: ChangesBy<Evolving<UserEvent>, RegisteredUser, Partial<RegisteredUser>> = {
  // A pending change of address may lead to the stranger's mailbox.
  CredentialsVoided: (event) => ({ voidedAt: event.recordedAt, emailChange: null }),
  EmailVerificationRequested: (event, state) => ({
    verification: { ...event.data, ...untried },
    verificationsAskedAt: [...state.verificationsAskedAt, event.recordedAt].slice(-mailedCode.codesPerHour),
  }),
  EmailVerificationMailed: (event, { verification }) => ({
    verification: codeAfter(verification, 'verification_id', event.data, isMailed),
    ...(event.data.outcome === 'accepted' && { verificationMailedAt: event.recordedAt }),
  }),
  EmailVerificationAttempted: (event, { verification }) => ({
    verification: codeAfter(verification, 'verification_id', event.data, isAttempted),
  }),
  UnprovedWarned: (event) => ({ warning: { outcome: event.data.outcome, at: event.recordedAt } }),
  EmailChangeRequested: (event, state) => ({
    emailChange: { ...event.data, ...untried },
    emailChangesAsked: [
      ...state.emailChangesAsked,
      { change_id: event.data.change_id, askedAt: event.recordedAt },
    ].slice(-mailedCode.codesPerHour),
  }),
  EmailChangeMailed: (event, { emailChange }) => ({
    emailChange: codeAfter(emailChange, 'change_id', event.data, isMailed),
  }),
  EmailChangeAttempted: (event, { emailChange }) => ({
    emailChange: codeAfter(emailChange, 'change_id', event.data, isAttempted),
  }),
  EmailChanged: (event, state) => ({
    ...{ emailChange: null, lastRevert: null },
    formerAddresses: formerAfter(state, event),
  }),
  EmailChangeReverted: ({ data }, { formerAddresses }) => {
    const undone = formerAddresses.findIndex(({ change_id }) => change_id === data.change_id);
    return {
      ...{ emailChange: null, lastRevert: formerAddresses[undone] ?? null },
      formerAddresses: undone < 0 ? formerAddresses : formerAddresses.slice(0, undone),
    };
  },
  FormerAddressLapsed: ({ data }, { formerAddresses }) => ({
    formerAddresses: formerAddresses.filter(({ change_id }) => change_id !== data.change_id),
  }),
  GuessingLimitReached: (event) => ({ guessedAt: event.recordedAt }),
};

const isMailed = () => ({ mailed: true });
const isAttempted = ({ attempts }: Tried) => ({ attempts: attempts + 1 });

/** Returns a mailed code after an event of the code with this id. An event of an older code changes nothing. */
function codeAfter<Key extends string, Code extends Tried & Readonly<Record<Key, string>>>(
  code: Code | null,
  key: Key,
  data: Readonly<Record<NoInfer<Key>, string>>,
  change: (code: Tried) => Partial<Tried>,
): Code | null {
  return code?.[key] === data[key] ? { ...code, ...change(code) } : code;
}

/** Returns the former addresses after a change of address. A return to one of them ends it and all later ones. */
function formerAfter(
  { formerAddresses, email, email_digest, email_verified: verified }: RegisteredUser,
  { data, recordedAt: changedAt }: Evolving<Extract<UserEvent, { type: 'EmailChanged' }>>,
): readonly FormerAddress[] {
  const returned = formerAddresses.findIndex((former) => former.email_digest === data.email_digest);
  const kept = returned < 0 ? formerAddresses : formerAddresses.slice(0, returned);
  if (data.revert === null) return kept;
  const { code_key_id, until } = data.revert;
  const left = { change_id: data.change_id, email, email_digest, verified, changedAt };
  return [...kept, { ...left, code_key_id, until: new Date(until) }];
}
