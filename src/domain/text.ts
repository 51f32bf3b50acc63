import { invalid } from './invalid-request.js';

// Control characters, and halves of surrogate pairs, which UTF-8 cannot carry.
const unprintable = /[\p{Cc}\p{Cs}]/u;

export function isPrintable(text: string): boolean {
  return !unprintable.test(text);
}

/**
 * A name given by people: outer white space is cut off, 1 to `max` characters (code points) remain, none of them a
 * control character. @throws CommandRejected invalid_request
 */
export function checkName(text: string, field = 'name', max = 64): string {
  const name = text.trim();
  const length = Array.from(name).length;
  if (length < 1 || length > max) invalid(field, `must have 1 to ${max} characters`);
  if (!isPrintable(name)) invalid(field, 'must not contain control characters');
  return name;
}
