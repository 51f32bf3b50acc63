import { chmod } from 'node:fs/promises';
import { makeDataDirectory } from './service-process.js';

/** A directory in which nothing can be made; for root, who may write everywhere, the kernel's own. */
export async function makeUnwritableDirectory(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  if (process.getuid?.() === 0) return { path: '/proc', remove: () => Promise.resolve() };
  const directory = await makeDataDirectory();
  await chmod(directory.path, 0o555);
  return directory;
}
