import { toUSVString } from 'node:util';
import type { Dice } from './dice.js';

/** Strings that have broken parsers, comparisons, look-ups and pages before. */
export const oddStrings: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  'a\ud83d',
  '\uffff',
  '\ufeff',
  '\u202egnp.exe',
  '\u2066\u2069',
  '\u200b',
  'a\u200db\u200c',
  'שלום',
  'e\u0301',
  '\u00e9',
  '\u212b',
  'İ',
  'ß',
  'ﬁ',
  'ａｄｍｉｎ',
  '١٢٣',
  '👩‍👩‍👧‍👦',
  `z${'\u0301'.repeat(200)}`,
  '\u2028',
  'a\r\nx-injected: 1',
  '\u001b[31m',
  '\u007f',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '$where',
  '$ne',
  'a.b',
  '-1',
  '1e3',
  'NaN',
  'null',
  'undefined',
  'true',
  '../../etc/passwd',
  '..',
  '%00',
  '%2e%2e%2f',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '{{7*7}}',
  '${7*7}',
  'x'.repeat(1_000),
  'é'.repeat(4_000),
];

/** The strings that a URL can contain: without lone surrogates. */
export const oddTexts = oddStrings.filter((text) => text === toUSVString(text));

export function oddString(dice: Dice, near = ''): string {
  const odd = dice.pick(oddStrings);
  return dice.choose(
    () => odd,
    () => odd + near,
    () => near + odd,
    () => near.slice(0, 2) + odd + near.slice(2),
    () => dice.pick(oddStrings) + odd,
  );
}

/** Returns a value of any type. */
export function anyValue(dice: Dice, depth = 0): unknown {
  const leaf = (): unknown =>
    dice.pick<unknown>([
      ...[null, true, false, 0, -1, 1.5, 1e21, 2 ** 53, -(2 ** 31) - 1, Number.MIN_VALUE],
      ...['', 'x', '2026-01-01T00:00:00.000Z', oddString(dice)],
    ]);
  if (depth > 2) return leaf();
  return dice.choose(
    leaf,
    leaf,
    () => Array.from({ length: dice.below(4) }, () => anyValue(dice, depth + 1)),
    () =>
      Object.fromEntries(
        Array.from({ length: dice.below(4) }, (_, at) => [`k${at}`, anyValue(dice, depth + 1)]),
      ),
  );
}

/** Returns JSON of arrays or objects, nested to this number of levels. */
export function nested(dice: Dice, levels: number): string {
  return dice.chance(0.5)
    ? '['.repeat(levels) + ']'.repeat(levels)
    : '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
}
