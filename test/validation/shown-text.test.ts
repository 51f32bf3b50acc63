import test from 'ava';
import {
  checkName,
  checkText,
  namePattern,
  optionalNamePattern,
  textPattern,
  withoutReordering,
} from '../../src/validation/text.js';

const reordering = Array.from('\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069');
const needed = Array.from('\u200c\u200d\u200e\u200f\u061c');

test('Names and texts have no characters that change the direction of a text, and keep those that scripts need', (t) => {
  for (const one of reordering) {
    const text = `invoice${one}gpj.exe`;
    t.throws(() => checkName(text), { message: /direction of a text/ }, one);
    t.throws(() => checkText(text, 'note', 100), { message: /direction of a text/ }, one);
    t.is(withoutReordering(text), 'invoicegpj.exe');
  }
  for (const one of needed) {
    t.is(checkName(`a${one}b`), `a${one}b`);
    t.is(checkText(`a${one}b`, 'note', 100), `a${one}b`);
  }
});

const invisible = [
  ...[
    '\u200b',
    '\u3164',
    '\u115f',
    '\uffa0',
    '\u00ad',
    '\u034f',
    '\u180e',
    '\u2060',
    '\u2800',
    '\ufe0f',
    '\ufeff',
    '\u{1d159}',
  ],
  ...['\u{e0067}\u{e007f}', '\u{e0100}', ' \u200d ', '\u061c\u200e', '\u2003\u3164'],
];

test('Names and texts that show nothing are refused as too short, and so the published patterns say', (t) => {
  for (const text of invisible) {
    const shown = JSON.stringify(Array.from(text, (one) => one.codePointAt(0)?.toString(16)));
    const refused = { message: /character that people can see|must have 1 to/ };
    t.throws(() => checkName(text), refused, shown);
    t.throws(() => checkText(text, 'note', 100), refused, shown);
    for (const pattern of [namePattern, textPattern, optionalNamePattern]) {
      const isBlank = pattern === optionalNamePattern && text.trim() === '';
      if (!/[\u{10000}-\u{10ffff}]/u.test(text)) t.is(new RegExp(pattern, 'u').test(text), isBlank, shown);
      t.regex(`${text}a${text}`, new RegExp(pattern, 'u'), shown);
      t.notThrows(() => new RegExp(pattern), 'some programs read it without the flag u');
    }
    t.is(checkName(`${text}a`.trim()), `${text}a`.trim());
  }
});

test('The pattern of names refuses exactly the characters of 16 bits that show nothing', (t) => {
  const name = new RegExp(namePattern, 'u');
  const wrong = [];
  for (let point = 0; point <= 0xffff; point += 1) {
    const text = String.fromCodePoint(point);
    let isName = true;
    try {
      checkName(text);
    } catch {
      isName = false;
    }
    if (isName !== name.test(text)) wrong.push(point.toString(16));
  }
  t.deepEqual(wrong, []);
});
