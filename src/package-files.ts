import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = packageRootOf(import.meta.dirname);

/**
 * Returns the address of a file of this package, for example of a worker thread or a page that the build has written to `dist`.
 * The code may run from `dist/chunks` or, in tests, from `dist/src`: the place of the calling file says nothing.
 * @param path relative to the folder of package.json
 */
export function packageFile(path: string): URL {
  return new URL(path, pathToFileURL(join(root, '/')));
}

function packageRootOf(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error(`no folder above ${import.meta.dirname} contains package.json`);
  return packageRootOf(parent);
}
