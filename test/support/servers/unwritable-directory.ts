import { chmod } from 'node:fs/promises';
import { makeDataDirectory } from './service-process.js';

/**
 * Makes a directory in which no file can be created. For root, who may write everywhere, it is a directory of the
 * kernel.
 */
export async function makeUnwritableDirectory(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  if (process.getuid?.() === 0) return { path: '/proc', remove: () => Promise.resolve() };
  const directory = await makeDataDirectory();
  await chmod(directory.path, 0o555);
  return directory;
}
