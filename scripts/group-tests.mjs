// Writes dist/groups: files that import the test files of a folder, so that `npm test` runs up to ten of them in one
// process. For most test files, starting a process and loading its modules costs more than the tests. `npx ava <file>`
// runs any of them by itself.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const filesMax = 10;

/** Campaigns and suites against servers have separate runs. */
const elsewhere = /^(deep|servers)\//;

/**
 * Tests that need a separate process: services, threads and servers that would all start at once, and conversations
 * with pauses of tenths of a second, which the work of another test would stretch.
 */
const alone = /^(end-to-end|stores)\/|^(http\/raw-socket|integrations\/mail\/mailer)\./;

const compiled = join(import.meta.dirname, '..', 'dist');
const folder = join(compiled, 'groups');

const tests = readdirSync(join(compiled, 'test'), { recursive: true })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.test.js') && !elsewhere.test(file))
  .sort();

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const file of tests.filter((file) => alone.test(file))) write(file.replaceAll('/', '-'), [file]);
for (const [area, files] of byArea(tests.filter((file) => !alone.test(file)))) {
  const size = Math.ceil(files.length / Math.ceil(files.length / filesMax));
  for (let from = 0; from < files.length; from += size) {
    write(`${area}-${from / size + 1}.test.js`, files.slice(from, from + size));
  }
}

/** Groups files by the first folder of the path. A file without a folder is a separate area. */
function byArea(files) {
  const areas = new Map();
  for (const file of files) {
    const [area] = file.replace('.test.js', '').split('/');
    areas.set(area, [...(areas.get(area) ?? []), file]);
  }
  return areas;
}

function write(name, files) {
  writeFileSync(join(folder, name), files.map((file) => `import '../test/${file}';\n`).join(''));
}
