import test from 'ava';
import { packageFile } from '../../src/package-files.js';

interface Mutant {
  readonly file: string;
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Mutations {
  readonly placesIn: (
    source: string,
  ) => readonly { readonly kind: string; readonly texts: readonly string[] }[];
  readonly drawMutants: (
    sources: readonly (readonly [file: string, source: string])[],
    seed: string,
  ) => readonly Mutant[];
  readonly mutate: (source: string, mutant: Mutant) => string;
  readonly describeMutant: (
    source: string,
    mutant: Mutant,
  ) => { line: number; before: string; after: string };
}

const script = packageFile('scripts/mutations.mjs').href;
const load = async (): Promise<Mutations> => (await import(script)) as Mutations;

const cases: readonly [source: string, kind: string, mutated: readonly string[]][] = [
  ['const isLow = a < b;', '<', ['const isLow = a <= b;', 'const isLow = a >= b;']],
  ['const isSame = a === b;', '===', ['const isSame = a !== b;']],
  ['const both = a && b;', '&&', ['const both = a || b;']],
  ['const first = a ?? b;', '??', ['const first = a;', 'const first = b;']],
  ['const sum = a + b;', '+', ['const sum = a - b;']],
  ['const on = { open: true };', 'boolean', ['const on = { open: false };']],
  ['if (a) b = c;', 'condition', ['if (true) b = c;', 'if (false) b = c;']],
  ['const one = a ? b : c;', 'condition', ['const one = true ? b : c;', 'const one = false ? b : c;']],
  ['f();', 'call', [';']],
  ['void f();', 'call', [';']],
  ['for (const a of b) await f(a);', 'call', ['for (const a of b) ;']],
  ["const types = ['a', 'b'];", 'list', ["const types = ['b'];", "const types = ['a'];"]],
  [
    'async function f(): Promise<void> { a = b; }',
    'return',
    ['async function f(): Promise<void> { return; a = b; }'],
  ],
];

test('Each kind of mutation is found and changes its place only', async (t) => {
  const { drawMutants, mutate } = await load();
  for (const [source, kind, mutated] of cases) {
    const found = new Set<string>();
    for (let seed = 0; seed < 30; seed += 1) {
      const mutants = drawMutants([['a.ts', source]], String(seed));
      t.deepEqual(
        mutants.map((each) => each.kind),
        [kind],
        source,
      );
      for (const mutant of mutants) found.add(mutate(source, mutant));
    }
    t.deepEqual([...found].sort(), [...mutated].sort());
  }
});

test('Types, imports, descriptions, numbers and joined texts have no place', async (t) => {
  const { placesIn } = await load();
  for (const source of [
    "import { a } from 'b';",
    'type A = { readonly open: true } | false;',
    'interface A { readonly open: true }',
    'let a: true | undefined;',
    'const a = b as true;',
    "const a = z.string().meta({ deprecated: true, examples: ['a', 'b'] }).describe(b ?? c);",
    'const a = 5;',
    "const a = 'b' + c + `d${e}`;",
    '// a < b\n/* f(); */',
  ])
    t.deepEqual(placesIn(source), [], source);
});

test('The seed alone decides which mutants come and in which order', async (t) => {
  const { drawMutants } = await load();
  const sources = ['a.ts', 'b.ts'].map((file) => [file, 'if (a < b) f();\nif (c >= d) g();\n'] as const);
  const drawn = drawMutants(sources, 'seed');
  t.is(drawn.length, 12);
  t.deepEqual(drawMutants(sources, 'seed'), drawn);
  t.deepEqual(drawMutants(sources.toReversed(), 'seed'), drawn);
  t.notDeepEqual(drawMutants(sources, 'another'), drawn);
});

test('A mutant is shown with its line, before and after', async (t) => {
  const { drawMutants, describeMutant } = await load();
  const source = 'let a;\nif (b) {\n  f(\n    c,\n  );\n}\n';
  const call = drawMutants([['a.ts', source]], 's').find(({ kind }) => kind === 'call');
  if (call === undefined) return t.fail();
  t.deepEqual(describeMutant(source, call), { line: 3, before: 'f( c, );', after: ';' });
  return undefined;
});
