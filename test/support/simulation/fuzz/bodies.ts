import type { Dice } from './dice.js';
import { brokenValue, oddlySpelled, wrongType } from './broken-values.js';
import { anyValue, nested } from './odd-values.js';
import type { Shape } from './shape.js';
import { validValue } from './valid-values.js';

/** A request's body in bytes. `kind` names its flaw in a failure message. */
export interface FuzzBody {
  readonly kind: string;
  readonly bytes: Buffer;
  /** No route may accept it: it is no valid JSON (src/http/README.md#bodies), or has fields that no route knows. */
  readonly unacceptable?: true;
}

const json = (value: unknown): string => JSON.stringify(value);

/** Makes a body for a route that takes one: valid, almost valid, or invalid. */
export function makeBody(shape: Shape, dice: Dice): FuzzBody {
  const roll = dice.below(100);
  const of = (kind: string, text: string): FuzzBody => ({ kind, bytes: Buffer.from(text) });
  if (roll < 45) return of('valid', json(validValue(shape, dice)));
  if (roll < 65) return of('one rule broken', json(brokenValue(shape, dice)));
  if (roll < 77) return of('odd strings', json(oddlySpelled(shape, dice)));
  if (roll < 82) return of('another type', json(wrongType(shape, dice)));
  const valid = json(validValue(shape, dice));
  if (roll < 88) return unacceptable(of('prototype keys', withKey(valid, prototypeKey(dice))));
  if (roll < 92) return unacceptable(of('a repeated key', withKey(valid, repeatedKey(valid, dice))));
  if (roll < 94)
    return of(
      'deep nesting',
      withKey(valid, `"extra":${nested(dice, dice.pick([19, 20, 21, 500, 20_000]))}`),
    );
  if (roll < 95)
    return of('huge', json({ padding: 'x'.repeat(dice.pick([60_000, 65_520, 65_536, 70_000])) }));
  return damaged(valid, dice);
}

function prototypeKey(dice: Dice): string {
  const name = dice.pick([
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'valueOf',
    '\\u005f_proto__',
  ]);
  return `"${name}":${json(dice.pick([{ role: 'owner' }, { prototype: { isAdmin: true } }, 'x', null, 1]))}`;
}

/** Returns one of the first keys again, sometimes spelled with an escape. */
function repeatedKey(valid: string, dice: Dice): string {
  const keys = [...valid.matchAll(/"(\w+)":/g)].map(([, key]) => key ?? '');
  const key = keys.length === 0 ? 'x' : dice.pick(keys);
  const escaped = `\\u${key.charCodeAt(0).toString(16).padStart(4, '0')}${key.slice(1)}`;
  const second = `"${dice.pick([key, escaped])}":${json(anyValue(dice))}`;
  return keys.length === 0 ? `${second},${second}` : second;
}

/** Puts another member in front of the others. */
function withKey(object: string, member: string): string {
  if (!object.startsWith('{')) return `{${member}}`;
  return object === '{}' ? `{${member}}` : `{${member},${object.slice(1)}`;
}

/** Makes text or bytes that may be acceptable: a cut may leave nothing, which is an empty body. */
function damaged(valid: string, dice: Dice): FuzzBody {
  if (dice.chance(0.6)) return unacceptable(malformed(valid, dice));
  const bytes = Buffer.from(valid);
  const cut = dice.below(bytes.length + 1);
  const junk = Buffer.from(Array.from({ length: dice.between(1, 8) }, () => dice.below(256)));
  const blank = dice.pick([' ', '\n', '\u00a0', '\v', '']);
  return dice.pick<FuzzBody>([
    { kind: 'cut short', bytes: bytes.subarray(0, cut) },
    { kind: 'bytes in between', bytes: Buffer.concat([bytes.subarray(0, cut), junk, bytes.subarray(cut)]) },
    { kind: 'a byte order mark', bytes: Buffer.from(`\ufeff${valid}`) },
    { kind: 'white space', bytes: Buffer.from(blank) },
  ]);
}

function malformed(valid: string, dice: Dice): FuzzBody {
  const number = dice.pick(['NaN', '1e999', '-', '01', '.5', '0x1', 'Infinity']);
  const texts: Readonly<Record<string, string>> = {
    'two documents': valid + valid,
    'a comment': `/* */${valid}`,
    'a trailing comma': `${valid.slice(0, -1)},}`,
    'no JSON number': withKey(valid, `"n":${number}`),
    'a control character in a string': withKey(valid, '"c":"\u0001"'),
  };
  const kinds = Object.entries(texts).map(([kind, text]) => ({ kind, bytes: Buffer.from(text) }));
  // The bytes are inside a string if there is one: a decoder that replaces invalid bytes would make valid JSON of it.
  const at = valid.indexOf(':"') + 2;
  const notUtf8 = Buffer.concat([
    Buffer.from(valid.slice(0, at)),
    Buffer.from([0xc0, 0xaf, 0xff]),
    Buffer.from(valid.slice(at)),
  ]);
  return dice.pick<FuzzBody>([
    ...kinds,
    { kind: 'invalid UTF-8', bytes: notUtf8 },
    { kind: 'UTF-16', bytes: Buffer.from(valid, 'utf16le') },
  ]);
}

function unacceptable(body: FuzzBody): FuzzBody {
  return { ...body, unacceptable: true };
}
