import { changeBy, type ChangesBy } from '../../../../event-sourcing/ports/events.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import type { GrantSource } from '../../../../validation/fields.js';
import type { SessionEpoch } from '../guard.js';
import type { PlatformRole, UserEvent } from './events.js';

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

const changes: ChangesBy<UserEvent, UserFields, Partial<UserFields>> = {
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
  return changeBy(changes, event, before) ?? {};
}

function withoutSource(capacity: UserFields['capacity'], source: GrantSource): UserFields['capacity'] {
  return capacity.filter((grant) => grant.source !== source);
}

function withoutRole(roles: readonly PlatformRole[], role: PlatformRole): readonly PlatformRole[] {
  return roles.filter((held) => held !== role);
}

/**
 * Returns the ids of the passkeys that stay when the event voids passkeys; null: it voids none. The aggregate and the view both
 * fold with it.
 */
export function keptPasskeys(event: UserEvent): readonly string[] | null {
  if (event.type === 'CredentialsVoided') return [];
  const voids = event.type === 'EmailChangeReverted' && event.data.voided.includes('passkeys');
  return voids ? event.data.kept_passkeys : null;
}

/** Returns whether the recovery codes end with the event. @param isFactorLeft whether the account has a factor after the event */
export function endsRecoveryCodes(event: UserEvent, isFactorLeft: boolean): boolean {
  if (event.type === 'CredentialsVoided') return true;
  if (event.type === 'EmailChangeReverted') return event.data.voided.includes('recovery_codes');
  if (event.type === 'TotpRemoved') return event.data.recovery_codes === 'end' || !isFactorLeft;
  return event.type === 'PasskeyRemoved' && !isFactorLeft;
}
