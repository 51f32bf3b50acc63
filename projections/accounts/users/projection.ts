import type { Recorded, Sealed } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import { type UserEvent, userCategory, userCodec } from '../../../src/areas/accounts/domain/user/events.js';
import {
  endsPasskey,
  endsRecoveryCodes,
  voidedBy,
} from '../../../src/areas/accounts/domain/factors/credentials.js';
import { type UserFields, applyEvent, newUser } from '../../../src/areas/accounts/domain/user/fold.js';

/** A passkey of a user's document. Only the log contains the credential. */
type PasskeyEntry = {
  readonly id: string;
  /** Keyed digest of the credential's id. */
  readonly credential_digest: string;
  readonly name: Sealed;
  readonly transports: readonly string[];
  readonly synced: boolean;
  readonly backed_up: boolean;
  readonly aaguid: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
};

/** Returns the passkeys of a user after an event. */
function entriesAfter(entries: readonly PasskeyEntry[], event: Recorded<UserEvent>): readonly PasskeyEntry[] {
  if (event.type === 'PasskeyRegistered') {
    const { passkey_id: id, credential_digest, name, transports, synced, backed_up, aaguid } = event.data;
    const times = { created_at: event.time, last_used_at: null };
    return [...entries, { id, credential_digest, name, transports, synced, backed_up, aaguid, ...times }];
  }
  if (event.type === 'PasskeyUsed') {
    const { passkey_id, backed_up } = event.data;
    return changedEntry(entries, passkey_id, { backed_up, last_used_at: event.time });
  }
  if (event.type === 'PasskeyRenamed')
    return changedEntry(entries, event.data.passkey_id, { name: event.data.name });
  return entries.filter(({ id }) => !endsPasskey(event, id));
}

function changedEntry(
  entries: readonly PasskeyEntry[],
  id: string,
  change: Partial<PasskeyEntry>,
): readonly PasskeyEntry[] {
  return entries.map((entry) => (entry.id === id ? { ...entry, ...change } : entry));
}

/** A user with sealed personal data. Only the log contains credentials. */
export type UserDocument = UserFields & {
  readonly two_factor_enabled: boolean;
  /** When TOTP was turned on; null: it is off. */
  readonly totp_at: string | null;
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
    const none = { two_factor_enabled: false, totp_at: null, recovery_codes: 0, passkeys: [] };
    return { ...newUser(event.data), ...none, ...times };
  }
  if (document === null || event.type === 'RegistrationAbandoned' || event.type === 'UserErased') return null;
  const totp_at = totpAfter(document, event);
  const two_factor_enabled = totp_at !== null;
  const passkeys = entriesAfter(document.passkeys, event);
  return {
    ...document,
    ...applyEvent(document, event),
    two_factor_enabled,
    totp_at,
    recovery_codes: recoveryCodesAfter(document, event, two_factor_enabled || passkeys.length > 0),
    passkeys,
    updated_at: event.time,
  };
}

function totpAfter({ totp_at }: UserDocument, event: Recorded<UserEvent>): string | null {
  if (event.type === 'TotpConfirmed') return event.time;
  return voidedBy(event).includes('totp') ? null : totp_at;
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
  version: 6,
  category: userCategory,
  codec: userCodec,
  indexes: ['passkeys.credential_digest'],
  evolve,
};

/** Returns the sum of all grants in bytes. */
export function capacityOf({ capacity }: Pick<UserDocument, 'capacity'>): number {
  return capacity.reduce((sum, { bytes }) => sum + bytes, 0);
}
