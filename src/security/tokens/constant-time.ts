import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares in a time that reveals neither where the secrets differ nor their lengths (OWASP ASVS 5.0, 11.2.4). */
export function secretsEqual(a: string | Uint8Array, b: string | Uint8Array): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

function sha256(secret: string | Uint8Array): Buffer {
  return createHash('sha256').update(secret).digest();
}
