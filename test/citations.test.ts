import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folders = ['src', 'projections', 'test', 'docs', 'scripts', 'clients', 'examples', '.ci'];
const rootFiles = /^(README\.md|CHANGELOG\.md|\.dependency-cruiser\.cjs|eslint\.config\.js|ava.*\.js)$/;
const readable = /(\.(ts|js|mjs|cjs|md|py|sh)|^\.ci\/[a-z-]+)$/;

/** A citation: the path of a document, with a heading's slug or without. The index is that of its first character. */
interface Citation {
  readonly index: number;
  readonly path: string;
  readonly slug: string | null;
}

/** Answers for the documents: null where there is no such file, else the slugs of its headings. */
type SlugsOf = (path: string) => ReadonlySet<string> | null;

/** Makes the anchor that GitHub makes of a heading. The caller adds the suffix of a duplicate. */
function slugOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}

/** Blanks out what stands between fences, and keeps every index and line. */
function withoutFences(markdown: string): string {
  return markdown.replace(/^( {0,3})(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}\2[^\n]*$|(?![\s\S]))/gm, blank);
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** The slugs of all headings, the second of one name with `-1`, the third with `-2`. */
function slugsIn(markdown: string): ReadonlySet<string> {
  const slugs = new Set<string>();
  for (const [, heading = ''] of withoutFences(markdown).matchAll(
    /^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?$/gm,
  )) {
    const slug = slugOf(heading);
    let unique = slug;
    for (let count = 1; slugs.has(unique); count += 1) unique = `${slug}-${count}`;
    slugs.add(unique);
  }
  return slugs;
}

/** Citations by a path from the root: `docs/….md`, README and the rooms' `src/…/README.md`, with or without a heading. */
function citationsIn(text: string): readonly Citation[] {
  const pattern =
    /(?<![\w./-])(?<!\]\()((?:docs\/[\w./-]+|(?:src\/(?:[\w-]+\/)*)?README)\.md)(?:#([\w-]+))?/g;
  return [...text.matchAll(pattern)].map(({ index, 1: path = '', 2: slug }) => ({
    index,
    path,
    slug: slug ?? null,
  }));
}

/** Relative links of a document, as citations by a path from the root. */
function linksIn(file: string, markdown: string): readonly Citation[] {
  const prose = withoutFences(markdown).replace(/`[^`\n]*`/g, blank);
  const citations: Citation[] = [];
  for (const { index, 1: target = '' } of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z][a-z+.-]*:/i.test(target)) continue;
    const [path = '', slug] = target.split('#');
    const from = path === '' ? file : posix.join(posix.dirname(file), path);
    citations.push({ index, path: from, slug: slug ?? null });
  }
  return citations;
}

/** The files of the program and its tests. */
const sourceFiles = ['src', 'projections', 'test'].flatMap((folder) =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
);

/**
 * Files that a document names: by their path from the root, as the tests of an invariant, or by the end of the path, as the
 * modules of a room.
 */
function filesNamedIn(file: string, markdown: string): readonly Citation[] {
  if (!file.endsWith('.md') || file === 'CHANGELOG.md') return [];
  const pattern = /`((?:src|test|projections)\/[\w./-]+|[\w./-]+\.ts)`/g;
  return [...markdown.matchAll(pattern)].map(({ index, 1: named = '' }) => {
    const [path = named] = sourceFiles.filter((source) => source.endsWith(`/${named}`));
    return { index, path, slug: null };
  });
}

/** Whether the index stands in a comment of TypeScript. */
function isInComment(text: string, index: number): boolean {
  const before = text.slice(text.lastIndexOf('\n', index) + 1, index);
  return /^\s*(\/?\*|\/\/)|(?:^|\s)\/[/*] /.test(before);
}

/** Citations of before there were paths and headings. */
const oldStyles: readonly RegExp[] = [
  /\bDESIGN(?=[\s,.]|['’]s)/g,
  /\bAPI[\s*/]+document\b/g,
  /\bAPI[\s*/]+section[\s*/]+[0-9]/g,
  /\bdecisions?[\s*/#]+\d{4}(?![\d-])/gi,
];

function oldStylesIn(file: string, text: string): readonly number[] {
  // What a link shows is for people; where it leads is checked.
  const prose = file.endsWith('.md') ? text.replace(/\[[^\]]*\](?=\()/g, blank) : text;
  return oldStyles.flatMap((pattern) => [...prose.matchAll(pattern)].map(({ index }) => index));
}

/** What is wrong with a citation, or null. */
function problemOf(
  { path, slug }: Citation,
  slugsOf: SlugsOf,
  verb: 'cites' | 'links to' | 'names',
): string | null {
  const slugs = slugsOf(path);
  if (slugs === null) return `${verb} ${path}, which is not there`;
  return slug === null || slugs.has(slug) ? null : `${verb} ${path}#${slug}, which has no such heading`;
}

/** What is wrong with the citations of a file, as sentences that begin with `<file>:<line>`. */
function problemsIn(file: string, text: string, slugsOf: SlugsOf): readonly string[] {
  const needsHeading = /^(src|projections|test)\/.*\.ts$/.test(file);
  const problems: string[] = [];
  const report = (index: number, what: string | null): void => {
    if (what !== null) problems.push(`${file}:${text.slice(0, index).split('\n').length} ${what}`);
  };
  for (const citation of citationsIn(text)) {
    const { index, path, slug } = citation;
    const lacksHeading = slug === null && path !== 'README.md' && needsHeading && isInComment(text, index);
    const problem = problemOf(citation, slugsOf, 'cites');
    report(index, problem ?? (lacksHeading ? `cites ${path} without a heading` : null));
  }
  const links = file.endsWith('.md') ? linksIn(file, text) : [];
  for (const link of links) report(link.index, problemOf(link, slugsOf, 'links to'));
  for (const named of filesNamedIn(file, text)) report(named.index, problemOf(named, slugsOf, 'names'));
  for (const index of oldStylesIn(file, text)) report(index, 'cites a document without its path and heading');
  return problems;
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(`${root}${folder}`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length).replaceAll('\\', '/'))
    // A decision that waits in a file by number may still cite pages that others have become.
    .filter(
      (file) =>
        readable.test(file) && !file.includes('/node_modules/') && !/^docs\/decisions\/\d{4}-/.test(file),
    );

const isHere = (path: string): boolean => existsSync(`${root}${path}`);

/** Slugs of the documents of the repository; a file or folder that is no document has none. */
function makeSlugsOf(): SlugsOf {
  const known = new Map<string, ReadonlySet<string> | null>();
  return (path) => {
    const found = known.get(path);
    if (found !== undefined) return found;
    const isDocument = path.endsWith('.md') && isHere(path);
    const slugs = isDocument
      ? slugsIn(readFileSync(`${root}${path}`, 'utf8'))
      : isHere(path)
        ? new Set<string>()
        : null;
    known.set(path, slugs);
    return slugs;
  };
}

test('Every citation of a document resolves', (t) => {
  const slugsOf = makeSlugsOf();
  const files = [...folders.flatMap(filesIn), ...readdirSync(root).filter((name) => rootFiles.test(name))];
  const problems = files.flatMap((file) => problemsIn(file, readFileSync(`${root}${file}`, 'utf8'), slugsOf));
  t.true(files.length > 500, 'the walk finds the repository');
  t.deepEqual(problems, [], `${problems.length} citations do not resolve`);
});

test('A slug is what GitHub makes of a heading', (t) => {
  t.is(slugOf('Rotating keys'), 'rotating-keys');
  t.is(slugOf('0024. What is `load`?'), '0024-what-is-load');
  t.is(slugOf('4.1 POST /api/v1/projects/{projectId}/storages'), '41-post-apiv1projectsprojectidstorages');
  t.is(slugOf('Idempotency-Key and snake_case'), 'idempotency-key-and-snake_case');
  t.is(slugOf('See [the design](design.md)'), 'see-the-design');
  t.is(slugOf('A & B — C'), 'a--b--c');
  t.is(slugOf('Über'), 'über');
});

test('Headings of one name get numbers, and fences hold no headings', (t) => {
  const slugs = slugsIn('# Try it\n\n## Try it\n\n```sh\n# not a heading\n```\n\n### Try it ###\n\n#hash\n');
  t.deepEqual([...slugs], ['try-it', 'try-it-1', 'try-it-2']);
});

// The broken examples are put together here, so that the walk does not find them in this file.
const here = 'docs/' + 'here.md';
const gone = 'docs/' + 'gone.md';
const slugsOfExamples: SlugsOf = (path) => {
  if (path === here) return new Set(['append']);
  return path === 'docs' || path === 'README.md' ? new Set(['start']) : null;
};
const found = (file: string, text: string): readonly string[] => problemsIn(file, text, slugsOfExamples);

test('A citation with a path and a heading resolves', (t) => {
  t.deepEqual(found('src/a.ts', `/** See ${here}#append. */\n// ${here}#append\n`), []);
  t.deepEqual(found('src/a.ts', `read('${here}');`), [], 'code may name the file alone');
  t.deepEqual(
    found(here, `[a](#append) [b](here.md#append) [c](https://example.org/x#y) \`[d](gone.md)\``),
    [],
  );
});

test('A citation of a missing document or heading does not resolve', (t) => {
  t.deepEqual(found('src/a.ts', `\n// ${gone}#append\n`), [`src/a.ts:2 cites ${gone}, which is not there`]);
  t.deepEqual(found('docs/style.md', `See ${here}#gone.`), [
    `docs/style.md:1 cites ${here}#gone, which has no such heading`,
  ]);
  t.deepEqual(found('README.md', `[x](${gone})`), [`README.md:1 links to ${gone}, which is not there`]);
  t.deepEqual(found(here, '\n[x](#gone)'), [`${here}:2 links to ${here}#gone, which has no such heading`]);
  t.deepEqual(found('docs/payments/README.md', '[x](../gone.md)'), [
    `docs/payments/README.md:1 links to ${gone}, which is not there`,
  ]);
  t.is(found('src/a.ts', `/** ${'README' + '.md'}#gone */`).length, 1);
  t.is(found('src/a.ts', `/** In brackets (${gone}#append). */`).length, 1);
});

test('The README of a room is cited by its path and heading, and names files that exist', (t) => {
  const [room, goneRoom] = ['src/' + 'room/README.md', 'src/' + 'gone/README.md'];
  const slugs: SlugsOf = (path) => (path === room || path === 'test/a.test.ts' ? new Set(['rules']) : null);
  t.deepEqual(problemsIn('src/a.ts', `/** See ${room}#rules. */`, slugs), []);
  t.deepEqual(problemsIn('src/a.ts', `/** See ${room}#gone. */\n// ${room}\n// ${goneRoom}#rules`, slugs), [
    `src/a.ts:1 cites ${room}#gone, which has no such heading`,
    `src/a.ts:2 cites ${room} without a heading`,
    `src/a.ts:3 cites ${goneRoom}, which is not there`,
  ]);
  t.deepEqual(problemsIn(room, 'Shown by `test/a.test.ts` and `test/gone.test.ts`.', slugs), [
    `${room}:1 names test/gone.test.ts, which is not there`,
  ]);
});

test('A citation in a comment needs a heading', (t) => {
  for (const comment of [
    `// ${here}`,
    `  /** Rules: ${here} */`,
    ` * as in ${here}`,
    `f(); // ${here}`,
    `/* ${here} */`,
  ]) {
    t.deepEqual(found('src/a.ts', comment), [`src/a.ts:1 cites ${here} without a heading`], comment);
  }
  t.deepEqual(found('projections/a.ts', `'https://example.org/${here}'`), [], 'a string is no comment');
  t.deepEqual(found('docs/style.md', `Read ${here}.`), [], 'prose names documents');
});

test('A citation of the old style fails', (t) => {
  const old = [
    'DESIGN' + ' 4.1',
    'DESIGN' + ' section 2',
    'API' + ' document 2.2',
    'API' + ' section 8',
    'decision' + ' 0024',
  ];
  const wrapped = 'decision' + '\n * 0014';
  const short = 'docs/' + 'decisions' + '/0003';
  for (const citation of [...old, 'DESIGN' + ', "Sessions"', 'DESIGN' + "'s goal", wrapped, short]) {
    t.is(found('src/a.ts', `// ${citation})`).length, 1, citation);
    t.is(found('docs/style.md', `See ${citation}.`).length, 1, citation);
  }
  t.deepEqual(found('src/a.ts', '// The OpenAPI document of 4.1, and the design'), []);
  t.deepEqual(found('docs/style.md', '[decision' + ' 0027](https://example.org/0027)'), []);
});
