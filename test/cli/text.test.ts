import test from 'ava';
import { asText } from '../../src/cli/terminal.js';

test('A list that fits is a table, and a wider one is one block an entry', (t) => {
  const list = {
    items: [
      { name: 'edge-1', weight: 100 },
      { name: 'e', note: null },
    ],
    next_cursor: null,
  };
  t.is(asText(list, 80), ['name    weight  note', 'edge-1  100     -', 'e       -       -'].join('\n'));
  t.is(asText(list, 12), ['name: edge-1', 'weight: 100', '', 'name: e', 'note: -'].join('\n'));
  t.is(
    asText({ items: [], next_cursor: 'abc' }, 80),
    ['(none)', '', 'There are more: --cursor abc'].join('\n'),
  );
  t.is(
    asText({ head: '5', items: [{ name: 'a' }] }, 80),
    ['head: 5', 'items:', '  name', '  a'].join('\n'),
    'another field keeps the name of the list',
  );
  t.is(asText([], 80), '(none)');
  t.is(asText({ held_by: ['operator', 'order'] }, 80), 'held_by: operator, order');
});

test('Names of strangers cannot move the cursor of a terminal or turn the text around', (t) => {
  t.is(asText({ name: 'a\u001b[2Jb\u202ec\nd' }, 80), 'name: a\\u{1b}[2Jb\\u{202e}c\\u{a}d');
});
