import type { Aggregate } from '../../../../event-sourcing/deciding/command-handler.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import type { GrantSource, MailOutcome } from '../../../../validation/fields.js';
import { sessionHolds } from '../guard.js';
import { decideEmailChange, type EmailChangeCommand } from './email-change.js';
import {
  decideEmailVerification,
  type EmailVerificationCommand,
  type VerificationIssue,
  verificationRequested,
} from './email-verification.js';
import { type GuessedSecret, type PlatformRole, userCodec, type UserEvent, userCategory } from './events.js';
import { decidePasskey, type PasskeyCommand, passkeyRemoved } from '../factors/passkeys.js';
import { rejectUser } from './rejections.js';
import { formerAddress } from './former-addresses.js';
import { decideRevert, type RevertCommand } from './revert.js';
import { evolve, type RegisteredUser, type UserState } from './state.js';
import { decideTotp, type TotpCommand, totpRemoved } from '../factors/totp.js';

export type { RegisteredUser, UserState } from './state.js';

/** The decisions of operators on an account. */
type OperatedCommand =
  /** Removes all second factors, because their owner has lost them. */
  { readonly type: 'ResetSecondFactor' } | { readonly type: 'Ban' } | { readonly type: 'Unban' };

type ErasureCommand =
  | { readonly type: 'Erase' }
  /** The mail that warns of the erasure was accepted or refused. */
  | { readonly type: 'MarkUnprovedWarned'; readonly outcome: MailOutcome }
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
  /** An operator vouches for the address. */
  | { readonly type: 'VerifyEmail'; readonly email_digest: string }
  /** A sign-in by a mailed code proves the address. The first proof voids all that the account held before. */
  | { readonly type: 'ProveEmail'; readonly email_digest: string }
  | {
      readonly type: 'ChangePassword';
      readonly password_hash: Sealed;
      /** The hash that the caller checked the current password against; null if another proof replaces it. */
      readonly checkedAgainst: Sealed | null;
      /** The caller's session, the only one that stays. */
      readonly session: { readonly id: string; readonly epoch: number };
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
export const guessedEveryMs = 86_400_000;
const registration: GrantSource = 'registration';

function decide(command: UserCommand, state: UserState): readonly UserEvent[] {
  switch (command.type) {
    case 'Register':
      return register(command, state);
    case 'AbandonRegistration':
      return abandonRegistration(state);
    case 'GrantCapacity': {
      const { source, bytes } = command;
      const granted = registered(state).capacity.find((grant) => grant.source === source);
      if (granted?.bytes === bytes) return [];
      return [{ type: 'CapacityGranted', data: { source, bytes } }];
    }
    case 'RevokeCapacity':
      if (!hasCapacityFrom(registered(state), command.source)) return [];
      return [{ type: 'CapacityRevoked', data: { source: command.source } }];
    case 'GrantPlatformRole':
      return grantPlatformRole(command.role, registered(state));
    case 'RevokePlatformRole':
      if (!registered(state).platform_roles.includes(command.role)) return [];
      return [{ type: 'PlatformRoleRevoked', data: { role: command.role } }];
    case 'ChangeProfile':
      return changeProfile(command.nickname, registered(state));
    case 'VerifyEmail':
      return verifyEmail(command.email_digest, registered(state));
    case 'ProveEmail': {
      const verified = verifyEmail(command.email_digest, registered(state));
      return verified.length === 0 ? [] : [...verified, { type: 'CredentialsVoided', data: {} }];
    }
    case 'ChangePassword':
      return changePassword(command, registered(state));
    case 'RehashPassword':
      // The hash of a changed password is new already.
      if (registered(state).password_hash !== command.checkedAgainst) return [];
      return [{ type: 'PasswordRehashed', data: { password_hash: command.password_hash } }];
    case 'RevokeSessions':
      registered(state);
      return [{ type: 'SessionsRevoked', data: {} }];
    case 'ResetSecondFactor':
    case 'Ban':
    case 'Unban':
      return decideOperated(command, registered(state));
    case 'RecordGuessing':
      return recordGuessing(command, state);
    case 'Erase':
    case 'EraseUnproved':
    case 'MarkUnprovedWarned':
      return decideErasure(command, state);
    case 'RequestEmailVerification':
    case 'MarkEmailVerificationMailed':
    case 'AttemptEmailVerification':
    case 'ProveEmailInSession':
      return decideEmailVerification(command, registered(state));
    case 'RequestEmailChange':
    case 'MarkEmailChangeMailed':
    case 'AttemptEmailChange':
    case 'CompleteEmailChange':
      return decideEmailChange(command, registered(state));
    case 'RevertEmailChange':
    case 'LapseFormerAddress':
      return decideRevert(command, registered(state));
    case 'EnrolTotp':
    case 'ConfirmTotp':
    case 'PassSecondFactor':
    case 'ReplaceRecoveryCodes':
    case 'RemoveTotp':
      return decideTotp(command, registered(state));
    case 'RegisterPasskey':
    case 'UsePasskey':
    case 'RenamePasskey':
    case 'RemovePasskey':
      return decidePasskey(command, registered(state));
  }
}

function decideOperated({ type }: OperatedCommand, user: RegisteredUser): readonly UserEvent[] {
  const { totp, passkeys, banned } = user;
  switch (type) {
    case 'ResetSecondFactor':
      return [
        ...passkeys.map(({ passkey_id }) => passkeyRemoved(passkey_id)),
        ...(totp.status === 'on' ? [totpRemoved({ passkeys: [] })] : []),
      ];
    case 'Ban':
      return banned ? [] : [{ type: 'UserBanned', data: {} }];
    case 'Unban':
      return banned ? [{ type: 'UserUnbanned', data: {} }] : [];
  }
}

function decideErasure(command: ErasureCommand, state: UserState): readonly UserEvent[] {
  if (state.status === 'erased') return [];
  if (command.type === 'Erase') {
    registered(state);
    return [{ type: 'UserErased', data: {} }];
  }
  if (state.status !== 'registered' || state.email_verified || state.banned) return [];
  if (command.type === 'EraseUnproved') return [{ type: 'UserErased', data: {} }];
  return state.warning === null ? [{ type: 'UnprovedWarned', data: { outcome: command.outcome } }] : [];
}

function recordGuessing(
  { secret, now }: Extract<UserCommand, { type: 'RecordGuessing' }>,
  state: UserState,
): readonly UserEvent[] {
  if (state.status !== 'registered') return [];
  const { guessedAt } = state;
  if (guessedAt !== null && now.getTime() - guessedAt.getTime() < guessedEveryMs) return [];
  return [{ type: 'GuessingLimitReached', data: { secret } }];
}

/** Requires a verified address. Otherwise a stranger who registered the address first would get the role. */
function grantPlatformRole(role: PlatformRole, user: RegisteredUser): readonly UserEvent[] {
  if (user.platform_roles.includes(role)) return [];
  if (!user.email_verified) {
    return rejectUser(
      'address_not_proved',
      'the address of the account is not proved: its owner confirms the code that was mailed there, or run `stowage user verify <email>`',
    );
  }
  return [{ type: 'PlatformRoleGranted', data: { role } }];
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

function abandonRegistration(state: UserState): readonly UserEvent[] {
  switch (state.status) {
    case 'absent':
      return [{ type: 'RegistrationAbandoned', data: {} }];
    case 'abandoned':
      return [];
    case 'registered':
    case 'erased':
      return rejectUser('already_registered', 'the user has registered and cannot be given up');
  }
}

function changeProfile(nickname: Sealed | undefined, user: RegisteredUser): readonly UserEvent[] {
  return nickname === undefined || nickname === user.nickname
    ? []
    : [{ type: 'ProfileChanged', data: { nickname } }];
}

function verifyEmail(email_digest: string, user: RegisteredUser): readonly UserEvent[] {
  if (user.email_digest !== email_digest) rejectUser('address_changed', 'the user has another address now');
  return user.email_verified ? [] : [{ type: 'EmailVerified', data: { email_digest } }];
}

function changePassword(
  { password_hash, checkedAgainst, session }: Extract<UserCommand, { type: 'ChangePassword' }>,
  user: RegisteredUser,
): readonly UserEvent[] {
  if (!sessionHolds(user, session)) rejectUser('session_ended', 'the session has ended');
  if (checkedAgainst !== null && checkedAgainst !== user.password_hash) {
    rejectUser('password_changed', 'the password has been changed meanwhile');
  }
  return [{ type: 'PasswordChanged', data: { password_hash, kept_session_id: session.id } }];
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

export const userAggregate: Aggregate<UserState, UserCommand, UserEvent> = {
  category: userCategory,
  codec: userCodec,
  decider: { initialState, decide, evolve },
};
