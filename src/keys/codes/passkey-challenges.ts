import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { decodeBase64url, type Keyring } from '../rings/keyring.js';
import type { RandomBytes } from '../sealing/digests.js';

/** What a challenge is for. A challenge of one purpose and subject never answers for another. */
export interface ChallengeUse {
  readonly purpose: 'register' | 'sign-in' | 'reauthenticate';
  /** The session that asked for it; null for a sign-in. */
  readonly sessionId: string | null;
}

/** A challenge that this service made and whose time is not over. Its single use is the caller's to check. */
export interface OpenChallenge {
  /** SHA-256 of the challenge, hexadecimal. */
  readonly digest: string;
  readonly expiresAt: Date;
}

/**
 * Challenges of passkeys (src/areas/accounts/commands/README.md#passkeys). A challenge carries its end and a MAC, so that asking for one
 * writes nothing: otherwise strangers could fill the store.
 */
export type PasskeyChallenges = ReturnType<typeof makePasskeyChallenges>;

/** The life of a challenge: WebAuthn Level 3, section 15.1 recommends 5 to 10 minutes with user verification. */
export const challengeSeconds = 300;

const nonceBytes = 16;
const endBytes = 6;
const macBytes = 32;

/** @param keys `CODE_KEYS` */
export function makePasskeyChallenges(keys: Keyring, randomBytes: RandomBytes) {
  return {
    /** Returns a challenge in base64url. */
    issue: (use: ChallengeUse, now: Date): string => {
      const body = Buffer.alloc(nonceBytes + endBytes);
      body.set(randomBytes(nonceBytes));
      body.writeUIntBE(now.getTime() + challengeSeconds * 1_000, nonceBytes, endBytes);
      return Buffer.concat([body, macOf(keys.active().key, use, body)]).toString('base64url');
    },
    /** Returns null for a challenge that is not ours, is for another use, or is over. */
    open: (use: ChallengeUse, challenge: string, now: Date): OpenChallenge | null => {
      const bytes = decodeBase64url(challenge);
      if (bytes?.length !== nonceBytes + endBytes + macBytes) return null;
      const [body, mac] = [bytes.subarray(0, nonceBytes + endBytes), bytes.subarray(nonceBytes + endBytes)];
      // Another process may have issued it with another key of the ring.
      if (!keys.all().some(({ key }) => timingSafeEqual(macOf(key, use, body), mac))) return null;
      const expiresAt = new Date(body.readUIntBE(nonceBytes, endBytes));
      if (expiresAt <= now) return null;
      return { digest: createHash('sha256').update(bytes).digest('hex'), expiresAt };
    },
  };
}

function macOf(key: Buffer, { purpose, sessionId }: ChallengeUse, body: Buffer): Buffer {
  // A JSON list has one reading only, so no part can extend into the next.
  const text = JSON.stringify(['passkey', purpose, sessionId, body.toString('base64url')]);
  return createHmac('sha256', key).update(text).digest();
}
