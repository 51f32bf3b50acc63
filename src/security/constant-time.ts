import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Compares two secrets in a time that tells nothing of where they differ, nor of their lengths: SHA-256 digests of
 * both always have the same length (OWASP ASVS 5.0, 11.2.4).
 */
export function secretsEqual(a: string | Uint8Array, b: string | Uint8Array): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

function sha256(secret: string | Uint8Array): Buffer {
  return createHash('sha256').update(secret).digest();
}
