import type { Dice } from './dice.js';
import { anyValue, oddString } from './odd-values.js';
import type { Shape } from './shape.js';
import { validArray, validObject, validString, validValue } from './valid-values.js';

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
