import test from 'ava';
import { asText } from '../../src/cli/text.js';

test('A list that fits is a table, and a wider one is one block an entry', (t) => {
  const list = {
    items: [
      { name: 'edge-1', weight: 100 },
      { name: 'e', note: null },
    ],
    next_cursor: null,
  };
  t.is(
    asText(list, 80),
    ['items:', '  name    weight  note', '  edge-1  100     -', '  e       -       -', 'next_cursor: -'].join(
      '\n',
    ),
  );
  t.is(
    asText(list, 12),
    ['items:', '  name: edge-1', '  weight: 100', '', '  name: e', '  note: -', 'next_cursor: -'].join('\n'),
  );
  t.is(asText([], 80), '(none)');
  t.is(asText({ held_by: ['operator', 'order'] }, 80), 'held_by: operator, order');
});

test('Names of strangers cannot move the cursor of a terminal or turn the text around', (t) => {
  t.is(asText({ name: 'a\u001b[2Jb\u202ec\nd' }, 80), 'name: a\\u{1b}[2Jb\\u{202e}c\\u{a}d');
});
