/** White space, dashes and minus signs of all kinds, and the marks that copied text carries: soft hyphen, zero widths, directions. */
const separators = /[\s\p{Pd}\u2212\p{Cf}]/gu;

/** Returns a code as its mail or app shows it: the plain form of full-width and other styled characters, without separators. */
export function foldTypedCode(typed: string): string {
  return typed.normalize('NFKC').replace(separators, '');
}

/** Parses a typed code of six digits. Null for a text that cannot be a code. */
export function parseSixDigits(typed: string): string | null {
  const code = foldTypedCode(typed);
  return /^[0-9]{6}$/.test(code) ? code : null;
}
