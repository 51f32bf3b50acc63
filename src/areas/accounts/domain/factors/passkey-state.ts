import type { Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import type { UserEvent } from '../user/events.js';
import { keptPasskeys } from '../user/fold.js';

type Registered = Extract<UserEvent, { type: 'PasskeyRegistered' }>['data'];

/**
 * A passkey as a user's state keeps it. `counter`: the last signature counter that was accepted; 0 where the authenticator counts nothing.
 * `synced`: devices share the passkey, and each of them counts for itself.
 */
export interface Passkey extends Readonly<Omit<Registered, 'transports' | 'backed_up' | 'aaguid'>> {
  /** The store's recorded time. */
  readonly registeredAt: Date;
}

/** Returns the passkeys after an event. */
export function passkeysAfter(passkeys: readonly Passkey[], event: Evolving<UserEvent>): readonly Passkey[] {
  const stay = keptPasskeys(event);
  if (stay !== null) return passkeys.filter(({ passkey_id }) => stay.includes(passkey_id));
  if (event.type === 'PasskeyRegistered') {
    const { passkey_id, credential_digest, credential, counter, synced, name } = event.data;
    const kept = { passkey_id, credential_digest, credential, counter, synced, name };
    return [...passkeys, { ...kept, registeredAt: event.recordedAt }];
  }
  if (event.type === 'PasskeyUsed')
    return changed(passkeys, event.data.passkey_id, { counter: event.data.counter });
  if (event.type === 'PasskeyRenamed')
    return changed(passkeys, event.data.passkey_id, { name: event.data.name });
  if (event.type === 'PasskeyRemoved')
    return passkeys.filter(({ passkey_id }) => passkey_id !== event.data.passkey_id);
  return passkeys;
}

function changed(passkeys: readonly Passkey[], id: string, change: Partial<Passkey>): readonly Passkey[] {
  return passkeys.map((passkey) => (passkey.passkey_id === id ? { ...passkey, ...change } : passkey));
}
