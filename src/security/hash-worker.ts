import { type ScryptInput, chooseScrypt } from './scrypt.js';

const scrypt = chooseScrypt();

export function hash(input: ScryptInput): Uint8Array {
  return scrypt(input);
}
