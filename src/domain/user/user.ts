import type { Aggregate } from '../../event-sourcing/decider.js';
import type { Sealed } from '../../event-sourcing/sealed.js';
import type { GrantSource } from '../fields.js';
import { type PlatformRole, userCodec, type UserEvent } from './events.js';
import { rejectUser } from './rejections.js';
import { userCategory } from './stream.js';

export type UserState =
  | { readonly status: 'absent' }
  | { readonly status: 'abandoned' }
  | {
      readonly status: 'registered';
      readonly emailDigest: string;
      /** Sessions of an older epoch are over. */
      readonly sessionEpoch: number;
      readonly platformRoles: ReadonlySet<PlatformRole>;
    };

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
  | { readonly type: 'GrantPlatformRole'; readonly role: PlatformRole }
  | { readonly type: 'RevokePlatformRole'; readonly role: PlatformRole };

const initialState: UserState = { status: 'absent' };

function evolve(state: UserState, event: UserEvent): UserState {
  switch (event.type) {
    case 'UserRegistered':
      return {
        status: 'registered',
        emailDigest: event.data.email_digest,
        sessionEpoch: 0,
        platformRoles: new Set(),
      };
    case 'RegistrationAbandoned':
      return { status: 'abandoned' };
    case 'CapacityGranted':
      return state;
    case 'PlatformRoleGranted':
      return withRoles(state, (roles) => roles.add(event.data.role));
    case 'PlatformRoleRevoked':
      return withRoles(state, (roles) => roles.delete(event.data.role));
  }
}

function withRoles(state: UserState, change: (roles: Set<PlatformRole>) => void): UserState {
  if (state.status !== 'registered') return state;
  const platformRoles = new Set(state.platformRoles);
  change(platformRoles);
  return { ...state, platformRoles };
}

function decide(command: UserCommand, state: UserState): readonly UserEvent[] {
  switch (command.type) {
    case 'Register':
      return register(command, state);
    case 'AbandonRegistration':
      return abandonRegistration(state);
    case 'GrantPlatformRole':
      if (registered(state).platformRoles.has(command.role)) return [];
      return [{ type: 'PlatformRoleGranted', data: { role: command.role } }];
    case 'RevokePlatformRole':
      if (!registered(state).platformRoles.has(command.role)) return [];
      return [{ type: 'PlatformRoleRevoked', data: { role: command.role } }];
  }
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
  }
}

const registration: GrantSource = 'registration';

function abandonRegistration(state: UserState): readonly UserEvent[] {
  switch (state.status) {
    case 'absent':
      return [{ type: 'RegistrationAbandoned', data: {} }];
    case 'abandoned':
      return [];
    case 'registered':
      return rejectUser('already_registered', 'the user has registered and cannot be given up');
  }
}

function registered(state: UserState): Extract<UserState, { status: 'registered' }> {
  return state.status === 'registered' ? state : rejectUser('user_not_found', 'there is no such user');
}

/** Whether a reservation of this address by this user counts (DESIGN 3, Unique address). */
export function holdsAddress(state: UserState, emailDigest: string): boolean {
  return state.status === 'registered' && state.emailDigest === emailDigest;
}

export const userAggregate: Aggregate<UserState, UserCommand, UserEvent> = {
  category: userCategory,
  codec: userCodec,
  decider: { initialState, decide, evolve },
};
