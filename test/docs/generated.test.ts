import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { fieldProblemCodes } from '../../src/validation/field-problems.js';
import { errorStatus } from '../../src/http/replies/error-codes.js';
import { clone, guides, partsOf, read, regenerate } from './documents.js';
import { generatedParts } from './tables.js';

/** The most bytes of a guide, and of the pages that people read first. */
const guideBytesMax = 15 * 1_024;
const bytesMax: Readonly<Record<string, number>> = {
  'README.md': 8 * 1_024,
  'docs/extending.md': 10 * 1_024,
};
/** The most bytes of all documents with the READMEs of the rooms, and of the pages for users. */
const pagesBytesMax = 450_000;
const usersBytesMax = 300_000;
const lineLengthMax = 140;

for (const file of guides) {
  test(`The generated parts of ${file} say what the code says`, async (t) => {
    t.is(await regenerate(file, read(file)), read(file), 'npm run docs writes them again');
  });
}

test('Every generated part stands in one document', (t) => {
  t.deepEqual(guides.flatMap((file) => partsOf(read(file))).sort(), Object.keys(generatedParts).sort());
});

test('The document errors-and-limits.md lists every error code with its status, and no other', (t) => {
  const rows = [...read('docs/errors-and-limits.md').matchAll(/^\| `([a-z_]+)` +\| (\d{3})(?! in)\b/gm)];
  const listed = rows.map(([, code, status]) => [code, Number(status)]);
  t.deepEqual(
    Object.fromEntries(listed),
    Object.fromEntries(Object.entries(errorStatus).map(([code, status]) => [code, status])),
  );
  t.is(listed.length, Object.keys(errorStatus).length, 'each code stands once');
});

test('The document errors-and-limits.md lists every code of a field once, when it occurs and what to do', (t) => {
  const [, section = ''] = /^## Fields$(.*?)^## /ms.exec(read('docs/errors-and-limits.md')) ?? [];
  const rows = [...section.matchAll(/^\| `([a-z_]+)` +\| ([^|]+?) +\| ([^|]+?) +\|$/gm)];
  t.deepEqual(
    rows.map(([, code]) => code),
    [...fieldProblemCodes],
  );
  for (const [, code, when = '', advice = ''] of rows) t.true(when !== '' && advice !== '', code);
});

test('Every error code has a row that says when it occurs and what to do', (t) => {
  const [, section = ''] = /^## Errors$(.*?)^## /ms.exec(read('docs/errors-and-limits.md')) ?? [];
  const rows = [
    ...section.matchAll(/^\| `([a-z_]+)` +\| [^|]+ \| ([^|]*[a-z][^|]*) \| ([^|]*[a-z][^|]*) \|$/gm),
  ];
  t.deepEqual(rows.map(([, code]) => code).sort(), Object.keys(errorStatus).sort());
});

test('README fits into 8 KB, the page on extending into 10, and every other guide into 15', (t) => {
  const large = guides.filter((file) => Buffer.byteLength(read(file)) > (bytesMax[file] ?? guideBytesMax));
  t.deepEqual(large, []);
});

test('The documents and the READMEs of the rooms stay small, and those for users below 300 KB', (t) => {
  const pages = ['docs', 'src', 'projections'].flatMap((folder) =>
    readdirSync(join(clone, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => `${folder}/${file}`)
      .filter((file) => (folder === 'docs' ? /(?<!node_modules.*)\.md$/ : /\/README\.md$/).test(file)),
  );
  const bytesOf = (files: readonly string[]): number =>
    files.reduce((sum, file) => sum + Buffer.byteLength(read(file)), 0);
  const forUsers = pages.filter(
    (file) =>
      file.startsWith('docs/') && !/^docs\/(decisions\/|(api|architecture|extending|style)\.md$)/.test(file),
  );
  t.true(pages.length > 100, 'the walk finds them');
  t.true(bytesOf(pages) <= pagesBytesMax, `${bytesOf(pages)} bytes`);
  t.true(bytesOf(forUsers) <= usersBytesMax, `${bytesOf(forUsers)} bytes`);
});

for (const file of guides) {
  test(`No line of ${file} outside a table is longer than ${lineLengthMax} characters`, (t) => {
    const lines = read(file).split('\n');
    const long = lines.filter((line) => line.length > lineLengthMax && !line.startsWith('|'));
    t.deepEqual(long, []);
  });
}
