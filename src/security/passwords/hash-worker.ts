import { codeOf } from '../../kit/errors.js';
import { type ScryptInput, chooseScrypt } from './scrypt.js';

/** A hash, or the name of an error, whose message could contain the input. */
export type HashReply =
  { readonly output: Uint8Array; readonly tookMs: number } | { readonly failed: string };

const scrypt = chooseScrypt();

export function hash(input: ScryptInput): HashReply {
  const beganMs = performance.now();
  try {
    const output = scrypt(input);
    return { output, tookMs: performance.now() - beganMs };
  } catch (error) {
    return { failed: codeOf(error) };
  }
}
