/** White space, dashes and minus signs of all kinds, and the marks that copied text carries: soft hyphen, zero widths, directions. */
const separators = /[\s\p{Pd}\u2212\p{Cf}]/gu;

/** Returns a code as its mail or app shows it: the plain form of full-width and other styled characters, without separators. */
function foldTypedCode(typed: string): string {
  return typed.normalize('NFKC').replace(separators, '');
}

/** Parses a typed code of six digits. Null for a text that cannot be a code. */
export function parseSixDigits(typed: string): string | null {
  const code = foldTypedCode(typed);
  return /^[0-9]{6}$/.test(code) ? code : null;
}

/** Crockford's base 32 has no I, L, O and U, so that a person reads a handwritten code correctly. */
const crockfordAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const crockfordPattern = /^[0-9A-HJKMNP-TV-Z]*$/;
const groupLength = 5;

/** Writes the first characters of a code, one for each byte, as `XXXXX-XXXXX-…`: 5 bits of each byte count. */
export function crockfordCode(bytes: Uint8Array): string {
  // 256 is a multiple of 32, so all characters are equally likely.
  const code = Array.from(bytes, (byte) => crockfordAlphabet.charAt(byte % crockfordAlphabet.length));
  return Array.from({ length: Math.ceil(code.length / groupLength) }, (_, group) =>
    code.slice(group * groupLength, (group + 1) * groupLength).join(''),
  ).join('-');
}

/**
 * Parses a typed code of this many characters: upper case, without separators, I and L as 1, O as 0. Null for a text that
 * cannot be a code.
 */
export function parseCrockfordCode(typed: string, length: number): string | null {
  const code = foldTypedCode(typed).toUpperCase().replace(/[IL]/g, '1').replace(/O/g, '0');
  return code.length === length && crockfordPattern.test(code) ? code : null;
}
