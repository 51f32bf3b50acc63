import { toUSVString } from 'node:util';
import { z } from 'zod';
import type { Route } from '../../../../src/http/route.js';
import {
  brokenValue,
  oddlySpelled,
  wrongType,
  oddTexts,
  anyValue,
  nested,
  uuid,
  validValue,
} from './values.js';
import type { FuzzCaller, KnownIds, PathIds } from './callers.js';
import { type Dice, shapeOf, type Shape } from './shapes-and-dice.js';
import { contentType, oddHeaders, oddMethods, oddPath, type Header } from './heads.js';

/** A route with the shapes of its input. */
export interface Target {
  readonly route: Route;
  readonly params: Shape;
  readonly query: Shape;
  /** Null if the route takes no body. */
  readonly body: Shape | null;
  /**
   * The weight beside other routes. Routes that remove access, or that are slow, have a small weight, because they
   * would leave little to test.
   */
  readonly weight: number;
}

export function makeTarget(route: Route): Target {
  const { params, query, body } = route.request;
  return {
    route,
    params: shapeOf(params),
    query: shapeOf(query),
    body:
      body instanceof z.ZodUndefined ? null : route.raw === undefined ? shapeOf(body) : { type: 'object' },
    weight: endsThings(route) || isAboutTheService(route) || route.name === 'sendEmailCode' ? 1 : 5,
  };
}

function endsThings({ method, name }: Route): boolean {
  return method === 'DELETE' || name === 'logout' || name === 'changePassword';
}

function isAboutTheService({ access, method }: Route): boolean {
  return access.kind === 'public' && method === 'GET';
}

export interface FuzzRequest {
  readonly method: string;
  /** Path and query in their sent form. */
  readonly target: string;
  /** The path's parameters, if the path is unchanged. */
  readonly params: PathIds;
  /** The changes to the request. */
  readonly kind: string;
  readonly bytes: Buffer;
  /** Whether no route may accept its body. */
  readonly unacceptable: boolean;
}

/** Makes a request for a route by a caller: well-formed, or with one or two flaws. */
export function makeRequest(
  { route, params, query, body }: Target,
  { credentials, ids, words }: FuzzCaller,
  dice: Dice,
): FuzzRequest {
  const given = paramsFor(route.path, params, ids, dice);
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(given[name] ?? ''));
  const strangePath = dice.chance(0.05);
  const strangeMethod = dice.chance(0.02);
  const strangeHeaders = [...conditions(route, dice), ...(dice.chance(0.08) ? oddHeaders(dice) : [])];
  const target = strangePath ? oddPath(path, dice) : path + queryFor(query, dice);
  const method = strangeMethod ? dice.pick(oddMethods) : route.method;
  const content = contentFor(body && words.inform(body), dice);
  const headers: readonly Header[] = [
    ['host', 'localhost'],
    ...credentials,
    ...content.headers,
    ...strangeHeaders,
  ];
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return {
    method,
    target,
    params: strangePath ? {} : given,
    kind: [
      content.kind,
      ...(strangePath ? ['odd path'] : []),
      ...(strangeMethod ? ['odd method'] : []),
      ...strangeHeaders.map(([name]) => name),
    ].join(', '),
    bytes: Buffer.concat([
      Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1'),
      content.bytes,
    ]),
    unacceptable: body !== null && route.raw === undefined && content.unacceptable === true,
  };
}

/** Makes the headers that this route reads: keys that repeat, and revisions that may be the resource's. */
function conditions({ idempotent, ifMatch }: Route, dice: Dice): readonly Header[] {
  return [
    ...(idempotent !== undefined && dice.chance(0.3)
      ? [['idempotency-key', dice.pick(['a', 'b', 'c'])] as const]
      : []),
    ...(ifMatch === true && dice.chance(0.3) ? [['if-match', `"${dice.below(3)}-abc"`] as const] : []),
  ];
}

/** Makes a body with the headers that describe it. Rarely, a route without a body gets one. */
function contentFor(body: Shape | null, dice: Dice): FuzzBody & { readonly headers: readonly Header[] } {
  if (body === null && !dice.chance(0.02)) return { kind: 'no body', bytes: Buffer.alloc(0), headers: [] };
  const made = makeBody(body ?? { type: 'object' }, dice);
  const { kind, bytes } = made;
  const type = contentType(dice);
  if (!dice.chance(0.03)) return { ...made, headers: [...type, ['content-length', String(bytes.length)]] };
  return {
    ...made,
    kind: `${kind}, chunked`,
    bytes: chunked(bytes),
    headers: [...type, ['transfer-encoding', 'chunked']],
  };
}

function chunked(bytes: Buffer): Buffer {
  const end = Buffer.from('0\r\n\r\n');
  if (bytes.length === 0) return end;
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n'), end]);
}

/** Returns mostly ids that the caller knows, sometimes unknown ids, and rarely texts that are no ids. */
function paramsFor(pattern: string, shape: Shape, ids: KnownIds, dice: Dice): PathIds {
  const known = dice.chance(0.85) ? ids.idsFor(pattern, dice) : {};
  const odd = oddTexts.filter((text) => text !== '');
  return Object.fromEntries(
    Object.keys(shape.properties ?? {}).map((name) => [
      name,
      known[name] ?? (dice.chance(0.7) ? uuid(dice) : dice.pick(odd)),
    ]),
  );
}

/** Makes a query. Only text can be sent, so other values are converted to text. */
function queryFor(shape: Shape, dice: Dice): string {
  if (Object.keys(shape.properties ?? {}).length === 0 || dice.chance(0.4)) return '';
  const value = dice.choose<unknown>(
    () => validValue(shape, dice),
    () => brokenValue(shape, dice),
    () => oddlySpelled(shape, dice),
  );
  if (typeof value !== 'object' || value === null) return '?x';
  const pairs = Object.entries(value).map(([name, of]): [string, string] => [name, toUSVString(String(of))]);
  return `?${new URLSearchParams(pairs).toString()}`.slice(0, 4_200);
}

/** A request's body in bytes. `kind` names its flaw in a failure message. */
interface FuzzBody {
  readonly kind: string;
  readonly bytes: Buffer;
  /** No route may accept it: it is no valid JSON (src/http/README.md#bodies), or has fields that no route knows. */
  readonly unacceptable?: true;
}

const json = (value: unknown): string => JSON.stringify(value);

/** Makes a body for a route that takes one: valid, almost valid, or invalid. */
function makeBody(shape: Shape, dice: Dice): FuzzBody {
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
