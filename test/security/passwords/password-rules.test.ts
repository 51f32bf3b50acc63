import { readFileSync } from 'node:fs';
import test from 'ava';
import { packageFile } from '../../../src/package-files.js';
import { isCommonPassword } from '../../../src/security/passwords/common-passwords.js';
import {
  brokenPasswordRule,
  makeCheckPassword,
  type PasswordRule,
  type PasswordProblem,
  passwordRules,
} from '../../../src/security/passwords/password-rules.js';

test('The error names the first broken rule', (t) => {
  const cases: readonly (readonly [string, ReturnType<typeof brokenPasswordRule>])[] = [
    ['Abcdefgh1!', null],
    ['Äbcdefgh1!', null],
    ['Ñandú-٣-çok', null],
    ['Abcdefg1!', 'too_short'],
    [`Aa1!${'👍'.repeat(5)}`, 'too_short'],
    [`Aa1!${'👍'.repeat(6)}`, null],
    [`Aa1!${'👍'.repeat(124)}`, null],
    [`Aa1!${'x'.repeat(125)}`, 'too_long'],
    ['Aa1!e\u0301e\u0301e\u0301e\u0301e\u0301', 'too_short'],
    ['abcdefgh1!', 'upper_case'],
    ['ABCDEFGH1!', 'lower_case'],
    ['Abcdefghi!', 'digit'],
    ['Abcdefgh12', 'symbol'],
    ['Abcdefgh 12', null],
    ['Abcdefgh\t12', 'symbol'],
    ['Abcdefgh1!\ud800', 'not_text'],
    ['', 'too_short'],
  ];
  for (const [password, rule] of cases)
    t.is(brokenPasswordRule(password, { localPart: 'someone' }), rule, password);
});

test('A password must not contain a local part of 6 characters or more, in any case', (t) => {
  t.is(brokenPasswordRule('xX-JohnDoe-1', { localPart: 'johndoe' }), 'local_part');
  t.is(brokenPasswordRule('xX-johndoe-1', { localPart: 'JohnDoe' }), 'local_part');
  t.is(brokenPasswordRule('xX-johnny-12', { localPart: 'johnny' }), 'local_part', 'six');
  t.is(brokenPasswordRule('xX-johnd-123', { localPart: 'johnd' }), null, 'five');
  t.is(brokenPasswordRule('xX-johndoe-1'), null);
});

test('No message of a rule depends on the password', (t) => {
  for (const { problem } of Object.values(passwordRules)) t.regex(problem, /^must /);
});

test('A common password is refused in any case, with letters replaced, and with a usual ending', (t) => {
  const common = [
    'Password1!',
    'password123!',
    'PASSWORD!123',
    'P@ssw0rd2024',
    'Pa$$w0rd1!',
    'Passw0rd!!!',
    'Qwertyuiop1!',
    'Welcome2024!',
    'Welcome@123',
    'Liverpool#07',
    'L1verp00l!99',
    'Ye11ow#2024',
    'Iloveyou1234567890!@#$',
    'Trustno1!!11',
    '1qaz2wsx!@#',
    'Administrator1!',
    'Stowage-2026',
    'Ｐassword1!'.normalize('NFKC'),
  ];
  for (const password of common) t.true(isCommonPassword(password), password);
});

test('A password that contains a common word is not common', (t) => {
  const own = [
    'Correct-Horse-7-Battery',
    'Password of mine 7!',
    'my-Password-1',
    'Password5917!',
    'Password59!34',
    'Dragon+Falcon-7',
    'Ärger-über-3-Äpfel',
    '1234567890!',
    '',
    '!',
  ];
  for (const password of own) t.false(isCommonPassword(password), password);
});

test('Every word of the list is refused, in lower and upper case, alone and with an ending', (t) => {
  const list = packageFile('src/security/passwords/common-passwords.txt');
  const words = readFileSync(list, 'utf8').trim().split(/\s+/);
  t.is(words.length, 10_000);
  t.is(new Set(words).size, 10_000);
  for (const word of words) {
    t.true(isCommonPassword(word) && isCommonPassword(`${word.toUpperCase()}7!`), word);
  }
});

test('A look-up takes no longer for a long password', (t) => {
  const took = (password: string) => {
    const began = performance.now();
    for (let index = 0; index < 200; index += 1) isCommonPassword(password);
    return performance.now() - began;
  };
  took('Warm-up-1');
  t.true(took('1'.repeat(64) + '!'.repeat(64)) < 1_000);
});

test('The extra checks run as configured', (t) => {
  const both = makeCheckPassword(['local-part', 'common']);
  const begins = (problem: PasswordProblem | null, rule: PasswordRule): void => {
    const text = problem?.problem ?? 'null';
    t.true(text.startsWith(`${passwordRules[rule].problem} (the rules: `), text);
  };
  begins(both('Adalovelace-1', 'adalovelace'), 'local_part');
  begins(both('Password123!', 'ada'), 'common');
  begins(both('password123', 'ada'), 'upper_case');
  t.is(both('Correct-Horse-7', 'ada'), null);
  t.is(makeCheckPassword(['local-part'])('Password123!', 'ada'), null);
  t.is(makeCheckPassword(['common'])('Adalovelace-1', 'adalovelace'), null);
  t.is(makeCheckPassword([])('Password123!', 'password'), null);
});

test('A refusal states the rules that apply, and no others', (t) => {
  const without = makeCheckPassword([])('short', 'ada')?.problem ?? '';
  t.is(
    without,
    'must have at least 10 characters (the rules: 10 to 128 characters with upper-case and lower-case letters, ' +
      'digits and symbols; a space counts as a symbol)',
  );
  const common = makeCheckPassword(['common'])('short', 'ada')?.problem ?? '';
  t.regex(
    common,
    /a space counts as a symbol; it is not a common password, nor one with digits or symbols added\)$/,
  );
  t.notRegex(common, /e-mail/);
});
