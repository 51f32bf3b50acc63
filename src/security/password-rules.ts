/** The rules for a new password, in the order in which they are checked. */
export type PasswordRule =
  'not_text' | 'too_short' | 'too_long' | 'upper_case' | 'lower_case' | 'digit' | 'symbol' | 'local_part';

/** What to tell the user, without the password. */
export const passwordRuleMessages: Readonly<Record<PasswordRule, string>> = {
  not_text: 'password must be well-formed text',
  too_short: 'password must have at least 10 characters',
  too_long: 'password must have at most 128 characters',
  upper_case: 'password must contain an upper-case letter',
  lower_case: 'password must contain a lower-case letter',
  digit: 'password must contain a digit',
  symbol: 'password must contain a symbol',
  local_part: "password must not contain the part of the e-mail address before the '@'",
};

const lengthMin = 10;
const lengthMax = 128;
const localPartLengthMin = 6;

/**
 * The first rule that a new password breaks, or null (API section 8, DESIGN 4.1). Characters are code points of the
 * NFC form, which is also what is hashed; letters and digits of all scripts count.
 * @param localPart of the e-mail address, where the password must not contain it; from 6 characters on it counts
 */
export function brokenPasswordRule(password: string, localPart?: string): PasswordRule | null {
  const text = password.normalize('NFC');
  // A lone surrogate has no UTF-8 form: different passwords would have one hash.
  if (/\p{Surrogate}/u.test(text)) return 'not_text';
  const length = Array.from(text).length;
  if (length < lengthMin) return 'too_short';
  if (length > lengthMax) return 'too_long';
  if (!/\p{Lu}/u.test(text)) return 'upper_case';
  if (!/\p{Ll}/u.test(text)) return 'lower_case';
  if (!/\p{Nd}/u.test(text)) return 'digit';
  if (!/[\p{P}\p{S}]/u.test(text)) return 'symbol';
  return localPart !== undefined && containsLocalPart(text, localPart) ? 'local_part' : null;
}

function containsLocalPart(password: string, localPart: string): boolean {
  const part = localPart.normalize('NFC').toLowerCase();
  return Array.from(part).length >= localPartLengthMin && password.toLowerCase().includes(part);
}
