// The tests that reach a source file, by the import graph and by the programs that they start, nearest first.
import { filesOfKind, importGraph } from './test-files.mjs';

/** A test that starts a program costs seconds. It comes after those that import the file a few modules away. */
const startDistance = 3;

/** Reads the imports of the tests, without the campaigns and the suites against servers. */
export function readTestGraph() {
  const tests = [...filesOfKind('test'), ...filesOfKind('processes')];
  const graph = importGraph();
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
      for (const next of graph.get(file)?.imports ?? []) if (!found.has(next)) found.set(next, distance + 1);
    return found;
  }

  /** Returns the entries of the bundles that files start. */
  function programsIn(files) {
    return [...new Set(files.flatMap((file) => graph.get(file)?.starts ?? []))];
  }
}

/** Returns the words of a path, in the singular: `test/areas/shares/routes/shares.test.ts` is about `src/areas/shares/routes/shares.ts`. */
function wordsOf(path) {
  const words = path.replace(/^(src|test)\/|(\.test)?\.ts$/g, '').split(/[/-]/);
  return words.map((word) => word.replace(/s$/, ''));
}
