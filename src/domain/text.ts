import { invalid } from './invalid-request.js';

// Control characters, and halves of surrogate pairs, which UTF-8 cannot carry.
const unprintable = /[\p{Cc}\p{Cs}]/u;

export function isPrintable(text: string): boolean {
  return !unprintable.test(text);
}

/**
 * Trims a name and checks it: 1 to `max` characters (code points), no control character.
 * @throws CommandRejected invalid_request
 */
export function checkName(text: string, field = 'name', max = 64): string {
  const name = text.trim();
  // The maximum applies before trimming, so that it agrees with the maximum that a client checks.
  if (name === '' || Array.from(text).length > max) invalid(field, `must have 1 to ${max} characters`);
  if (!isPrintable(name)) invalid(field, 'must not contain control characters');
  return name;
}

/**
 * Trims a text and checks it as `checkName` does, but accepts tabs and line ends.
 * @throws CommandRejected invalid_request
 */
export function checkText(text: string, field: string, max: number): string {
  const trimmed = text.trim();
  if (trimmed === '' || Array.from(text).length > max) invalid(field, `must have 1 to ${max} characters`);
  if (!isPrintable(trimmed.replace(/[\t\r\n]/g, ''))) invalid(field, 'must not contain control characters');
  return trimmed;
}
