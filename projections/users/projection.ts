import type { Recorded } from '../../src/event-sourcing/domain-event.js';
import type { Projection } from '../../src/event-sourcing/projection.js';
import type { Sealed } from '../../src/event-sourcing/sealed.js';
import { type PlatformRole, userCodec, type UserEvent } from '../../src/domain/user/events.js';
import { userCategory } from '../../src/domain/user/stream.js';

/** Personal data stays sealed; the password hash stays in the log. */
export type UserDocument = {
  readonly email: Sealed;
  readonly nickname: Sealed;
  readonly email_verified: boolean;
  readonly two_factor_enabled: boolean;
  readonly capacity: readonly { readonly source: string; readonly bytes: number }[];
  readonly session_epoch: number;
  readonly platform_roles: readonly PlatformRole[];
  readonly created_at: string;
  readonly updated_at: string;
};

function evolve(document: UserDocument | null, event: Recorded<UserEvent>): UserDocument | null {
  if (event.type === 'UserRegistered') {
    return {
      email: event.data.email,
      nickname: event.data.nickname,
      email_verified: false,
      two_factor_enabled: false,
      capacity: [],
      session_epoch: 0,
      platform_roles: [],
      created_at: event.time,
      updated_at: event.time,
    };
  }
  if (document === null) return null;
  const touched = { ...document, updated_at: event.time };
  switch (event.type) {
    case 'RegistrationAbandoned':
      return null;
    case 'CapacityGranted': {
      const others = document.capacity.filter(({ source }) => source !== event.data.source);
      return { ...touched, capacity: [...others, event.data] };
    }
    case 'PlatformRoleGranted':
      return { ...touched, platform_roles: [...withoutRole(document, event.data.role), event.data.role] };
    case 'PlatformRoleRevoked':
      return { ...touched, platform_roles: withoutRole(document, event.data.role) };
  }
}

function withoutRole(document: UserDocument, role: PlatformRole): readonly PlatformRole[] {
  return document.platform_roles.filter((held) => held !== role);
}

export const usersProjection: Projection<UserDocument, UserEvent> = {
  name: 'users',
  version: 1,
  category: userCategory,
  codec: userCodec,
  indexes: [],
  evolve,
};
