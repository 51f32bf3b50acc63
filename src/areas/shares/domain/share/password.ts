import { z } from 'zod';
import { invalid } from '../../../../validation/field-problems.js';

/** In code points of the NFC form, which is also hashed (src/security/README.md#passwords). */
const sharePasswordMin = 4;
const sharePasswordMax = 128;
/** No longer text is read. The normal form of a text of many marks takes the square of its length. */
const sharePasswordUnitsMax = 512;

/** Checks a new password of a share and trims it: people paste blanks with it. @throws CommandRejected invalid_request */
export function checkSharePassword(given: string, field = 'password'): string {
  const password = given.trim();
  checkLength(password, sharePasswordMin, field);
  // A lone surrogate has no UTF-8 form, so different passwords would have the same hash.
  if (/\p{Surrogate}/u.test(password)) invalid(field, 'must be well-formed text');
  return password;
}

/** Checks the length of a password that a visitor tries, and trims it as the new one was. @throws CommandRejected invalid_request */
export function checkTriedPassword(given: string): string {
  const password = given.trim();
  checkLength(password, 1, '');
  return password;
}

function checkLength(password: string, min: number, field: string): void {
  const length = lengthOf(password);
  if (length >= min && length <= sharePasswordMax) return;
  const code = length < min ? 'too_short' : 'too_long';
  invalid(field, `must have ${min} to ${sharePasswordMax} characters`, code);
}

/** Decides how many wrong passwords a share takes in a day (src/security/README.md#guessing). */
export const passwordClass = z.enum(['short', 'long']);
export type PasswordClass = z.infer<typeof passwordClass>;

/** Passwords from this length on are long, in code points of the NFC form. */
const longPasswordMin = 8;

export function passwordClassOf(password: string): PasswordClass {
  return lengthOf(password) < longPasswordMin ? 'short' : 'long';
}

function lengthOf(password: string): number {
  if (password.length > sharePasswordUnitsMax) return password.length;
  return Array.from(password.normalize('NFC')).length;
}
