import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import ts from 'typescript';

const root = join(import.meta.dirname, '..', '..');

/** What the table of docs/style.md#terms replaces: phrases, and words that stand for something else elsewhere. */
const replaced = readFileSync(join(root, 'docs/style.md'), 'utf8')
  .split('\n')
  .flatMap((line) => /^\|[^|]+\| (.+) \|$/.exec(line)?.[1]?.split(', ') ?? [])
  .filter((term) => !/^(not|---)$/.test(term));

/** The phrases of the table, and the words that docs/style.md#sentences forbids, as patterns. */
const forbidden = [
  ...replaced.filter((term) => term.includes(' ')).map((term) => new RegExp(`\\b${term}\\b`, 'i')),
  /\bwho(m)?ever\b/i,
  /\bwh(at|ich)ever\b/i,
  /\banew\b/i,
  /\bof (its|their) own\b/i,
  /\b(is|are|was|were) told\b/i,
  /\bnobody\b/i,
  /\b(some|any)body\b/i,
  // Words of the table that mean nothing else here, also with other words between.
  /\b(un)?fed\b|stowage_\w*(unfed|set_apart)/i,
  /\bsets? (?:an? |the |its |it |\w+ (?:stream|event) )?(?:\w+ ){0,2}apart\b/i,
];

/** The customer's words and the guide itself, which names the forbidden words. */
const exempt = new Set(['docs/api.md', 'docs/style.md', 'test/style.test.ts']);

interface Sentence {
  readonly line: number;
  readonly text: string;
}

function forbiddenIn(sentences: readonly Sentence[]): readonly string[] {
  return sentences.flatMap(({ line, text }) =>
    forbidden.flatMap((pattern) => {
      const found = pattern.exec(text);
      return found === null ? [] : [`${String(line)}: ${found[0]}`];
    }),
  );
}

/** Returns the comments of a TypeScript or JavaScript text, line by line. */
function commentsOf(text: string): readonly Sentence[] {
  const file = ts.createSourceFile('any.ts', text, ts.ScriptTarget.Latest, true);
  // The comments that stand before a token; the end of the file is a token too.
  const found = new Map<number, Sentence[]>();
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(file);
    if (children.length > 0) {
      children.forEach(visit);
      return;
    }
    const ranges = [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.pos) ?? []),
    ];
    for (const { pos, end } of ranges) {
      const first = file.getLineAndCharacterOfPosition(pos).line + 1;
      const lines = text.slice(pos, end).split('\n');
      found.set(
        pos,
        lines.map((comment, index) => ({ line: first + index, text: comment })),
      );
    }
  };
  visit(file);
  return [...found.values()].flat();
}

/** Returns the strings of a TypeScript text that have more than one word, which people may get to read. */
function stringsOf(text: string): readonly Sentence[] {
  const file = ts.createSourceFile('any.ts', text, ts.ScriptTarget.Latest, true);
  const found: Sentence[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      if (/\w \w/.test(node.text))
        found.push({ line: file.getLineAndCharacterOfPosition(node.pos).line + 1, text: node.text });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const testCall = /(?<![\w.])test(?:\.\w+)*\(\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)/g;

/** Returns the first argument of each `test(…)` call where it is a literal. To parse all tests takes seconds. */
function titlesOf(text: string): readonly Sentence[] {
  return [...text.matchAll(testCall)].map(({ 1: literal = '', index }) => ({
    line: text.slice(0, index).split('\n').length,
    text: literal.slice(1, -1),
  }));
}

/** Returns what is wrong with the form of a title, or null. A title is one sentence: docs/style.md#tests. */
function titleProblem(title: string): string | null {
  if (!/^[A-Z0-9`$]/.test(title)) return 'begins without a capital letter';
  if (/^Given\b/.test(title)) return 'begins with Given';
  if (/[^.]\.$/.test(title)) return 'ends with a full stop';
  if (!/\s/.test(title)) return 'is no sentence';
  return null;
}

const files = ['src', 'projections', 'test', 'docs', 'scripts', 'clients', 'examples', '.']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: folder !== '.' }).map((file) =>
      join(folder, String(file)).replaceAll('\\', '/'),
    ),
  )
  // The types of the client are made from the OpenAPI document.
  .filter(
    (file) =>
      !exempt.has(file) &&
      !file.includes('node_modules/') &&
      !/^clients\/(.*\/dist\/|.*\/document\.ts$)/.test(file),
  );
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const code = files.filter((file) =>
  /^(src|projections|test|clients)\/.*\.ts$|^(scripts|examples)\/.*\.m?js$|^[^/]+\.c?js$/.test(file),
);
const documents = files.filter((file) => /\.md$/.test(file));

test('No comment uses a word that the style guide forbids', (t) => {
  const problems = code
    // To parse a file takes long; most files contain no such word at all.
    .filter((file) => forbidden.some((pattern) => pattern.test(read(file))))
    .flatMap((file) => forbiddenIn(commentsOf(read(file))).map((problem) => `${file}:${problem}`));
  t.deepEqual(problems, []);
});

test('No text of the service uses a word that the style guide forbids', (t) => {
  const problems = code
    .filter((file) => /^(src|projections|clients)\//.test(file))
    .filter((file) => forbidden.some((pattern) => pattern.test(read(file))))
    .flatMap((file) => forbiddenIn(stringsOf(read(file))).map((problem) => `${file}:${problem}`));
  t.deepEqual(problems, []);
});

test('No name that the kernel exports is a word that the table of terms replaces', (t) => {
  const words = replaced.filter((term) => !term.includes(' '));
  t.true(words.includes('mark') && words.includes('place'));
  const pattern = new RegExp(`^(?:${words.join('|')})(?:d|s|ed)?$`, 'i');
  const exported = /^export (?:async )?(?:interface|type|class|const|function\*?) (\w+)/gm;
  const problems = code
    .filter((file) =>
      /^src\/(event-sourcing|webhooks|kit|composition|operating|observing|stores|outgoing|mail)\//.test(file),
    )
    .flatMap((file) => [...read(file).matchAll(exported)].map(([, name = '']) => name))
    .filter((name) =>
      name
        .replace('HighWaterMark', '')
        .split(/(?=[A-Z])/)
        .some((part) => pattern.test(part)),
    );
  t.deepEqual(problems, []);
});

test('No document uses a word that the style guide forbids', (t) => {
  const problems = documents.flatMap((file) =>
    forbiddenIn(
      read(file)
        .split('\n')
        .map((text, index) => ({ line: index + 1, text })),
    ).map((problem) => `${file}:${problem}`),
  );
  t.deepEqual(problems, []);
});

test('Every test title is a sentence in the form of the style guide', (t) => {
  const problems = code
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) =>
      titlesOf(read(file)).flatMap(({ line, text }) => {
        const problem = titleProblem(text) ?? forbiddenIn([{ line, text }])[0] ?? null;
        return problem === null ? [] : [`${file}:${String(line)} ${problem}: ${text}`];
      }),
    );
  t.deepEqual(problems, []);
});

test('The checks find a forbidden word in a comment and a title in another form', (t) => {
  const text = [
    '// Whoever asks is answered.',
    'const address = `${`http://${host}`}/whatever`; /** Built anew. */',
    "test('the projector skips', () => {});",
  ].join('\n');
  t.deepEqual(forbiddenIn(commentsOf(text)), ['1: Whoever', '2: anew']);
  t.deepEqual(forbiddenIn(commentsOf('// It may be behind.')), ['1: may be behind']);
  t.deepEqual(forbiddenIn(stringsOf("f(`to ${name}, tell nobody`, 'nobody');")), ['1: nobody']);
  t.deepEqual(
    titlesOf(text).map(({ text: title }) => titleProblem(title)),
    ['begins without a capital letter'],
  );
  t.is(titleProblem('The projector skips an event.'), 'ends with a full stop');
  t.is(titleProblem('The projector skips an event'), null);
});
