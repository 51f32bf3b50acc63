import { invalid } from './field-problems.js';
import type { GrantSource, MailOutcome } from './fields.js';

/** Writes a number with its noun: `1 byte`, `2 bytes`. @param one the noun of one thing, whose plural ends in s */
export function countInWords(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

/** Returns a name that people chose, in quotation marks and with control characters escaped. */
export function inQuotes(text: string): string {
  return JSON.stringify(text);
}

/** Returns how a grant came about. */
export function sourceInWords(source: GrantSource): string {
  if (source === 'registration') return 'at the registration';
  return source === 'operator' ? 'by an operator' : `for order ${source}`;
}

/** Returns the end of a sentence about a mail. */
export function outcomeInWords(outcome: MailOutcome): string {
  const ends = {
    accepted: 'accepted it',
    refused: 'refused it',
    unknown: 'did not say whether it accepted it',
  };
  return `the mail server ${ends[outcome]}`;
}

/** Returns the names in a list, or `nothing`. */
export function listInWords(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ');
}

/** Decodes percent-encoding. Returns null for a text that is no encoded UTF-8, for example one with a stray percent sign. */
export function decodeUri(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

// Control characters, and halves of surrogate pairs, which UTF-8 cannot carry.
const unprintable = /[\p{Cc}\p{Cs}]/u;

/**
 * Characters that show nothing: white space, control characters, those that Unicode says to ignore (zero widths, fillers, tags), the
 * blank Braille pattern and the null notehead.
 */
const invisible = /[\p{White_Space}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;

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
/**
 * Control characters, and those that change the direction or show nothing. The rule refuses names of invisible characters beyond U+FFFF
 * too. They are not here, because programs that read the pattern without the flag `u` would see halves of them.
 */
const unseen =
  `${control}${space}\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u2800` +
  '\\u3164\\ufe00-\\ufe0f\\uffa0\\ufff0-\\ufff8';
const seen = `[^${unseen}]`;
const within = (inner: string, edge: string): string => `${edge}(${inner}*${edge})?`;

/** A text without control characters (`isPrintable`) that neither is blank nor has white space at its ends. */
export const trimmedPattern = `^${within(notControl, `[^${control}${space}]`)}$`;
/** What `checkName` accepts, besides the length. */
export const namePattern = `^[${space}]*${shown}*${seen}${shown}*[${space}]*$`;
/** What `checkName` accepts, and a blank text. */
export const optionalNamePattern = `^[${space}]*(${shown}*${seen}${shown}*[${space}]*)?$`;
/** What `checkText` accepts, besides the length. */
export const textPattern = `^[${space}]*${shownOrLineEnd}*${seen}${shownOrLineEnd}*[${space}]*$`;
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

/** Returns whether a text shows something where it is displayed. */
export function showsSomething(text: string): boolean {
  return text.replace(invisible, '') !== '';
}

/** @throws CommandRejected invalid_request for a text that people could not read as it is written, or not see at all */
function checkShown(text: string, field: string): void {
  if (!isPrintable(text)) invalid(field, 'must not contain control characters');
  if (reordering.test(text))
    invalid(field, 'must not contain characters that change the direction of a text');
  if (!showsSomething(text)) invalid(field, 'must have a character that people can see', 'too_short');
}

/**
 * Trims a name and checks it: 1 to `max` characters (code points), one of which people can see, no control character, and none that
 * changes the direction of the text.
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

/** Cuts a text to `max` UTF-16 units, and never within a surrogate pair, whose half has no UTF-8 form. */
export function cutText(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '');
}

/** Escapes control characters: a name of a stranger must not move the cursor of a terminal. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text of XML or HTML, between two tags or in an attribute. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** Returns the essence of a media type: lower case, without parameters (WHATWG MIME Sniffing, section 4). */
export function mediaTypeEssence(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}
