import type { Aggregate } from '../../event-sourcing/decider.js';
import type { Sealed } from '../../event-sourcing/sealed.js';
import type { GrantSource } from '../fields.js';
import { sessionHolds } from '../session-epoch.js';
import { decideEmailChange, type EmailChangeCommand } from './email-change.js';
import { type PlatformRole, userCodec, type UserEvent } from './events.js';
import { rejectUser } from './rejections.js';
import { evolve, type RegisteredUser, type UserState } from './state.js';
import { userCategory } from './stream.js';
import { decideTotp, type TotpCommand } from './totp.js';

export type { RegisteredUser, UserState } from './state.js';

export type UserCommand =
  | {
      readonly type: 'Register';
      readonly email: Sealed;
      readonly emailDigest: string;
      readonly nickname: Sealed;
      readonly passwordHash: Sealed;
      readonly capacityBytes: number;
    }
  | { readonly type: 'AbandonRegistration' }
  /** Kept per source, all of which add up. */
  | { readonly type: 'GrantCapacity'; readonly source: GrantSource; readonly bytes: number }
  | { readonly type: 'RevokeCapacity'; readonly source: GrantSource }
  | { readonly type: 'GrantPlatformRole'; readonly role: PlatformRole }
  | { readonly type: 'RevokePlatformRole'; readonly role: PlatformRole }
  | { readonly type: 'ChangeProfile'; /** Undefined: it stays. */ readonly nickname: Sealed | undefined }
  /** On an operator's word. */
  | { readonly type: 'VerifyEmail'; readonly emailDigest: string }
  /** By a mailed code. The first proof voids what was set up without one. */
  | { readonly type: 'ProveEmail'; readonly emailDigest: string }
  | {
      readonly type: 'ChangePassword';
      readonly passwordHash: Sealed;
      /** The hash that the current password was checked against; null where another proof stands in for it. */
      readonly checkedAgainst: Sealed | null;
      /** The session that asks, and the only one that stays. */
      readonly session: { readonly id: string; readonly epoch: number };
    }
  | { readonly type: 'RehashPassword'; readonly passwordHash: Sealed; readonly checkedAgainst: Sealed }
  | { readonly type: 'RevokeSessions' }
  | { readonly type: 'Erase' }
  | EmailChangeCommand
  | TotpCommand;

const initialState: UserState = { status: 'absent' };
const registration: GrantSource = 'registration';

function decide(command: UserCommand, state: UserState): readonly UserEvent[] {
  switch (command.type) {
    case 'Register':
      return register(command, state);
    case 'AbandonRegistration':
      return abandonRegistration(state);
    case 'GrantCapacity': {
      const { source, bytes } = command;
      if (registered(state).capacity.get(source) === bytes) return [];
      return [{ type: 'CapacityGranted', data: { source, bytes } }];
    }
    case 'RevokeCapacity':
      if (!registered(state).capacity.has(command.source)) return [];
      return [{ type: 'CapacityRevoked', data: { source: command.source } }];
    case 'GrantPlatformRole':
      return grantPlatformRole(command.role, registered(state));
    case 'RevokePlatformRole':
      if (!registered(state).platformRoles.has(command.role)) return [];
      return [{ type: 'PlatformRoleRevoked', data: { role: command.role } }];
    case 'ChangeProfile':
      return changeProfile(command.nickname, registered(state));
    case 'VerifyEmail':
      return verifyEmail(command.emailDigest, registered(state));
    case 'ProveEmail': {
      const verified = verifyEmail(command.emailDigest, registered(state));
      return verified.length === 0 ? [] : [...verified, { type: 'CredentialsVoided', data: {} }];
    }
    case 'ChangePassword':
      return changePassword(command, registered(state));
    case 'RehashPassword':
      // A password that was changed meanwhile has been hashed anew anyway.
      if (registered(state).passwordHash !== command.checkedAgainst) return [];
      return [{ type: 'PasswordRehashed', data: { password_hash: command.passwordHash } }];
    case 'RevokeSessions':
      registered(state);
      return [{ type: 'SessionsRevoked', data: {} }];
    case 'Erase':
      if (state.status === 'erased') return [];
      registered(state);
      return [{ type: 'UserErased', data: {} }];
    case 'RequestEmailChange':
    case 'MarkEmailChangeMailed':
    case 'AttemptEmailChange':
    case 'CompleteEmailChange':
      return decideEmailChange(command, registered(state));
    case 'EnrolTotp':
    case 'ConfirmTotp':
    case 'PassSecondFactor':
    case 'ReplaceRecoveryCodes':
    case 'RemoveTotp':
      return decideTotp(command, registered(state));
  }
}

/** Only where the address is proved: else whoever registered it first would have what is meant for the person it belongs to. */
function grantPlatformRole(role: PlatformRole, user: RegisteredUser): readonly UserEvent[] {
  if (user.platformRoles.has(role)) return [];
  if (!user.emailVerified) {
    return rejectUser(
      'address_not_proved',
      'nobody has proved this address; have its owner sign in by a code mailed there, or run `stowage user verify <email>` first',
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
            email_digest: command.emailDigest,
            nickname: command.nickname,
            password_hash: command.passwordHash,
          },
        },
        { type: 'CapacityGranted', data: { source: registration, bytes: command.capacityBytes } },
      ];
    case 'abandoned':
      return rejectUser('registration_abandoned', 'the registration took too long and was given up');
    case 'registered':
      // A user's id is made from its registration, so a registered user is what an earlier try has made.
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

function verifyEmail(emailDigest: string, user: RegisteredUser): readonly UserEvent[] {
  if (user.emailDigest !== emailDigest) rejectUser('address_changed', 'the user has another address now');
  return user.emailVerified ? [] : [{ type: 'EmailVerified', data: { email_digest: emailDigest } }];
}

function changePassword(
  { passwordHash, checkedAgainst, session }: Extract<UserCommand, { type: 'ChangePassword' }>,
  user: RegisteredUser,
): readonly UserEvent[] {
  if (!sessionHolds(user, session)) rejectUser('session_ended', 'the session has ended');
  if (checkedAgainst !== null && checkedAgainst !== user.passwordHash) {
    rejectUser('password_changed', 'the password has been changed meanwhile');
  }
  return [{ type: 'PasswordChanged', data: { password_hash: passwordHash, kept_session_id: session.id } }];
}

function registered(state: UserState): RegisteredUser {
  return state.status === 'registered' ? state : rejectUser('user_not_found', 'there is no such user');
}

/**
 * Whether a reservation of this address by this user counts, which was made for that change of address (null: for their
 * registration): it is their address, or the change is the one they have asked for last (DESIGN 3, Unique address). What
 * does not count now will not come to: a change that was replaced is never asked for again.
 */
export function holdsAddress(state: UserState, emailDigest: string, changeId: string | null): boolean {
  if (state.status !== 'registered') return false;
  if (state.emailDigest === emailDigest) return true;
  return changeId !== null && state.emailChange?.changeId === changeId;
}

/** Whether this is the address that the user signs in by. */
export function hasAddress(state: UserState, emailDigest: string): state is RegisteredUser {
  return state.status === 'registered' && state.emailDigest === emailDigest;
}

export const userAggregate: Aggregate<UserState, UserCommand, UserEvent> = {
  category: userCategory,
  codec: userCodec,
  followsStoreTime: true,
  decider: { initialState, decide, evolve },
};
