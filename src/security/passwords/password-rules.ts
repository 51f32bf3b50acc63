import { isCommonPassword } from './common-passwords.js';

/** The rules for a new password, in the order in which they are checked. */
export type PasswordRule =
  | 'not_text'
  | 'too_short'
  | 'too_long'
  | 'upper_case'
  | 'lower_case'
  | 'digit'
  | 'symbol'
  | 'local_part'
  | 'common';

/** For the user, without the password. They follow the name of the field. */
export const passwordRuleMessages: Readonly<Record<PasswordRule, string>> = {
  not_text: 'must be well-formed text',
  too_short: 'must have at least 10 characters',
  too_long: 'must have at most 128 characters',
  upper_case: 'must contain an upper-case letter',
  lower_case: 'must contain a lower-case letter',
  digit: 'must contain a digit',
  symbol: 'must contain a symbol',
  local_part: "must not contain the part of the e-mail address before the '@'",
  common: 'must not be a common one, nor a common one with digits or symbols added',
};

const characterClasses: readonly { readonly rule: PasswordRule; readonly pattern: RegExp }[] = [
  { rule: 'upper_case', pattern: /\p{Lu}/u },
  { rule: 'lower_case', pattern: /\p{Ll}/u },
  { rule: 'digit', pattern: /\p{Nd}/u },
  { rule: 'symbol', pattern: /[\p{P}\p{S}\p{Zs}]/u },
];
const lengthMin = 10;
const lengthMax = 128;
const localPartLengthMin = 6;

/** The checks beyond length and classes (`PASSWORD_EXTRA_CHECKS`). */
export interface ExtraPasswordChecks {
  /** The local part of the e-mail address. The password must not contain it if it has at least 6 characters. */
  readonly localPart?: string | undefined;
  /** Refuses common passwords; false when left out. */
  readonly common?: boolean;
}

/**
 * Returns the first rule that a new password breaks, or null (docs/api.md#8-limits, docs/design.md#passwords).
 * Characters are code points of the NFC form, which is hashed too. Letters and digits of all scripts count.
 */
export function brokenPasswordRule(
  password: string,
  { localPart, common = false }: ExtraPasswordChecks = {},
): PasswordRule | null {
  const text = password.normalize('NFC');
  // A lone surrogate has no UTF-8 form: different passwords would have one hash.
  if (/\p{Surrogate}/u.test(text)) return 'not_text';
  const length = Array.from(text).length;
  if (length < lengthMin) return 'too_short';
  if (length > lengthMax) return 'too_long';
  const missing = characterClasses.find(({ pattern }) => !pattern.test(text));
  if (missing !== undefined) return missing.rule;
  if (localPart !== undefined && containsLocalPart(text, localPart)) return 'local_part';
  return common && isCommonPassword(text) ? 'common' : null;
}

/** A check that `PASSWORD_EXTRA_CHECKS` names. */
export type ExtraCheck = 'local-part' | 'common';

const extraRules: Readonly<Record<ExtraCheck, string>> = {
  'local-part': "it does not contain the part of the e-mail address before the '@'",
  common: 'it is not a common password, nor one with digits or symbols added',
};

/** Returns all rules for a new password of this service, as one text for people. */
export function describePasswordRules(extraChecks: readonly ExtraCheck[]): string {
  const classes = `${lengthMin} to ${lengthMax} characters with upper-case and lower-case letters, digits and symbols`;
  return [`${classes}; a space counts as a symbol`, ...extraChecks.map((check) => extraRules[check])].join(
    '; ',
  );
}

/** A broken rule as a problem of a field. */
export interface PasswordProblem {
  readonly code: 'too_short' | 'too_long' | 'format' | 'not_allowed';
  /** It follows the name of the field, and tells all rules. */
  readonly problem: string;
}

const codesOfRules: Partial<Readonly<Record<PasswordRule, PasswordProblem['code']>>> = {
  too_short: 'too_short',
  too_long: 'too_long',
  local_part: 'not_allowed',
  common: 'not_allowed',
};

/** Returns the rule that a new password breaks; null when it breaks none. */
export type CheckPassword = (password: string, localPart: string) => PasswordProblem | null;

export function makeCheckPassword(extraChecks: readonly ExtraCheck[]): CheckPassword {
  const rules = describePasswordRules(extraChecks);
  const common = extraChecks.includes('common');
  const checksLocalPart = extraChecks.includes('local-part');
  return (password, localPart) => {
    const rule = brokenPasswordRule(password, { localPart: checksLocalPart ? localPart : undefined, common });
    if (rule === null) return null;
    return {
      code: codesOfRules[rule] ?? 'format',
      problem: `${passwordRuleMessages[rule]} (the rules: ${rules})`,
    };
  };
}

function containsLocalPart(password: string, localPart: string): boolean {
  const part = localPart.normalize('NFC').toLowerCase();
  return Array.from(part).length >= localPartLengthMin && password.toLowerCase().includes(part);
}
