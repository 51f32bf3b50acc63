import type { UserEvent } from '../../../src/areas/accounts/domain/user/events.js';
import { keptPasskeys } from '../../../src/areas/accounts/domain/user/fold.js';
import type { Recorded, Sealed } from '../../../src/event-sourcing/ports/domain-event.js';

/** A passkey of a user's document. Only the log contains the credential. */
export type PasskeyEntry = {
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
export function entriesAfter(
  entries: readonly PasskeyEntry[],
  event: Recorded<UserEvent>,
): readonly PasskeyEntry[] {
  const kept = keptPasskeys(event);
  if (kept !== null) return entries.filter(({ id }) => kept.includes(id));
  if (event.type === 'PasskeyRegistered') {
    const { passkey_id: id, credential_digest, name, transports, synced, backed_up, aaguid } = event.data;
    const times = { created_at: event.time, last_used_at: null };
    return [...entries, { id, credential_digest, name, transports, synced, backed_up, aaguid, ...times }];
  }
  if (event.type === 'PasskeyUsed') {
    const { passkey_id, backed_up } = event.data;
    return changedEntry(entries, passkey_id, { backed_up, last_used_at: event.time });
  }
  if (event.type === 'PasskeyRenamed') {
    return changedEntry(entries, event.data.passkey_id, { name: event.data.name });
  }
  if (event.type === 'PasskeyRemoved') return entries.filter(({ id }) => id !== event.data.passkey_id);
  return entries;
}

function changedEntry(
  entries: readonly PasskeyEntry[],
  id: string,
  change: Partial<PasskeyEntry>,
): readonly PasskeyEntry[] {
  return entries.map((entry) => (entry.id === id ? { ...entry, ...change } : entry));
}
