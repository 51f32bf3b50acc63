import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import ts from 'typescript';

const root = join(import.meta.dirname, '..', '..', '..', '..', '..');

/** The modules that a file names, in imports, exports and calls of `import` and `require`. */
function modulesOf(text: string): readonly string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
}

test('The search for imported modules finds every form of import', (t) => {
  const text = "import 'a';\nimport { b } from 'b';\nexport * from 'c';\nvoid import('d');\nrequire('e');";
  t.deepEqual([...modulesOf(text)].sort(), ['a', 'b', 'c', 'd', 'e']);
});

test('The verifier is one file of at most 300 lines that imports modules of Node alone', (t) => {
  const text = readFileSync(join(root, 'src', 'areas', 'audit', 'verify.ts'), 'utf8');
  const modules = modulesOf(text);
  t.true(modules.length > 0);
  t.deepEqual(
    modules.filter((name) => !name.startsWith('node:')),
    [],
  );
  const lines = text.trimEnd().split('\n').length;
  t.true(lines <= 300, `it has ${lines} lines`);
});

test('The verifier in Python of the auditors’ guide has at most 40 lines', (t) => {
  const program = readFileSync(join(root, 'examples', 'verify-log.py'), 'utf8');
  const lines = program.trimEnd().split('\n').length;
  t.true(lines > 10 && lines <= 40, `it has ${lines} lines`);
});
