import type { Dice } from './shapes-and-dice.js';
import { oddStrings, oddTexts } from './values.js';

export type Header = readonly [name: string, value: string];

const contentTypes = [
  ...[
    'text/plain',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/xml',
  ],
  ...[
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'json',
    '',
  ],
  ...[
    'application/json, text/plain',
    'application/merge-patch+json',
    'application/json;',
    '*/*',
    'APPLICATION/JSON',
  ],
  ...['application/json;charset=UTF-8', 'application/json; charset="utf-8"', 'application/json; boundary=x'],
];

export function contentType(dice: Dice): readonly Header[] {
  if (dice.chance(0.9)) return [['content-type', 'application/json']];
  if (dice.chance(0.2)) return [];
  const one: Header = ['content-type', dice.pick(contentTypes)];
  return dice.chance(0.1) ? [one, ['Content-Type', 'application/json']] : [one];
}

/** Strings that a header can carry: without line breaks and NUL. */
const sendable = oddStrings
  .map((text) => Buffer.from(text).toString('latin1'))
  .filter((text) => !/[^\t\x20-\x7e\x80-\xff]/.test(text) && text.length < 2_000);

const ofName: Readonly<Record<string, readonly string[]>> = {
  'if-match': [
    '*',
    '"x"',
    '""',
    'W/"0-abc"',
    '"0-abc"',
    '"99999999999999999999-abc"',
    '"-1-abc"',
    '"0-a", "1-b"',
    '0',
  ],
  'if-none-match': ['*', '"x"', 'W/"0-abc", "1-b"', ','],
  'idempotency-key': ['a', 'b', 'c', 'a b', 'x'.repeat(255), 'x'.repeat(256), '', '"quoted"', 'ü'],
  'x-api-key': ['', 'stw_', `stw_${'0'.repeat(38)}`, `stw_${'Z'.repeat(38)}, x`, 'x'.repeat(4_000)],
  authorization: [
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    'bearer a.b.c',
    'Bearer e30.e30.e30',
    'Bearer ..',
    `Bearer ${'a'.repeat(9_000)}`,
  ],
  'x-agent-secret': ['', 'x', 'x'.repeat(5_000)],
  'x-request-id': ['', 'a b', 'x'.repeat(65), 'x'.repeat(64), '{"a":1}', '../x'],
  'x-forwarded-for': ['1.2.3.4', '::1, 1.2.3.4', 'unknown', '1.2.3.4:80', ',,,', '999.1.1.1'],
  accept: ['text/html', 'application/xml;q=1, */*;q=0', ''],
  'accept-encoding': ['gzip', 'identity;q=0', 'br;q=1.0, *;q=0'],
  'accept-language': ['de', 'x-klingon'],
  'content-encoding': ['gzip', 'identity', 'br', 'IDENTITY', 'chunked'],
  range: ['bytes=0-1', 'bytes=-1', 'x'],
  expect: ['100-continue', 'x'],
  cookie: ['a=b; a=c', '='],
  origin: ['null', 'https://evil.example'],
  'user-agent': ['x'.repeat(1_000), '', '\u00ff'],
  'x-http-method-override': ['DELETE'],
  upgrade: ['h2c', 'websocket'],
  connection: ['close', 'keep-alive, x', 'upgrade'],
};

/** Makes one or two meaningful headers, with values that may be meaningless. */
export function oddHeaders(dice: Dice): readonly Header[] {
  return Array.from({ length: dice.between(1, 2) }, (): Header => {
    const name = dice.pick(Object.keys(ofName));
    const value = dice.chance(0.8) ? dice.pick(ofName[name] ?? ['']) : dice.pick(sendable);
    return [dice.chance(0.1) ? name.toUpperCase() : name, value];
  });
}

/** Makes a path that is almost the given one, or quite different. */
export function oddPath(path: string, dice: Dice): string {
  const parts = path.split('/');
  const at = dice.between(1, parts.length - 1);
  const replaced = (part: string): string => parts.map((old, index) => (index === at ? part : old)).join('/');
  return dice.choose(
    () => replaced(encodeURIComponent(dice.pick(oddTexts))),
    () =>
      replaced(
        dice.pick([
          '%',
          '%zz',
          '%ff',
          '%00',
          '%2F',
          '%2e%2e',
          '..',
          '.',
          '',
          ';a=b',
          '%u0041',
          ':id',
          '*',
          '(.*)',
        ]),
      ),
    () => replaced(parts[at]?.toUpperCase() ?? ''),
    () => replaced(`${parts[at] ?? ''}%20`),
    () => `${path}/`,
    () => `/${path}`,
    () => `${path}/${'x/'.repeat(dice.below(40))}`,
    () =>
      `${path}?${dice.pick(['', '?', '&&&', '=', '%', '%ff=%ff', '__proto__=x', 'a[b]=c', 'constructor=1&toString=2'])}`,
    () => `${path}?limit=${dice.pick(['0', '-1', '201', '1e2', '1.5', '0x10', 'NaN', '', '%20', '١'])}`,
    () =>
      `${path}?cursor=${dice.pick(['', 'x', 'AAAA', encodeURIComponent(oddStrings[1] ?? ''), 'x'.repeat(200)])}`,
    () => `${path}?${'a=b&'.repeat(dice.pick([10, 1_000, 1_500]))}`,
    () => `${path}#fragment`,
    () => `http://other.example${path}`,
    () => path.replaceAll('/', '\\'),
    () =>
      dice.pick(['*', '/', '//', '/%', '/api/v1', '/api/v2/projects', '/.env', '/__proto__', '/constructor']),
  );
}

export const oddMethods = [
  'HEAD',
  'PUT',
  'PATCH',
  'DELETE',
  'POST',
  'GET',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
];
