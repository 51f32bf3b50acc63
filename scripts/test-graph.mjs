// The tests that reach a source file, by the import graph and by the programs that they start, nearest first.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** The programs of `dist` that tests and sources start by `packageFile('dist/…')`: see scripts/build.mjs. */
const programs = new Map([
  ['cli', 'src/cli.ts'],
  ['verify', 'src/audit/verify/verify.ts'],
  ['hash-worker', 'src/security/hash-worker.ts'],
  ['writer-thread', 'src/stores/embedded/writer-thread.ts'],
  ['catch-up-thread', 'src/composition/catch-up-thread.ts'],
]);

/** A test that starts a program costs seconds. It comes after those that import the file a few modules away. */
const startDistance = 3;

/** The names of the programs that each file starts. */
const starts = new Map();

/** Reads the imports of the tests of a folder, without the campaigns and the suites against servers. */
export async function readTestGraph(root) {
  const tests = readdirSync(join(root, 'test'), { recursive: true })
    .map((file) => `test/${file.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.test.ts') && !/^test\/(deep|servers)\//.test(file));
  const { metafile } = await build({
    absWorkingDir: root,
    stdin: {
      contents: [...tests, ...programs.values()].map((file) => `import './${file}';`).join('\n'),
      resolveDir: root,
      sourcefile: 'all-tests.js',
    },
    ...{ bundle: true, write: false, metafile: true, preserveSymlinks: true },
    ...{ format: 'esm', platform: 'node', packages: 'external', logLevel: 'error' },
  });
  const imports = new Map(
    Object.entries(metafile.inputs).map(([file, input]) => [
      file,
      input.imports.filter(({ external }) => external !== true).map(({ path }) => path),
    ]),
  );
  const reached = new Map(tests.map((test) => [test, distances([test])]));
  const startedBy = new Map(
    tests.map((test) => [test, distances(programsIn([...reached.get(test).keys()]))]),
  );
  const testsWith = new Map();
  for (const word of tests.flatMap(wordsOf)) testsWith.set(word, (testsWith.get(word) ?? 0) + 1);
  return { testsOf };

  /** Returns the tests that run a file, nearest first, each with whether it starts a program with the file. */
  function testsOf(file) {
    return tests
      .filter((test) => reached.get(test).has(file) || startedBy.get(test).has(file))
      .map((test) => {
        const started = startedBy.get(test).get(file) ?? Infinity;
        const distance = Math.min(reached.get(test).get(file) ?? Infinity, started + startDistance);
        const rank = distance - likeness(test, file) + reached.get(test).size / 10_000;
        return { test, rank, startsIt: startedBy.get(test).has(file) };
      })
      .sort((a, b) => a.rank - b.rank);
  }

  /** Returns how much the paths have in common. A word of few tests counts more, and a word that the file lacks counts against. */
  function likeness(test, file) {
    const words = wordsOf(file);
    return wordsOf(test)
      .map((word) => (words.includes(word) ? Math.log2(tests.length / testsWith.get(word)) : -0.5))
      .reduce((sum, weight) => sum + weight, 0);
  }

  function distances(from) {
    const found = new Map(from.map((file) => [file, 0]));
    for (const [file, distance] of found)
      for (const next of imports.get(file) ?? []) if (!found.has(next)) found.set(next, distance + 1);
    return found;
  }

  function programsIn(files) {
    const all = files.flatMap((file) => startsOf(file));
    return [...new Set(all.map((name) => programs.get(name)).filter((entry) => entry !== undefined))];
  }

  function startsOf(file) {
    if (!starts.has(file)) {
      const source = file.endsWith('.ts') ? readFileSync(join(root, file), 'utf8') : '';
      starts.set(
        file,
        [...source.matchAll(/packageFile\('dist\/([\w-]+)\.js'\)/g)].map(([, name]) => name),
      );
    }
    return starts.get(file);
  }
}

/** Returns the words of a path, in the singular: `test/http/shares.test.ts` is about `src/http/routes/shares.ts`. */
function wordsOf(path) {
  const words = path.replace(/^(src|test)\/|(\.test)?\.ts$/g, '').split(/[/-]/);
  return words.map((word) => word.replace(/s$/, ''));
}
