import fc from 'fast-check';
import type { Dice, Shape } from './shapes-and-dice.js';
import { toUSVString } from 'node:util';

/** Makes a value that fits the shape. Rules that no shape expresses may still refuse it. */
export function validValue(of: Shape, dice: Dice): unknown {
  const branches = of.anyOf ?? of.oneOf;
  if (branches !== undefined) return validValue(dice.pick(branches), dice);
  if (of.const !== undefined) return of.const;
  if (of.enum !== undefined) return dice.pick(of.enum);
  return of.type === undefined ? anyValue(dice) : (ofType[of.type]?.(of, dice) ?? null);
}

/** The makers by JSON type. Every other type gives null. */
const ofType: Readonly<Record<string, (of: Shape, dice: Dice) => unknown>> = {
  object: validObject,
  array: validArray,
  string: validString,
  integer: ({ minimum = 0, maximum = 1_000 }, dice) =>
    dice.between(minimum, Math.min(maximum, minimum + 1_000)),
  number: ({ minimum = 0 }, dice) => minimum + dice.below(1_000) / 10,
  boolean: (_, dice) => dice.chance(0.5),
};

function validObject({ properties = {}, required = [] }: Shape, dice: Dice): Record<string, unknown> {
  const names = Object.keys(properties).filter((name) => required.includes(name) || dice.chance(0.5));
  return Object.fromEntries(names.map((name) => [name, validValue(properties[name] ?? {}, dice)]));
}

function validArray({ items = {}, minItems = 0, maxItems = 4 }: Shape, dice: Dice): readonly unknown[] {
  const length = dice.between(minItems, Math.max(minItems, Math.min(maxItems, minItems + 3)));
  return Array.from({ length }, () => validValue(items, dice));
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

function validString(of: Shape, dice: Dice): string {
  const [example] = of.examples ?? [];
  if (of.known !== undefined && dice.chance(0.5)) return dice.pick(of.known);
  if (of.format === 'email') return `user-${dice.below(100_000)}@example.com`;
  if (of.format === 'uuid') return uuid(dice);
  if (of.format === 'date-time') return new Date(Date.now() + dice.below(300) * 86_400_000).toISOString();
  if (typeof example === 'string' && dice.chance(0.8)) return example;
  if (of.pattern !== undefined) return matching(of.pattern, dice);
  const least = Math.max(1, of.minLength ?? 1);
  return lettersOf(dice, dice.between(least, Math.max(least, Math.min(of.maxLength ?? 40, least + 20))));
}

export function uuid(dice: Dice): string {
  const hex = Array.from({ length: 32 }, () => dice.below(16).toString(16)).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

function lettersOf(dice: Dice, length: number): string {
  return Array.from({ length }, () => letters.charAt(dice.below(letters.length))).join('');
}

const samples = new Map<string, readonly string[]>();

function matching(pattern: string, dice: Dice): string {
  const known = samples.get(pattern) ?? samplesOf(pattern);
  samples.set(pattern, known);
  return dice.pick(known);
}

/** Paths, which patterns with a lookahead describe: fast-check cannot make texts of such a pattern. */
const paths = ['media', 'media/2026/launch', 'a-b_c.d', 'x y', '.hidden/...', 'ünï/\u{1f600}'] as const;

function samplesOf(pattern: string): readonly string[] {
  const expression = new RegExp(pattern, 'u');
  if (!pattern.includes('(?!')) {
    return fc.sample(fc.stringMatching(new RegExp(pattern)), { seed: 1, numRuns: 30 });
  }
  const found = paths.filter((path) => expression.test(path));
  if (found.length === 0) throw new Error(`no sample matches the pattern ${pattern}`);
  return found;
}

/** Makes a value that breaks one rule of the shape. If there is no rule to break, the value is valid. */
export function brokenValue(of: Shape, dice: Dice): unknown {
  const branches = of.anyOf ?? of.oneOf;
  if (branches !== undefined) return brokenValue(dice.pick(branches), dice);
  if (of.type === 'object') return brokenObject(of, dice);
  if (of.type === 'array' && dice.chance(0.5)) return brokenArray(of, dice);
  if (of.type === 'string') return brokenString(of, dice);
  if (of.type === 'integer' || of.type === 'number') {
    return dice.pick([(of.minimum ?? 0) - 1, (of.maximum ?? 2 ** 31) + 1, 0.5, -0, 1e300, 2 ** 53 + 2]);
  }
  return wrongType(of, dice);
}

function brokenObject(of: Shape, dice: Dice): unknown {
  const value = validObject(of, dice);
  const names = Object.keys(of.properties ?? {});
  const name = names.length === 0 ? 'x' : dice.pick(names);
  const without = Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
  return dice.choose<unknown>(
    () => without,
    () => ({ ...value, [dice.pick(['extra', 'id', 'role', 'created_at', 'Name'])]: anyValue(dice) }),
    () => ({ ...value, [name]: null }),
    () => ({ ...value, [name]: wrongType(of.properties?.[name] ?? {}, dice) }),
    () => ({ ...value, [name]: brokenValue(of.properties?.[name] ?? {}, dice) }),
    () => ({ ...value, [name]: brokenValue(of.properties?.[name] ?? {}, dice) }),
  );
}

function brokenArray(of: Shape, dice: Dice): unknown {
  const value = validArray(of, dice);
  return dice.choose<unknown>(
    () => [...value, brokenValue(of.items ?? {}, dice)],
    () => [...value, ...value, ...value],
    () => [],
    () => Array.from({ length: (of.maxItems ?? 300) + 1 }, () => value[0] ?? null),
  );
}

function brokenString(of: Shape, dice: Dice): unknown {
  const value =
    of.enum === undefined && of.const === undefined ? validString(of, dice) : String(validValue(of, dice));
  const most = of.maxLength ?? 5_000;
  return dice.choose<unknown>(
    () => '',
    () => value.slice(0, Math.max(0, (of.minLength ?? 1) - 1)),
    () => value.padEnd(most + 1, 'x'),
    () => value.padEnd(most, 'é'),
    () => `${value} `,
    () => value.toUpperCase(),
    () => oddString(dice, value),
    () => wrongType(of, dice),
  );
}

export function wrongType(of: Shape, dice: Dice): unknown {
  for (;;) {
    const value = anyValue(dice);
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    if (type !== (of.type === 'integer' ? 'number' : of.type)) return value;
  }
}

/** Makes a valid value with an odd string in place of one of its strings. */
export function oddlySpelled(of: Shape, dice: Dice): unknown {
  const value = validValue(of, dice);
  const spots = stringSpots(value);
  if (spots.length === 0) return value;
  const spot = dice.pick(spots);
  return replaceAt(value, spot, (near) => oddString(dice, near));
}

type Spot = readonly (string | number)[];

function stringSpots(value: unknown, at: Spot = []): readonly Spot[] {
  if (typeof value === 'string') return [at];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, of]) => stringSpots(of, [...at, key]));
}

function replaceAt(value: unknown, [first, ...rest]: Spot, change: (text: string) => string): unknown {
  if (first === undefined) return change(String(value));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, of]): [string, unknown] => [
    key,
    key === String(first) ? replaceAt(of, rest, change) : of,
  ]);
  return Array.isArray(value) ? entries.map(([, of]) => of) : Object.fromEntries(entries);
}

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

function oddString(dice: Dice, near = ''): string {
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
