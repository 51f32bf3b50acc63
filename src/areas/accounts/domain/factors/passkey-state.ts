import type { Evolving } from '../../../../event-sourcing/deciding/decider.js';
import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import type { UserEvent } from '../user/events.js';
import { keptPasskeys } from '../user/fold.js';

/** A passkey as a user's state keeps it. */
export interface Passkey {
  readonly passkeyId: string;
  readonly credential_digest: string;
  readonly credential: Sealed;
  /** The last signature counter that was accepted; 0 where the authenticator counts nothing. */
  readonly counter: number;
  /** Whether devices share the passkey. Each of them counts for itself. */
  readonly synced: boolean;
  readonly name: Sealed;
  /** The store's recorded time. */
  readonly registeredAt: Date;
}

/** Returns the passkeys after an event. */
export function passkeysAfter(passkeys: readonly Passkey[], event: Evolving<UserEvent>): readonly Passkey[] {
  const kept = keptPasskeys(event);
  if (kept !== null) return passkeys.filter(({ passkeyId }) => kept.includes(passkeyId));
  if (event.type === 'PasskeyRegistered') {
    const { passkey_id: passkeyId, credential_digest, credential, counter, synced, name } = event.data;
    const registeredAt = event.recordedAt;
    return [...passkeys, { passkeyId, credential_digest, credential, counter, synced, name, registeredAt }];
  }
  if (event.type === 'PasskeyUsed') {
    return changed(passkeys, event.data.passkey_id, { counter: event.data.counter });
  }
  if (event.type === 'PasskeyRenamed') {
    return changed(passkeys, event.data.passkey_id, { name: event.data.name });
  }
  if (event.type === 'PasskeyRemoved') {
    return passkeys.filter(({ passkeyId }) => passkeyId !== event.data.passkey_id);
  }
  return passkeys;
}

function changed(passkeys: readonly Passkey[], id: string, change: Partial<Passkey>): readonly Passkey[] {
  return passkeys.map((passkey) => (passkey.passkeyId === id ? { ...passkey, ...change } : passkey));
}
