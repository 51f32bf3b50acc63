import test from 'ava';
import { checkSharePassword, checkTriedPassword } from '../../src/areas/shares/domain/share/password.js';
import { checkCdnDomain } from '../../src/areas/storages/domain/delivery/delivery.js';
import { emailField, signInCode } from '../../src/areas/accounts/routes/auth-fields.js';
import { brokenPasswordRule } from '../../src/security/passwords/password-rules.js';
import { parseEmailAddress } from '../../src/validation/email-address.js';

const characters = 128 * 1_024;
/** Unicode sorts marks of two classes, which takes the square of their number. */
const marks = `a${'\u0301'.repeat(characters / 2)}${'\u0316'.repeat(characters / 2)}`;
/** To write a label in ASCII takes the square of its length. */
const label = Array.from({ length: characters }, (_, at) =>
  String.fromCodePoint(0x4e00 + ((at * 7_919) % 20_000)),
).join('');

/** A schema calls its rules for a text that is longer than its maximum, too. */
const readers: readonly (readonly [name: string, read: () => unknown])[] = [
  ['address', () => parseEmailAddress(`${marks}@example.com`)],
  ['domain of an address', () => parseEmailAddress(`ada@${label}.com`)],
  ['address of a request', () => emailField.safeParse(`${marks}@example.com`).data ?? null],
  ['code of a request', () => signInCode.safeParse(marks).data ?? null],
  ['password that a visitor tries', () => checkTriedPassword(marks)],
  ['new password', () => (brokenPasswordRule(marks) === 'too_long' ? null : 'read')],
  ['password of a share', () => checkSharePassword(marks)],
  ['domain of a CDN', () => checkCdnDomain(`${label}.com`)],
];

for (const [name, read] of readers) {
  test(`The work on a long ${name} grows no faster than the text`, (t) => {
    // When
    const before = process.cpuUsage();
    try {
      // Then
      t.is(read(), null);
    } catch (error) {
      t.is((error as { code?: string }).code, 'invalid_request');
    }
    t.true(process.cpuUsage(before).user < 2_000_000);
  });
}

test('Texts of the longest kind that fits are read', (t) => {
  t.is(parseEmailAddress(`${' '.repeat(290)}ada@example.com`)?.address, 'ada@example.com');
  t.is(checkCdnDomain('BÜCHER.example.com'), 'xn--bcher-kva.example.com');
  // Four code points that are one character
  t.notThrows(() => checkSharePassword('\u03b1\u0313\u0300\u0345'.repeat(128)));
  t.is(checkTriedPassword(`word${' '.repeat(508)}`), 'word');
});
