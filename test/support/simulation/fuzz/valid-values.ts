import fc from 'fast-check';
import type { Dice } from './dice.js';
import { anyValue } from './odd-values.js';
import type { Shape } from './shape.js';

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

export function validObject({ properties = {}, required = [] }: Shape, dice: Dice): Record<string, unknown> {
  const names = Object.keys(properties).filter((name) => required.includes(name) || dice.chance(0.5));
  return Object.fromEntries(names.map((name) => [name, validValue(properties[name] ?? {}, dice)]));
}

export function validArray(
  { items = {}, minItems = 0, maxItems = 4 }: Shape,
  dice: Dice,
): readonly unknown[] {
  const length = dice.between(minItems, Math.max(minItems, Math.min(maxItems, minItems + 3)));
  return Array.from({ length }, () => validValue(items, dice));
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

export function validString(of: Shape, dice: Dice): string {
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
