import { invalid } from './invalid-request.js';

// Control characters, and halves of surrogate pairs, which UTF-8 cannot carry.
const unprintable = /[\p{Cc}\p{Cs}]/u;

export function isPrintable(text: string): boolean {
  return !unprintable.test(text);
}

/**
 * A name given by people, of `max` characters (code points) at most: outer white space is cut off, and one or more remain, none of
 * them a control character. @throws CommandRejected invalid_request
 */
export function checkName(text: string, field = 'name', max = 64): string {
  const name = text.trim();
  // What is cut off counts as well: a client that goes by the stated length must not be told two things.
  if (name === '' || Array.from(text).length > max) invalid(field, `must have 1 to ${max} characters`);
  if (!isPrintable(name)) invalid(field, 'must not contain control characters');
  return name;
}

/**
 * A text by people, of `max` characters (code points) at most: outer white space is cut off, and one or more remain, of control
 * characters only tabs and ends of lines. @throws CommandRejected invalid_request
 */
export function checkText(text: string, field: string, max: number): string {
  const trimmed = text.trim();
  if (trimmed === '' || Array.from(text).length > max) invalid(field, `must have 1 to ${max} characters`);
  if (!isPrintable(trimmed.replace(/[\t\r\n]/g, ''))) invalid(field, 'must not contain control characters');
  return trimmed;
}
