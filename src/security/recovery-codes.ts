import type { RandomBytes } from '../keys/random-bytes.js';

/** Crockford's base 32: no I, L, O and U, so that what was written down by hand is read back. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const codeCount = 10;
const codeLength = 10;
const codePattern = /^[0-9A-HJKMNP-TV-Z]{10}$/;

/** Hyphens and spaces of all kinds: what stands between groups after copying. */
const separators = /[\s\p{Pd}\u00ad]/gu;

/**
 * Ten codes, each good for one sign-in without the authenticator app: 50 random bits as `XXXXX-XXXXX`. Shown once; what is
 * kept are keyed digests (`Digests.recoveryCode`) of what `parseRecoveryCode` makes of them.
 */
export function makeRecoveryCodes(randomBytes: RandomBytes): readonly string[] {
  return Array.from({ length: codeCount }, () => {
    // 256 is a multiple of 32, so all characters are equally likely.
    const code = Array.from(randomBytes(codeLength), (byte) => alphabet.charAt(byte % alphabet.length));
    return `${code.slice(0, codeLength / 2).join('')}-${code.slice(codeLength / 2).join('')}`;
  });
}

/**
 * The one spelling of a typed code: upper case, without separators, I and L read as 1, O as 0. Null when it is no code,
 * whoever it may belong to.
 */
export function parseRecoveryCode(typed: string): string | null {
  const code = typed.replace(separators, '').toUpperCase().replace(/[IL]/g, '1').replace(/O/g, '0');
  return codePattern.test(code) ? code : null;
}
