import { createHmac } from 'node:crypto';

/**
 * Keyed digests for looking things up without keeping them in the clear. HMAC-SHA-256 as 64 lower-case hexadecimal
 * digits, which fit into stream names. The key (`INDEX_KEY`) is never rotated: the digests are names.
 */
export interface Digests {
  /** @param canonical the address as `parseEmailAddress` spells it for uniqueness */
  email(canonical: string): string;
  /** @param address the client's address as `makeClientIp` spells it */
  ip(address: string): string;
  /** @param code as `parseRecoveryCode` spells it; another user's digest of the same code is another */
  recoveryCode(userId: string, code: string): string;
  /** Values of different purposes never share a digest. */
  of(purpose: string, value: string): string;
}

/** @param indexKey 32 bytes */
export function makeDigests(indexKey: Buffer): Digests {
  // A JSON list has one reading only, so no purpose can be continued into a value.
  const of = (purpose: string, value: string) =>
    createHmac('sha256', indexKey)
      .update(JSON.stringify([purpose, value]))
      .digest('hex');
  return {
    email: (canonical) => of('email', canonical),
    ip: (address) => of('ip', address),
    recoveryCode: (userId, code) => of('recovery-code', JSON.stringify([userId, code])),
    of,
  };
}
