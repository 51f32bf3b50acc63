import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import { userCodec, type UserEvent, userCategory } from '../../../src/areas/accounts/domain/user/events.js';
import { entriesAfter, type PasskeyEntry } from './passkey-entries.js';
import {
  applyEvent,
  endsRecoveryCodes,
  newUser,
  type UserFields,
} from '../../../src/areas/accounts/domain/user/fold.js';

/** A user with sealed personal data. Only the log contains credentials. */
export type UserDocument = UserFields & {
  readonly two_factor_enabled: boolean;
  /** How many recovery codes are unused. */
  readonly recovery_codes: number;
  /** In order of registration. */
  readonly passkeys: readonly PasskeyEntry[];
  readonly created_at: string;
  readonly updated_at: string;
};

function evolve(document: UserDocument | null, event: Recorded<UserEvent>): UserDocument | null {
  if (event.type === 'UserRegistered') {
    const times = { created_at: event.time, updated_at: event.time };
    return { ...newUser(event.data), two_factor_enabled: false, recovery_codes: 0, passkeys: [], ...times };
  }
  if (document === null || event.type === 'RegistrationAbandoned' || event.type === 'UserErased') return null;
  const two_factor_enabled = twoFactorAfter(document, event);
  const passkeys = entriesAfter(document.passkeys, event);
  return {
    ...document,
    ...applyEvent(document, event),
    two_factor_enabled,
    recovery_codes: recoveryCodesAfter(document, event, two_factor_enabled || passkeys.length > 0),
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

function recoveryCodesAfter(
  { recovery_codes }: UserDocument,
  event: UserEvent,
  isFactorLeft: boolean,
): number {
  if (endsRecoveryCodes(event, isFactorLeft)) return 0;
  if (event.type === 'RecoveryCodesIssued') return event.data.digests.length;
  return event.type === 'RecoveryCodeUsed' ? Math.max(0, recovery_codes - 1) : recovery_codes;
}

export const usersProjection: Projection<UserDocument, UserEvent> = {
  name: 'users',
  version: 5,
  category: userCategory,
  codec: userCodec,
  indexes: ['passkeys.credential_digest'],
  evolve,
};

/** Returns the sum of all grants in bytes. */
export function capacityOf({ capacity }: Pick<UserDocument, 'capacity'>): number {
  return capacity.reduce((sum, { bytes }) => sum + bytes, 0);
}
