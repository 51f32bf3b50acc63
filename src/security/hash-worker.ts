import type { ScryptInput } from './scrypt.js';
import { chooseScrypt } from './scrypt.js';

const scrypt = chooseScrypt();

/** Runs in a worker thread of the hash pool. */
export function hash(input: ScryptInput): Uint8Array {
  return scrypt(input);
}
