import { crockfordCode, parseCrockfordCode } from '../../keys/codes/crockford.js';
import type { RandomBytes } from '../../keys/sealing/random-bytes.js';

const codeCount = 10;
const codeLength = 10;

/** Makes ten codes of 50 random bits as `XXXXX-XXXXX`. Events store keyed digests (`Digests.recoveryCode`) of them. */
export function makeRecoveryCodes(randomBytes: RandomBytes): readonly string[] {
  return Array.from({ length: codeCount }, () => crockfordCode(randomBytes(codeLength)));
}

/** Parses a typed code, as `parseCrockfordCode` does. Null for a text that cannot be a code. */
export function parseRecoveryCode(typed: string): string | null {
  return parseCrockfordCode(typed, codeLength);
}
