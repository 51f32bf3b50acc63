import type { Recorded } from '../../src/event-sourcing/domain-event.js';
import type { Projection } from '../../src/event-sourcing/projection.js';
import type { Sealed } from '../../src/event-sourcing/sealed.js';
import { type PlatformRole, userCodec, type UserEvent } from '../../src/domain/user/events.js';
import { userCategory } from '../../src/domain/user/stream.js';

/** Personal data stays sealed; the password hash and all else that proves who somebody is stay in the log. */
export type UserDocument = {
  readonly email: Sealed;
  readonly nickname: Sealed;
  readonly email_verified: boolean;
  readonly two_factor_enabled: boolean;
  readonly capacity: readonly { readonly source: string; readonly bytes: number }[];
  /** See `SessionEpoch`. */
  readonly session_epoch: number;
  readonly kept_session_id: string | null;
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
      kept_session_id: null,
      platform_roles: [],
      created_at: event.time,
      updated_at: event.time,
    };
  }
  if (document === null || event.type === 'RegistrationAbandoned' || event.type === 'UserErased') return null;
  return { ...document, ...changeOf(document, event), updated_at: event.time };
}

function changeOf(
  document: UserDocument,
  event: Exclude<Recorded<UserEvent>, { type: 'UserRegistered' | 'RegistrationAbandoned' | 'UserErased' }>,
): Partial<UserDocument> {
  switch (event.type) {
    case 'CapacityGranted':
      return { capacity: [...withoutSource(document, event.data.source), event.data] };
    case 'CapacityRevoked':
      return { capacity: withoutSource(document, event.data.source) };
    case 'PlatformRoleGranted':
      return { platform_roles: [...withoutRole(document, event.data.role), event.data.role] };
    case 'PlatformRoleRevoked':
      return { platform_roles: withoutRole(document, event.data.role) };
    case 'ProfileChanged':
      return { nickname: event.data.nickname };
    case 'EmailVerified':
      return { email_verified: true };
    case 'EmailChanged':
      return { email: event.data.email, email_verified: true };
    case 'PasswordChanged':
      return { session_epoch: document.session_epoch + 1, kept_session_id: event.data.kept_session_id };
    case 'CredentialsVoided':
      return {
        session_epoch: document.session_epoch + 1,
        kept_session_id: null,
        two_factor_enabled: false,
      };
    case 'SessionsRevoked':
      return { session_epoch: document.session_epoch + 1, kept_session_id: null };
    case 'TotpConfirmed':
      return { two_factor_enabled: true };
    case 'TotpRemoved':
      return { two_factor_enabled: false };
    case 'EmailChangeRequested':
    case 'EmailChangeMailed':
    case 'EmailChangeAttempted':
    case 'PasswordRehashed':
    case 'TotpEnrolled':
    case 'TotpStepUsed':
    case 'RecoveryCodesIssued':
    case 'RecoveryCodeUsed':
      return {};
  }
}

function withoutSource({ capacity }: UserDocument, source: string): UserDocument['capacity'] {
  return capacity.filter((grant) => grant.source !== source);
}

function withoutRole(document: UserDocument, role: PlatformRole): readonly PlatformRole[] {
  return document.platform_roles.filter((held) => held !== role);
}

export const usersProjection: Projection<UserDocument, UserEvent> = {
  name: 'users',
  version: 2,
  category: userCategory,
  codec: userCodec,
  indexes: [],
  evolve,
};
