import { isCommonPassword } from './common-passwords.js';

const [lengthMin, lengthMax, localPartLengthMin] = [10, 128, 6];
/** No longer text is read. The normal form of a text of many marks takes the square of its length. */
const unitsMax = 512;

/** The checks beyond length and classes (`PASSWORD_EXTRA_CHECKS`). */
interface ExtraPasswordChecks {
  /** The local part of the e-mail address. The password must not contain it if it has at least 6 characters. */
  readonly localPart?: string | undefined;
  /** Refuses common passwords; false when left out. */
  readonly common?: boolean;
}

/** A broken rule as a problem of a field. */
export interface PasswordProblem {
  readonly code: 'too_short' | 'too_long' | 'format' | 'not_allowed';
  /** For the user, without the password. It follows the name of the field. */
  readonly problem: string;
}

interface Rule extends PasswordProblem {
  readonly isBroken: (text: string, extra: ExtraPasswordChecks) => boolean;
}

const lacks =
  (pattern: RegExp): Rule['isBroken'] =>
  (text) =>
    !pattern.test(text);
const ruleOf = (code: PasswordProblem['code'], problem: string, isBroken: Rule['isBroken']): Rule => ({
  ...{ code, problem, isBroken },
});

/** The rules for a new password, in the order in which they are checked. */
export const passwordRules = {
  // A lone surrogate has no UTF-8 form: different passwords would have one hash.
  not_text: ruleOf('format', 'must be well-formed text', (text) => /\p{Surrogate}/u.test(text)),
  too_short: ruleOf('too_short', 'must have at least 10 characters', (text) => lengthOf(text) < lengthMin),
  too_long: ruleOf('too_long', 'must have at most 128 characters', (text) => lengthOf(text) > lengthMax),
  upper_case: ruleOf('format', 'must contain an upper-case letter', lacks(/\p{Lu}/u)),
  lower_case: ruleOf('format', 'must contain a lower-case letter', lacks(/\p{Ll}/u)),
  digit: ruleOf('format', 'must contain a digit', lacks(/\p{Nd}/u)),
  symbol: ruleOf('format', 'must contain a symbol', lacks(/[\p{P}\p{S}\p{Zs}]/u)),
  local_part: ruleOf(
    'not_allowed',
    "must not contain the part of the e-mail address before the '@'",
    (text, { localPart = '' }) => {
      const part = localPart.normalize('NFC').toLowerCase();
      return lengthOf(part) >= localPartLengthMin && text.toLowerCase().includes(part);
    },
  ),
  common: ruleOf(
    'not_allowed',
    'must not be a common one, nor a common one with digits or symbols added',
    (text, { common = false }) => common && isCommonPassword(text),
  ),
} as const;
export type PasswordRule = keyof typeof passwordRules;

/**
 * Returns the first rule that a new password breaks, or null (docs/api.md#8-limits, src/security/README.md#passwords).
 * Characters are code points of the NFC form, which is hashed too. Letters and digits of all scripts count.
 */
export function brokenPasswordRule(password: string, extra: ExtraPasswordChecks = {}): PasswordRule | null {
  if (password.length > unitsMax) return 'too_long';
  const text = password.normalize('NFC');
  const names = Object.keys(passwordRules) as PasswordRule[];
  return names.find((name) => passwordRules[name].isBroken(text, extra)) ?? null;
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

/** Returns the rule that a new password breaks; null when it breaks none. The problem tells all rules. */
export type CheckPassword = (password: string, localPart: string) => PasswordProblem | null;

export function makeCheckPassword(extraChecks: readonly ExtraCheck[]): CheckPassword {
  const rules = describePasswordRules(extraChecks);
  return (password, localPart) => {
    const broken = brokenPasswordRule(password, {
      localPart: extraChecks.includes('local-part') ? localPart : undefined,
      common: extraChecks.includes('common'),
    });
    if (broken === null) return null;
    const { code, problem } = passwordRules[broken];
    return { code, problem: `${problem} (the rules: ${rules})` };
  };
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}
