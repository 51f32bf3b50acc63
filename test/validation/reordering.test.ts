import test from 'ava';
import { checkName, checkText, withoutReordering } from '../../src/validation/text.js';

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
