import { invalid } from './invalid-request.js';

// Control characters, and halves of surrogate pairs, which UTF-8 cannot carry.
const unprintable = /[\p{Cc}\p{Cs}]/u;

/*
 * The rules below as patterns of JSON Schema (ECMA-262 with the flag `u`), for the published document. They are spelled out,
 * because `\s` means other characters in other languages. A test compares them with the rules.
 */
const control = '\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff';
const space = '\\t\\n\\u000b\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';
const notControl = `[^${control}]`;
const notControlExceptLineEnds =
  '[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\ud800-\\udfff]';
const edge = `[^${control}${space}]`;
const within = (inner: string): string => `${edge}(${inner}*${edge})?`;

/** A text without control characters (`isPrintable`) that neither is blank nor has white space at its ends. */
export const trimmedPattern = `^${within(notControl)}$`;
/** What `checkName` accepts, besides the length. */
export const namePattern = `^[${space}]*${within(notControl)}[${space}]*$`;
/** What `checkName` accepts, and a blank text. */
export const optionalNamePattern = `^[${space}]*(${within(notControl)}[${space}]*)?$`;
/** What `checkText` accepts, besides the length. */
export const textPattern = `^[${space}]*${within(notControlExceptLineEnds)}[${space}]*$`;
/** A printable text that is not only slashes, without the segments `.` and `..`. */
export const objectKeyPattern = `^(?!(${notControl}*/)?\\.{1,2}(/|$))/*[^/${control}]${notControl}*$`;
/** A printable text without the segments `.` and `..`. */
export const folderPattern = `^(?!(${notControl}*/)?\\.{1,2}(/|$))${notControl}*$`;

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
  if (name === '' || Array.from(text).length > max)
    invalid(field, `must have 1 to ${max} characters`, text.trim() === '' ? 'too_short' : 'too_long');
  if (!isPrintable(name)) invalid(field, 'must not contain control characters');
  return name;
}

/**
 * Trims a text and checks it as `checkName` does, but accepts tabs and line ends.
 * @throws CommandRejected invalid_request
 */
export function checkText(text: string, field: string, max: number): string {
  const trimmed = text.trim();
  if (trimmed === '' || Array.from(text).length > max)
    invalid(field, `must have 1 to ${max} characters`, text.trim() === '' ? 'too_short' : 'too_long');
  if (!isPrintable(trimmed.replace(/[\t\r\n]/g, ''))) invalid(field, 'must not contain control characters');
  return trimmed;
}
