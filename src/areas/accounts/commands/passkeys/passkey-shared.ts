import type { StateStore } from '../../../../event-sourcing/ports/state-store.js';
import type { OpenChallenge } from '../../../../keys/codes/passkey-challenges.js';
import type { Digests } from '../../../../keys/sealing/digests.js';
import type { PasskeySettings } from '../../../../security/tokens/webauthn.js';
import { rejectUseCase } from '../../../shared/rejections.js';

/** Returns the relying party. @throws CommandRejected passkeys_not_configured */
export function requirePasskeys(passkeys: PasskeySettings | null): PasskeySettings {
  if (passkeys !== null) return passkeys;
  return rejectUseCase(
    'passkeys_not_configured',
    'PUBLIC_URL is no https origin with a domain, so browsers accept no passkey here; see PUBLIC_URL and PASSKEY_RP_ID',
  );
}

/** Returns the user handle of a user: the 16 bytes of the id, in base64url. It says nothing of the person. */
export function userHandleOf(userId: string): string {
  return Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url');
}

/** Returns the user's id; null where the text is no user handle. */
export function userIdOf(userHandle: string): string | null {
  const bytes = Buffer.from(userHandle, 'base64url');
  if (bytes.length !== 16 || bytes.toString('base64url') !== userHandle) return null;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Returns the digest by which a user's stream knows a credential. @param id in base64url */
export function credentialDigestOf(digests: Pick<Digests, 'of'>, id: string): string {
  return digests.of('passkey', id);
}

/** A difference between the clocks of processes and stores must not end a record before its challenge. */
const clockDifferenceMs = 60_000;

/**
 * Uses a challenge up. Only a response whose signature is verified may come here: each record is a write.
 * @returns false where it was used before @throws StoreUnavailable
 */
export async function useChallenge(
  stateStore: Pick<StateStore, 'compareAndSet'>,
  { digest, expiresAt }: OpenChallenge,
): Promise<boolean> {
  const end = new Date(expiresAt.getTime() + clockDifferenceMs);
  const version = await stateStore.compareAndSet(`passkey-challenge/${digest}`, null, true, {
    expiresAt: end,
  });
  return version !== null;
}
