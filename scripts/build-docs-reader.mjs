// Copies the reader of the page /docs from its package to dist/docs-reader, compressed. The service serves these files as they
// are. So the image contains the files that browsers load, and not the package.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { packFiles } from './pack-files.mjs';

const root = join(import.meta.dirname, '..');
const home = join(root, 'node_modules', '@scalar', 'api-reference');
const source = join(home, 'dist', 'browser');
const target = join(root, 'dist', 'docs-reader');
const entry = 'standalone.esm.js';

const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));

/** Copies the files, unless an earlier build has copied those of this version. */
export function buildDocsReader() {
  if (builtVersion() !== version) packReader();
}

/** Returns the version that an earlier build has copied; undefined without one. */
function builtVersion() {
  try {
    return JSON.parse(readFileSync(join(target, 'manifest.json'), 'utf8')).version;
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function packReader() {
  const chunks = readdirSync(join(source, 'chunks')).filter((name) => name.endsWith('.js'));
  const names = [entry, ...chunks.map((name) => `chunks/${name}`).sort()];
  rmSync(target, { recursive: true, force: true });
  const build = packFiles(source, names, target);
  // The manifest comes last: a build that was interrupted has none.
  const manifest = {
    version,
    ...{ build, entry },
    first: modulesOf(entry),
    files: names,
  };
  writeFileSync(join(target, 'manifest.json'), `${JSON.stringify(manifest, null, 1)}\n`);
  console.log(`dist/docs-reader: ${names.length} files of @scalar/api-reference ${version}`);
}

/** Returns the modules that a module imports when it loads, directly or not. Browsers fetch them at once. */
function modulesOf(name, found = new Set()) {
  const text = readFileSync(join(source, name), 'utf8');
  for (const [, path] of text.matchAll(/(?:\bfrom|\bimport)\s*["'`](\.{1,2}\/[\w./-]+\.js)["'`]/g)) {
    const module = posix.join(posix.dirname(name), path);
    if (found.has(module) || module === entry) continue;
    found.add(module);
    modulesOf(module, found);
  }
  return [...found];
}
