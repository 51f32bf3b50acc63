import test from 'ava';
import fc from 'fast-check';
import {
  hasOneReading,
  isAmbiguous,
  parseForm,
  signedText,
} from '../../../../src/areas/payments/platforms/calls/forms.js';
import {
  at,
  decodeBase64,
  parseTime,
  readJsonObject,
  textAt,
  timeAt,
} from '../../../../src/areas/payments/platforms/calls/parsing.js';

const form = (text: string) => parseForm(Buffer.from(text, 'utf8'));

test('A form is decoded once, to the sent bytes', (t) => {
  t.deepEqual(
    form('a=1+2&b=%2B%25%26%3D&c&d=a=b&%65=x&f=%00%aF%Fa'),
    new Map([
      ['a', '1 2'],
      ['b', '+%&='],
      ['c', ''],
      ['d', 'a=b'],
      ['e', 'x'],
      ['f', '\x00\xaf\xfa'],
    ]),
  );
  const chinese = form('a=%E5%AE%B9&b=容');
  t.is(chinese?.get('a'), chinese?.get('b'));
  t.is(Buffer.from(chinese?.get('a') ?? '', 'latin1').toString(), '容');
  t.is(form('a.b=1&c[d]=2')?.get('c[d]'), '2');
  for (const empty of ['', '&', '&&&']) t.deepEqual(form(empty), new Map());
  for (const text of ['a=1&', '&a=1', '&&a=1&&']) t.deepEqual(form(text), new Map([['a', '1']]), text);
});

test('A form with two readings, or more than 64 KiB, is refused', (t) => {
  for (const text of ['a=1&a=2', 'a=1&%61=2', 'a=%', 'a=%4', 'a=%zz', '=1', '%=1', 'a&'.repeat(200)]) {
    t.is(form(text), null, text.slice(0, 20));
  }
  t.is(form(Array.from({ length: 100 }, (_none, index) => `p${index}=1`).join('&'))?.size, 100);
  t.is(form(Array.from({ length: 101 }, (_none, index) => `p${index}=1`).join('&')), null);
  t.is(form(`a=${'b'.repeat(65_534)}`)?.size, 1);
  t.is(form(`a=${'b'.repeat(65_535)}`), null);
});

test('Names that objects inherit are ordinary names', (t) => {
  const parsed = form('__proto__=x&constructor=y&hasOwnProperty=z');
  t.is(parsed?.get('__proto__'), 'x');
  t.is(signedText(parsed ?? new Map(), ['constructor', '__proto__']), '__proto__=x&constructor=y');
});

test('A value that contains a further parameter is ambiguous', (t) => {
  t.true(isAmbiguous(new Map([['name', 'x&pid=1']]), ['pid']));
  t.true(isAmbiguous(new Map([['name', '&&x&pid=']]), ['pid', 'out_trade_no']));
  t.true(isAmbiguous(new Map([['name', 'a=b&c&d=e&pid=1']]), ['pid']));
  for (const value of ['x & pid = 1&other=2', 'pid=1', 'x&pid', 'x&pidx=1', 'x&p&id=1', '&'.repeat(1_000)]) {
    t.false(isAmbiguous(new Map([['name', value]]), ['pid']), value);
  }
});

const used = new Set(['b', 'd', 'y']);
const plain = new Set([...used, 'e']);
/** A text in the order of its names, and whether it gives the used names one set of values. */
const readings: readonly (readonly [string, Readonly<Record<string, string>>, boolean])[] = [
  ['no value looks like a parameter', { a: '1', b: '2', z: '3' }, true],
  ['the name would come before that of its value', { c: 'x&b=2', d: '1' }, true],
  ['the used name follows, so the two would be one parameter twice', { c: 'x&d=2', d: '1' }, true],
  ['the same parameter in the same words', { c: 'x&b=1', b: '1' }, true],
  ['an unused name in the value of another', { a: '1&aa=2', b: '3' }, true],
  ['a used name between its value and the next parameter', { a: 'x&b=2', c: '1' }, false],
  ['a used name at the end', { x: '1&y=2' }, false],
  ['a used name behind an unused one', { c: 'x&cc=1&d=2', e: '3' }, false],
  ['a used parameter that another reading would hide', { a: '1', b: '2', c: '3&z=4' }, true],
  ['used parameters in the value of an unused one', { a: '1&b=2&c=3', e: '4' }, false],
];

test('A text has one reading where names of every other reading would not ascend', (t) => {
  for (const [what, fields, isOne] of readings) {
    t.is(hasOneReading(new Map(Object.entries(fields)), Object.keys(fields), { used, plain }), isOne, what);
  }
});

test('The search for readings agrees with a list of all of them', (t) => {
  const part = fc.constantFrom('a=', 'b=', 'c=', 'd=', 'e=', 'x');
  const agrees = fc.property(fc.array(part, { maxLength: 6 }), fc.nat(), (parts, choice) => {
    const all = allReadings(['a=', ...parts].map((text, at) => `${text}${at}`));
    const ours = all[choice % all.length] ?? new Map<string, string>();
    // Each part has its number, so equal values begin at the same part.
    const isOne = all.every((one) =>
      [...one].every(([name, value]) => !used.has(name) || ours.get(name) === value),
    );
    return hasOneReading(ours, [...ours.keys()], { used, plain }) === isOne;
  });
  t.notThrows(() => fc.assert(agrees, { numRuns: 2_000 }));
});

/** Returns all forms with ascending names, and without `&` in the values of used names, whose signed text is these parts. */
function allReadings(parts: readonly string[]): readonly ReadonlyMap<string, string>[] {
  const found: ReadonlyMap<string, string>[] = [];
  for (let chosen = 0; chosen < 2 ** (parts.length - 1); chosen += 1) {
    const begun: string[] = [];
    parts.forEach((part, at) => {
      if (at === 0 || (chosen >> (at - 1)) % 2 === 1) begun.push(part);
      else begun.push(`${begun.pop() ?? ''}&${part}`);
    });
    const pairs = begun.map(
      (text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)] as const,
    );
    const isReading = pairs.every(
      ([name, value], at) =>
        (begun[at] ?? '').includes('=') &&
        name > (pairs[at - 1]?.[0] ?? '') &&
        !name.includes('&') &&
        !(plain.has(name) && value.includes('&')),
    );
    if (isReading) found.push(new Map(pairs));
  }
  return found;
}

test('A path leads only through own properties of objects', (t) => {
  const value: unknown = JSON.parse('{"a":{"b":"x","__proto__":{"c":"y"}},"list":[1]}');
  t.is(at(value, 'a.b'), 'x');
  t.is(at(value, 'a.__proto__.c'), 'y');
  for (const path of [
    'a.c',
    '__proto__',
    'a.constructor',
    'a.b.length',
    'list.0',
    'list.length',
    'a.b.c',
    '',
  ]) {
    t.is(at(value, path), undefined, path);
  }
  t.is(textAt({ a: '' }, 'a'), null);
  t.is(textAt({ a: 'x'.repeat(257) }, 'a'), null);
  t.is(textAt({ a: 7 }, 'a'), null);
});

test('Only a JSON object in UTF-8 is accepted', async (t) => {
  for (const bytes of ['', '[]', 'null', '"x"', '1', '{', '{}{}', "{'a':1}", '['.repeat(100_000)]) {
    t.is(await readJsonObject(Buffer.from(bytes)), null, bytes.slice(0, 10));
  }
  t.is(await readJsonObject(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), null);
  t.deepEqual(await readJsonObject(Buffer.from('{"a":1}')), { a: 1 });
});

test('Base64 has one spelling', (t) => {
  t.deepEqual(decodeBase64('AQI='), Buffer.from([1, 2]));
  for (const text of ['', 'AQI', 'AQJ=', 'AQI=\n', ' AQI=', 'AQI==', 'A===', '-_8=', 'AQ I=', 'AQI=AQI=']) {
    t.is(decodeBase64(text), null, text);
  }
});

test('Times are RFC 3339 or whole seconds', (t) => {
  t.is(parseTime('2026-01-02T11:04:05+08:00')?.toISOString(), '2026-01-02T03:04:05.000Z');
  for (const text of ['', '1', '2026-01-02', '2026-13-02T00:00:00Z', '2026-01-02T00:00:00', 'yesterday'])
    t.is(parseTime(text), null, text);
  t.is(timeAt({ a: 1_767_323_045 }, 'a'), '2026-01-02T03:04:05.000Z');
  for (const value of [1.5, 1e300, null, {}, true]) t.is(timeAt({ a: value }, 'a'), null);
});

test('A time that no event can hold is null, so that its message is still stored', (t) => {
  const last = timeAt({ a: 253_402_300_799 }, 'a');
  t.is(last, '9999-12-31T23:59:59.000Z');
  // The likeliest of these are milliseconds that are read as seconds.
  for (const value of [1_767_323_045_000, 253_402_300_800, -62_167_219_201])
    t.is(timeAt({ a: value }, 'a'), null, String(value));
  for (const text of ['9999-12-31T23:59:59-01:00', '0000-01-01T00:00:00+01:00'])
    t.is(parseTime(text), null, text);
});
