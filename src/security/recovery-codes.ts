import type { RandomBytes } from '../keys/random-bytes.js';

/** Crockford's base 32 has no I, L, O and U, so that a person reads a handwritten code correctly. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const codeCount = 10;
const codeLength = 10;
const codePattern = /^[0-9A-HJKMNP-TV-Z]{10}$/;

/** Hyphens and spaces of all kinds, which a copied code contains between its groups. */
const separators = /[\s\p{Pd}\u00ad]/gu;

/** Makes ten codes of 50 random bits as `XXXXX-XXXXX`. Events store keyed digests (`Digests.recoveryCode`) of them. */
export function makeRecoveryCodes(randomBytes: RandomBytes): readonly string[] {
  return Array.from({ length: codeCount }, () => {
    // 256 is a multiple of 32, so all characters are equally likely.
    const code = Array.from(randomBytes(codeLength), (byte) => alphabet.charAt(byte % alphabet.length));
    return `${code.slice(0, codeLength / 2).join('')}-${code.slice(codeLength / 2).join('')}`;
  });
}

/** Parses a typed code: upper case, without separators, I and L as 1, O as 0. Null for a text that cannot be a code. */
export function parseRecoveryCode(typed: string): string | null {
  const code = typed.replace(separators, '').toUpperCase().replace(/[IL]/g, '1').replace(/O/g, '0');
  return codePattern.test(code) ? code : null;
}
