import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import { userCodec, type UserEvent, userCategory } from '../../../src/areas/accounts/domain/user/events.js';
import { entriesAfter, type PasskeyEntry } from './passkey-entries.js';
import { applyEvent, newUser, type UserFields } from '../../../src/areas/accounts/domain/user/status.js';

/** A user with sealed personal data. Only the log contains credentials. */
export type UserDocument = UserFields & {
  readonly two_factor_enabled: boolean;
  /** In order of registration. */
  readonly passkeys: readonly PasskeyEntry[];
  readonly created_at: string;
  readonly updated_at: string;
};

function evolve(document: UserDocument | null, event: Recorded<UserEvent>): UserDocument | null {
  if (event.type === 'UserRegistered') {
    const times = { created_at: event.time, updated_at: event.time };
    return { ...newUser(event.data), two_factor_enabled: false, passkeys: [], ...times };
  }
  if (document === null || event.type === 'RegistrationAbandoned' || event.type === 'UserErased') return null;
  const two_factor_enabled = twoFactorAfter(document, event);
  const passkeys = entriesAfter(document.passkeys, event);
  return {
    ...document,
    ...applyEvent(document, event),
    two_factor_enabled,
    passkeys,
    updated_at: event.time,
  };
}

function twoFactorAfter({ two_factor_enabled }: UserDocument, event: UserEvent): boolean {
  if (event.type === 'TotpConfirmed') return true;
  const isOff =
    event.type === 'TotpRemoved' ||
    event.type === 'CredentialsVoided' ||
    (event.type === 'EmailChangeReverted' && event.data.voided.includes('totp'));
  return isOff ? false : two_factor_enabled;
}

export const usersProjection: Projection<UserDocument, UserEvent> = {
  name: 'users',
  version: 4,
  category: userCategory,
  codec: userCodec,
  indexes: [],
  evolve,
};

/** Returns the sum of all grants in bytes. */
export function capacityOf({ capacity }: Pick<UserDocument, 'capacity'>): number {
  return capacity.reduce((sum, { bytes }) => sum + bytes, 0);
}
