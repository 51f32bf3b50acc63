import { kidPattern } from '../../keys/rings/keyring.js';
import type { ScryptParameters } from './scrypt.js';

export interface PasswordHash extends ScryptParameters {
  /** The pepper's key id. */
  readonly pepper: string;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** Returns `$scrypt$ln=15,r=8,p=3,keyid=<pepper>$<salt>$<hash>`: a PHC string, with base64 without padding. */
export function formatPasswordHash({ N, r, p, pepper, salt, hash }: PasswordHash): string {
  return `$scrypt$ln=${Math.log2(N)},r=${r},p=${p},keyid=${pepper}$${base64(salt)}$${base64(hash)}`;
}

const pattern =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2}),keyid=([^$,]+)\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

/** Parses a hash; null for a text that `formatPasswordHash` did not make, or that costs more than 1 GiB of memory. */
export function parsePasswordHash(text: string): PasswordHash | null {
  const [, ln = '', r = '', p = '', pepper = '', salt = '', hash = ''] = pattern.exec(text) ?? [];
  const parameters = { N: 2 ** Number(ln), r: Number(r), p: Number(p) };
  if (!kidPattern.test(pepper) || !isAffordable(parameters)) return null;
  return { ...parameters, pepper, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}

function isAffordable({ N, r, p }: ScryptParameters): boolean {
  return N >= 2 && r >= 1 && p >= 1 && p <= 16 && 128 * N * r <= 2 ** 30;
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
