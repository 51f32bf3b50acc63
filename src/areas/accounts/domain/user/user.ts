import { isRecent } from '../../../../kit/time/clock.js';
import { decideBy, defineAggregate, narrowed } from '../../../../event-sourcing/deciding/command-handler.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import type { GrantSource, MailOutcome } from '../../../../validation/fields.js';
import { type RequestSession, requireSession } from '../guard.js';
import { emailChangeDecisions, type EmailChangeCommand } from './email-change.js';
import {
  emailVerificationDecisions,
  type EmailVerificationCommand,
  type VerificationIssue,
  verificationRequested,
} from './email-verification.js';
import { type GuessedSecret, type PlatformRole, type UserEvent, userEvents } from './events.js';
import { passkeyDecisions, type PasskeyCommand, passkeyRemoved } from '../factors/passkeys.js';
import { rejectUser } from './rejections.js';
import { formerAddress } from './former-addresses.js';
import { revertDecisions, type RevertCommand } from './revert.js';
import { evolve, type RegisteredUser, type UserState } from './fold.js';
import { totpDecisions, type TotpCommand, totpRemoved } from '../factors/totp.js';

export type { RegisteredUser, UserState } from './fold.js';

/** The decisions of operators on an account. */
type OperatedCommand =
  /** Removes all second factors and ends all sessions, because the owner has lost the factors. */
  { readonly type: 'ResetSecondFactor' } | { readonly type: 'Ban' } | { readonly type: 'Unban' };

type ErasureCommand =
  | { readonly type: 'Erase' }
  /** The mail that warns of the erasure was accepted or refused. */
  | {
      readonly type: 'MarkUnprovedWarned';
      /** The time of the warning that this one follows; null: it is the first. */
      readonly after: Date | null;
      readonly outcome: MailOutcome;
    }
  /** Erases an account whose address was never proved and that is not banned; does nothing to any other. */
  | { readonly type: 'EraseUnproved' };

export type UserCommand =
  | {
      readonly type: 'Register';
      readonly email: Sealed;
      readonly email_digest: string;
      readonly nickname: Sealed;
      readonly password_hash: Sealed;
      readonly capacityBytes: number;
      /** The code that is mailed to the address; undefined where none is. */
      readonly verification?: VerificationIssue | undefined;
    }
  | { readonly type: 'AbandonRegistration' }
  /** Each source has one grant, and the grants add up. */
  | { readonly type: 'GrantCapacity'; readonly source: GrantSource; readonly bytes: number }
  | { readonly type: 'RevokeCapacity'; readonly source: GrantSource }
  | { readonly type: 'GrantPlatformRole'; readonly role: PlatformRole }
  | { readonly type: 'RevokePlatformRole'; readonly role: PlatformRole }
  | { readonly type: 'ChangeProfile'; /** Undefined: it stays. */ readonly nickname: Sealed | undefined }
  | {
      readonly type: 'ChangePassword';
      readonly password_hash: Sealed;
      /** The hash that the caller checked the current password against; null if another proof replaces it. */
      readonly checkedAgainst: Sealed | null;
      /** The caller's session, the only one that stays. */
      readonly session: RequestSession;
    }
  | { readonly type: 'RehashPassword'; readonly password_hash: Sealed; readonly checkedAgainst: Sealed }
  | { readonly type: 'RevokeSessions' }
  /** Wrong attempts have reached their limit. */
  | { readonly type: 'RecordGuessing'; readonly secret: GuessedSecret; readonly now: Date }
  | OperatedCommand
  | ErasureCommand
  | EmailVerificationCommand
  | EmailChangeCommand
  | PasskeyCommand
  | RevertCommand
  | TotpCommand;

const initialState: UserState = { status: 'absent' };
/** At most one `GuessingLimitReached` is appended in this time, in ms: docs/architecture.md#what-is-not-an-event. */
const guessedEveryMs = 86_400_000;
const registration: GrantSource = 'registration';

/** The commands on a registered user. */
type RegisteredCommand = Exclude<
  UserCommand,
  ErasureCommand | { type: 'Register' | 'AbandonRegistration' | 'RecordGuessing' }
>;

const decideRegistered = narrowed<RegisteredCommand, UserState, RegisteredUser, UserEvent>(
  {
    GrantCapacity: ({ source, bytes }, { capacity }) => {
      const granted = capacity.find((grant) => grant.source === source);
      return granted?.bytes === bytes ? [] : [{ type: 'CapacityGranted', data: { source, bytes } }];
    },
    RevokeCapacity: ({ source }, user) =>
      hasCapacityFrom(user, source) ? [{ type: 'CapacityRevoked', data: { source } }] : [],
    /** Requires a verified address. Otherwise a stranger who registered the address first would get the role. */
    GrantPlatformRole: ({ role }, { platform_roles, email_verified }) => {
      if (platform_roles.includes(role)) return [];
      if (!email_verified) {
        return rejectUser(
          'address_not_proved',
          'the address of the account is not proved: its owner confirms the code that was mailed there, or run `stowage user verify <email>`',
        );
      }
      return [{ type: 'PlatformRoleGranted', data: { role } }];
    },
    RevokePlatformRole: ({ role }, { platform_roles }) =>
      platform_roles.includes(role) ? [{ type: 'PlatformRoleRevoked', data: { role } }] : [],
    ChangeProfile: ({ nickname }, user) =>
      nickname === undefined || nickname === user.nickname
        ? []
        : [{ type: 'ProfileChanged', data: { nickname } }],
    ChangePassword: ({ password_hash, checkedAgainst, session }, user) => {
      requireSession(user, session);
      if (checkedAgainst !== null && checkedAgainst !== user.password_hash)
        rejectUser('password_changed', 'the password has been changed meanwhile');
      return [{ type: 'PasswordChanged', data: { password_hash, kept_session_id: session.id } }];
    },
    // The hash of a changed password is new already.
    RehashPassword: ({ password_hash, checkedAgainst }, user) =>
      user.password_hash === checkedAgainst ? [{ type: 'PasswordRehashed', data: { password_hash } }] : [],
    RevokeSessions: () => [{ type: 'SessionsRevoked', data: {} }],
    ResetSecondFactor: (_, { totp, passkeys }) => {
      const removed = [
        ...passkeys.map(({ passkey_id }) => passkeyRemoved(passkey_id)),
        ...(totp.status === 'on' ? [totpRemoved({ passkeys: [] })] : []),
      ];
      // The sessions may be those of a thief of the factors.
      return removed.length === 0 ? [] : [...removed, { type: 'SessionsRevoked', data: {} }];
    },
    Ban: (_, { banned }) => (banned ? [] : [{ type: 'UserBanned', data: {} }]),
    Unban: (_, { banned }) => (banned ? [{ type: 'UserUnbanned', data: {} }] : []),
    ...emailVerificationDecisions,
    ...emailChangeDecisions,
    ...revertDecisions,
    ...totpDecisions,
    ...passkeyDecisions,
  },
  registered,
);

const decide = decideBy<UserCommand, UserState, UserEvent>({
  Register: register,
  AbandonRegistration: (_, { status }) => {
    if (status === 'absent') return [{ type: 'RegistrationAbandoned', data: {} }];
    if (status === 'abandoned') return [];
    return rejectUser('already_registered', 'the user has registered and cannot be given up');
  },
  RecordGuessing: ({ secret, now }, state) => {
    if (state.status !== 'registered') return [];
    const { guessedAt } = state;
    // One that is further ahead is of a clock that was set back since.
    if (guessedAt !== null && isRecent(guessedAt, guessedEveryMs, now)) return [];
    return [{ type: 'GuessingLimitReached', data: { secret } }];
  },
  Erase: (_, state) => {
    if (state.status === 'erased') return [];
    registered(state);
    return [{ type: 'UserErased', data: {} }];
  },
  EraseUnproved: (_, state) => (isUnproved(state) ? [{ type: 'UserErased', data: {} }] : []),
  MarkUnprovedWarned: ({ after, outcome }, state) =>
    isUnproved(state) && state.warning?.at.getTime() === after?.getTime()
      ? [{ type: 'UnprovedWarned', data: { outcome } }]
      : [],
  ...decideRegistered,
});

function isUnproved(state: UserState): state is RegisteredUser {
  return state.status === 'registered' && !state.email_verified && !state.banned;
}

function register(
  command: Extract<UserCommand, { type: 'Register' }>,
  state: UserState,
): readonly UserEvent[] {
  switch (state.status) {
    case 'absent':
      return [
        {
          type: 'UserRegistered',
          data: {
            email: command.email,
            email_digest: command.email_digest,
            nickname: command.nickname,
            password_hash: command.password_hash,
          },
        },
        { type: 'CapacityGranted', data: { source: registration, bytes: command.capacityBytes } },
        ...(command.verification === undefined
          ? []
          : [verificationRequested(command.email_digest, command.verification)]),
      ];
    case 'abandoned':
      return rejectUser('registration_abandoned', 'the registration took too long and was given up');
    case 'registered':
      // The id derives from the registration, so an earlier attempt registered the user.
      return [];
    case 'erased':
      return rejectUser('registration_abandoned', 'the user was erased');
  }
}

function registered(state: UserState): RegisteredUser {
  return state.status === 'registered' ? state : rejectUser('user_not_found', 'there is no such user');
}

export function hasCapacityFrom({ capacity }: RegisteredUser, source: GrantSource): boolean {
  return capacity.some((grant) => grant.source === source);
}

/**
 * Returns whether the user's reservation of this address counts (src/areas/accounts/README.md#unique-address). A former address counts
 * until FormerAddressLapsed, or until a revert or a return to an older address drops it. A reservation for a replaced
 * change never counts again, because that change is never requested again.
 * @param change_id the change that the reservation was made for; null: the registration
 */
export function holdsAddress(state: UserState, email_digest: string, change_id: string | null): boolean {
  if (state.status !== 'registered') return false;
  if (state.email_digest === email_digest || formerAddress(state, email_digest) !== null) return true;
  return change_id !== null && state.emailChange?.change_id === change_id;
}

/** Returns whether the user signs in by this address. */
export function hasAddress(state: UserState, email_digest: string): state is RegisteredUser {
  return state.status === 'registered' && state.email_digest === email_digest;
}

export const userAggregate = defineAggregate(userEvents, { initialState, decide, evolve });
