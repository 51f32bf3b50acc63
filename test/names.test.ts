import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

/** Names that several files may declare, since they mean the same in each, with the reason. */
const shared: ReadonlyMap<string, string> = new Map([
  ['applyEvent', 'each aggregate folds with it the fields that its view shows too'],
  ['evolve', 'each aggregate folds its own events with it, as `Decider` calls it'],
]);

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A declaration at the beginning of a line: the formatter indents every declaration that no other file can import. */
const declaration =
  /^export (?:declare |abstract |async )*(?:class|const|enum|function\*?|interface|let|type) ([A-Za-z_$][\w$]*)/gm;

function exportedNames(source: string): readonly string[] {
  // The overloads of a function are one declaration.
  return [...new Set([...source.matchAll(declaration)].map(([, name = '']) => name))];
}

/** The files that declare each exported name. */
function declarations(): ReadonlyMap<string, readonly string[]> {
  const files = new Map<string, string[]>();
  for (const folder of ['src', 'projections']) {
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts')) continue;
      const path = join(folder, file);
      for (const name of exportedNames(readFileSync(join(root, path), 'utf8'))) {
        files.set(name, [...(files.get(name) ?? []), path]);
      }
    }
  }
  return files;
}

test('The search for exported names finds every form of declaration, and no import or list of names', (t) => {
  const source = [
    'export const one = 1;',
    'export async function two(): Promise<void> {}',
    'export function* three(): Generator {}',
    'export interface Four<T> {}',
    'export type Five = 5;',
    'export class Six extends Error {}',
    'export function two(n: number): void;',
    "export { seven } from './seven.js';",
    "export type { Eight } from './eight.js';",
    "import { nine } from './nine.js';",
    'const ten = 10;',
    '  export const eleven = 11;',
  ].join('\n');
  t.deepEqual(exportedNames(source), ['one', 'two', 'three', 'Four', 'Five', 'Six']);
});

test('An exported name means one thing: no two files of src and projections declare it', (t) => {
  const files = declarations();
  t.true(files.size > 1000, `the search found ${files.size} names`);
  const double = [...files].filter(([name, paths]) => paths.length > 1 && !shared.has(name));
  t.deepEqual(double, [], 'rename one of each pair by its meaning');
});

test('Every name that several files may declare is declared by several', (t) => {
  const files = declarations();
  t.deepEqual(
    [...shared.keys()].filter((name) => (files.get(name)?.length ?? 0) < 2),
    [],
  );
});

// Files run in groups, whose members differ by stage, and a group refuses a title that it has already.
test('No two files have a test of the same title', (t) => {
  const files = new Map<string, Set<string>>();
  for (const file of readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.test.ts')) continue;
    const source = readFileSync(join(root, 'test', file), 'utf8');
    for (const [, quoted = ''] of source.matchAll(/\btest(?:\.serial)?\(\s*('[^'\n]*'|`[^`$\n]*`)/g))
      files.set(quoted, (files.get(quoted) ?? new Set()).add(file));
  }
  t.true(files.size > 1000, `the search found ${files.size} titles`);
  t.deepEqual(
    [...files].filter(([, found]) => found.size > 1),
    [],
  );
});
