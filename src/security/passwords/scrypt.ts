import * as crypto from 'node:crypto';
import scryptJs from 'scrypt-js';

/** RFC 7914: cost (a power of two), block size, parallelism. Memory is 128 × N × r bytes. */
export interface ScryptParameters {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

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
