import * as crypto from 'node:crypto';
import scryptJs from 'scrypt-js';
import { kidPattern } from '../../keys/rings/keyring.js';

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

/** RFC 7914: cost (a power of two), block size, parallelism. Memory is 128 × N × r bytes. */
export type ScryptParameters = { readonly N: number; readonly r: number; readonly p: number };

export interface ScryptInput extends ScryptParameters {
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  /** Bytes of output. */
  readonly length: number;
}

export type Scrypt = (input: ScryptInput) => Uint8Array;

/** OpenSSL's scrypt. It blocks its thread, so the thread that serves requests must not call it. */
export const nativeScrypt: Scrypt = ({ password, salt, length, N, r, p }) =>
  // OpenSSL needs slightly more than the algorithm's memory; its default of 32 MiB refuses N = 2^15.
  crypto.scryptSync(password, salt, length, { N, r, p, maxmem: 128 * r * (N + p + 2) + 1024 * 1024 });

/** JavaScript's scrypt, about four times slower. */
export const portableScrypt: Scrypt = ({ password, salt, length, N, r, p }) =>
  scryptJs.syncScrypt(password, salt, N, r, p, length);

/** RFC 7914, section 12, first vector. */
const knownInput: ScryptInput = {
  password: new Uint8Array(),
  salt: new Uint8Array(),
  N: 16,
  r: 1,
  p: 1,
  length: 64,
};
const knownOutput =
  '77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906';

/**
 * Returns the native function, or the portable one where the runtime has none (FIPS builds refuse scrypt).
 * @throws Error when the function computes a wrong result: no other build could verify its hashes
 */
export function chooseScrypt(native: Scrypt = nativeScrypt, portable: Scrypt = portableScrypt): Scrypt {
  const nativeOutput = attempt(native);
  if ((nativeOutput ?? hex(portable(knownInput))) !== knownOutput) {
    throw new Error(
      "this runtime's scrypt computes a wrong result (RFC 7914, section 12); use another build of Node",
    );
  }
  return nativeOutput === null ? portable : native;
}

function attempt(scrypt: Scrypt): string | null {
  try {
    return hex(scrypt(knownInput));
  } catch {
    return null;
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
