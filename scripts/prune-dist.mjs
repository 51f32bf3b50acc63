// Deletes compiled files without a source, so that no deleted test runs and no import of a deleted module resolves.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const compiled = join(root, 'dist');

for (const folder of ['src', 'projections', 'test']) {
  const from = join(compiled, folder);
  if (!existsSync(from)) continue;
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const source = join(root, relative(compiled, file)).replace(/\.js(\.map)?$/, '.ts');
    if (existsSync(source)) continue;
    rmSync(file);
    console.log(`removed ${relative(root, file)}: its source is gone`);
  }
}
