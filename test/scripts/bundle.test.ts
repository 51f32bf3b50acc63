import { readFileSync } from 'node:fs';
import test from 'ava';
import { packageFile } from '../../src/package-files.js';

/** Returns the files of the build that Node reads when it starts this one. */
function filesOf(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const imports = readFileSync(packageFile(file), 'utf8').matchAll(
    /(?:from|import)"(?:\.\/)?(?:chunks\/)?(chunk-\w+\.js)"/g,
  );
  for (const [, name] of imports) filesOf(`dist/chunks/${name}`, found);
  return found;
}

// Each thread has the code for itself. The schemas of all events took 4 MiB and a tenth of the CPU time of a start.
for (const thread of ['writer-thread', 'scrub-thread', 'hash-worker']) {
  test(`The ${thread} loads less than 100 KB of code`, (t) => {
    const files = [...filesOf(`dist/${thread}.js`)];
    const bytes = files.map((file) => readFileSync(packageFile(file)).length).reduce((sum, one) => sum + one);
    t.true(files.length > 2 && bytes < 100_000, `${bytes} bytes in ${files.join(' ')}`);
  });
}
