import { invalid } from './invalid-request.js';

// Control characters, and halves of surrogate pairs, which UTF-8 cannot carry.
const unprintable = /[\p{Cc}\p{Cs}]/u;

/**
 * The embeddings, overrides and isolates of the bidirectional algorithm. In a name they change how the text around it reads, for
 * example the end of a file name. The marks U+200E, U+200F and U+061C and the joiners stay: names in Arabic, Hebrew and Persian
 * need them.
 */
const reordering = /[\u202a-\u202e\u2066-\u2069]/u;

/*
 * The rules below as patterns of JSON Schema (ECMA-262 with the flag `u`), for the published document. They are spelled out,
 * because `\s` means other characters in other languages. A test compares them with the rules.
 */
const control = '\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff';
const space = '\\t\\n\\u000b\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';
const reorders = '\\u202a-\\u202e\\u2066-\\u2069';
const notControl = `[^${control}]`;
const shown = `[^${control}${reorders}]`;
const shownOrLineEnd = `[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\ud800-\\udfff${reorders}]`;
const within = (inner: string, edge: string): string => `${edge}(${inner}*${edge})?`;
const edgeOfName = `[^${control}${space}${reorders}]`;

/** A text without control characters (`isPrintable`) that neither is blank nor has white space at its ends. */
export const trimmedPattern = `^${within(notControl, `[^${control}${space}]`)}$`;
/** What `checkName` accepts, besides the length. */
export const namePattern = `^[${space}]*${within(shown, edgeOfName)}[${space}]*$`;
/** What `checkName` accepts, and a blank text. */
export const optionalNamePattern = `^[${space}]*(${within(shown, edgeOfName)}[${space}]*)?$`;
/** What `checkText` accepts, besides the length. */
export const textPattern = `^[${space}]*${within(shownOrLineEnd, edgeOfName)}[${space}]*$`;
/** A printable text that is not only slashes, without the segments `.` and `..`. */
export const objectKeyPattern = `^(?!(${notControl}*/)?\\.{1,2}(/|$))/*[^/${control}]${notControl}*$`;
/** A printable text without the segments `.` and `..`. */
export const folderPattern = `^(?!(${notControl}*/)?\\.{1,2}(/|$))${notControl}*$`;

/** Removes the characters that `checkName` refuses because they change the direction of a text. */
export function withoutReordering(text: string): string {
  return text.replaceAll(new RegExp(reordering, 'gu'), '');
}

export function isPrintable(text: string): boolean {
  return !unprintable.test(text);
}

/** @throws CommandRejected invalid_request for a text that people could not read as it is written */
function checkShown(text: string, field: string): void {
  if (!isPrintable(text)) invalid(field, 'must not contain control characters');
  if (reordering.test(text))
    invalid(field, 'must not contain characters that change the direction of a text');
}

/**
 * Trims a name and checks it: 1 to `max` characters (code points), no control character, and none that changes the direction of
 * the text.
 * @throws CommandRejected invalid_request
 */
export function checkName(text: string, field = 'name', max = 64): string {
  const name = text.trim();
  // The maximum applies before trimming, so that it agrees with the maximum that a client checks.
  if (name === '' || Array.from(text).length > max)
    invalid(field, `must have 1 to ${max} characters`, text.trim() === '' ? 'too_short' : 'too_long');
  checkShown(name, field);
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
  checkShown(trimmed.replace(/[\t\r\n]/g, ''), field);
  return trimmed;
}
