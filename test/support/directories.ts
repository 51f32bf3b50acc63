import { mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

/** Makes a directory that the end of the test removes. Returns its path. */
export function givenDirectory(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'stowage-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Makes a new directory for the files of several tests, and returns the function that removes it. */
export function makeDirectory(): { readonly directory: string; readonly remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'stowage-'));
  return {
    directory,
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
