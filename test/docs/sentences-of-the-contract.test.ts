/* Every sentence of the contract has a test whose title names it: test/http/contract-*.test.ts, or this file. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import ts from 'typescript';
import { replyTables, requestTable } from '../support/contract/scene.js';
import { contract, names, sentencesOf } from '../support/contract/sentences.js';
import { clone, read } from './documents.js';

/** What the contract leaves open, and the entry of the list at its top that names the page that settles it. */
const open: readonly (readonly [section: string, sentence: string, ...entries: string[]])[] = [
  ['1', 'Overall purpose and scope beyond these operations: not shown.', '1, scope'],
  [
    '2.2',
    'Formats and constraints of endpoint, base_path and cdn_domain: not shown.',
    '2.2, formats of endpoint, base_path and cdn_domain',
  ],
  ['2.3', 'Value of `node_type` for an ordinary node: not shown.', '2.3, node_type and status'],
  ['2.3', 'Allowed values of peer node `status`: not shown.', '2.3, node_type and status'],
  [
    '2.6',
    'Fields of the user, the token pair, the share asset, the signed media URL and the order: not shown.',
    '2.6, user and token pair',
    'Share asset and signed media URL',
    'Order',
  ],
  ['3', 'Other transitions among the storage states: not shown.', '3, storage states'],
  ['3', 'Order states and how a payment callback moves them: not shown.', 'Order states'],
  [
    '4.2',
    'Other storage operations (list, update, delete, test, set default): not shown.',
    '4.2, other storage operations',
  ],
  ['4.3', 'Its relation to the exclusion of the caller: not shown.', '4.3, `node_id`'],
  ['4.4', 'Shape of `data`: not shown.', '4.4, register `data`'],
  ['4.5', 'Content of `data`: not shown.', '4.5, email-code `data`'],
  ['4.6', 'Shape of `data`: not shown.', '4.6, verify `data`'],
  ['4.7', 'Allowed values: not shown.', '4.7, providers and response body'],
  ['4.7', 'Response body: not shown.', '4.7, providers and response body'],
  ['5', 'Ordering of roles between viewer and admin: not shown.', '5, roles'],
  ['5', 'When 2FA is required: not shown.', '2FA'],
  ['5', 'Names and meanings of API key scopes: not shown.', 'Scopes'],
  ['5', 'Signature scheme of payment callbacks: not shown.', 'Callback signatures'],
  ['5', 'How a JWT is obtained, its lifetime and refresh: not shown.', 'JWT'],
  ...[
    'Outbound events sent by the service: not shown.',
    'Kinds of payment event and their payloads: not shown.',
  ].map((sentence) => ['6', sentence, '6, events'] as const),
  ...['Complete set of `code` values: not shown.', 'Body of the 409, 429 and 503 responses: not shown.'].map(
    (sentence) => ['7', sentence, '7, codes and bodies of 409, 429 and 503'] as const,
  ),
  ...[
    'Threshold and window: not shown.',
    'Attempt count and window: not shown.',
    'Default capacity granted at registration: amount not shown.',
    'Request size limits and any other rate limits: not shown.',
  ].map((sentence) => ['8', sentence, '8, thresholds'] as const),
  ['9', 'Deprecation policy and how later versions are introduced: not shown.', '9, versions'],
];

/** The entries of the list at the top by what stands before their links, which `test/citations.test.ts` follows. */
const atTheTop: ReadonlyMap<string, string> = new Map(
  contract.flatMap(({ section, text }) => {
    const [, entry] = (section === '0' ? /^(.*?): \[.*\]\(.*#/.exec(text) : null) ?? [];
    return entry === undefined ? [] : [[entry, text]];
  }),
);

for (const [section, sentence, ...entries] of open) {
  test(names(section, sentence), (t) => {
    for (const entry of entries) t.true(atTheTop.has(entry), entry);
  });
}

test(
  names(
    '0',
    'Where it says "not shown", pages of ours settle the question.',
    'The next list names each such place and the heading that settles it.',
  ),
  (t) => {
    const left = contract.filter(({ section, text }) => section !== '0' && text.includes('not shown'));
    t.deepEqual(
      open.map(([section, sentence]) => `${section} ${sentence}`).sort(),
      left.map(({ section, text }) => `${section} ${text}`).sort(),
    );
    const entries = new Set(open.flatMap(([, , ...own]) => own));
    t.deepEqual([...entries].sort(), [...atTheTop.keys()].sort());
  },
);

test(names('0', "This is the customer's document, word for word."), (t) => {
  const [, theirs = ''] = /(This single document covers[^]*)$/.exec(read('docs/api.md')) ?? [];
  // Only the widths of the tables may differ.
  const words = theirs
    .replaceAll(/-{3,}/g, '---')
    .replaceAll(/\s*\|\s*/g, '|')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const digest = '1c084587dbd46c7544467f5a261a950aa95f320de7f28ee5e28fa8dc630333fa';
  t.is(createHash('sha256').update(words).digest('hex'), digest);
});

/** Returns the sentences that a file of tests names, as `<section> <sentence>`. */
function namedIn(file: string): readonly string[] {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const list = ts.isArrayLiteralExpression(node)
      ? node.elements
      : ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'names'
        ? node.arguments
        : [];
    const [section, ...texts] = list.map((one) => (ts.isStringLiteralLike(one) ? one.text : ''));
    if (section !== undefined && /^\d(?:\.\d)?$/.test(section)) {
      found.push(...texts.filter((text) => text !== '').map((text) => `${section} ${text}`));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test(names('0', 'It is the contract: its statuses, fields and rules hold.'), (t) => {
  const files = readdirSync(join(clone, 'test'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(^|\/)contract-[^/]*\.test\.ts$/.test(name),
  );
  const named = new Set([
    ...files.flatMap((name) => namedIn(`test/${name}`)),
    ...namedIn('test/docs/sentences-of-the-contract.test.ts'),
    ...open.map(([section, sentence]) => `${section} ${sentence}`),
    ...[...atTheTop.values()].map((text) => `0 ${text}`),
  ]);
  // test/http/document/contract-fields.test.ts declares a test for each row of these tables.
  const byRow: ReadonlySet<string> = new Set([...replyTables, requestTable]);
  const left = contract.filter(
    ({ section, text, isRow }) => !named.has(`${section} ${text}`) && !(isRow && byRow.has(section)),
  );
  t.deepEqual(left, []);
});

test('A sentence, a rule, a row and an endpoint are found, and headings are not', (t) => {
  const text =
    '> A note. It goes\n> on.\n\n## 3. Rules\n\n1. One is so. `Two` is, too.\n\n### 3.1 GET /x\n\n| a | b |\n| - | - |\n| 1 |  |\n';
  t.deepEqual(
    sentencesOf(text).map(({ section, text: found, isRow }) => [section, found, isRow]),
    [
      ['0', 'A note.', false],
      ['0', 'It goes on.', false],
      ['3', 'One is so.', false],
      ['3', '`Two` is, too.', false],
      ['3.1', 'GET /x', false],
      ['3.1', '1', true],
    ],
  );
  t.throws(() => names('4.1', 'A storage may be bound twice.'), { message: /has no sentence/ });
});
