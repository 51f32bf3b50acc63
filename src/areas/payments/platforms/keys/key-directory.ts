import { isRecent } from '../../../../kit/time/clock.js';
import { codeOf } from '../../../../kit/errors.js';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A file of a directory of keys; the name lacks `.pem`. */
export type KeyDirectoryFile = { readonly name: string; readonly text: string };

type KeyDirectory<Keys> = (now: Date) => Keys;

const filesMax = 100;
const bytesMax = 65_536;
const checkEveryMs = 10_000;

/** The directory, or a file in it, is not usable. The message names the file and quotes nothing of its content. */
export class KeyDirectoryProblem extends Error {
  override readonly name = 'KeyDirectoryProblem';
}

/**
 * Reads keys from the PEM files of a directory, so that keys rotate without a restart. It checks for changes at most
 * every 10 s. If a file becomes unusable, it reports that once per change and keeps the current keys; if it cannot be
 * read, at each check.
 * @param parse throws KeyDirectoryProblem
 * @throws KeyDirectoryProblem if the directory is unusable at the start
 */
export function makeKeyDirectory<Keys>(deps: {
  readonly path: string;
  readonly parse: (files: readonly KeyDirectoryFile[]) => Keys;
  readonly report: (problem: string) => void;
}): KeyDirectory<Keys> {
  const { path, parse, report } = deps;
  let state = stateOf(path);
  let keys = parse(readAll(path));
  let checkedAt = Number.NEGATIVE_INFINITY;
  return (now) => {
    if (isRecent(checkedAt, checkEveryMs, now)) return keys;
    checkedAt = now.getTime();
    try {
      const current = stateOf(path);
      if (current === state) return keys;
      const files = readAll(path);
      // What could not be read is read again at the next check.
      state = current;
      keys = parse(files);
    } catch (error) {
      if (!(error instanceof KeyDirectoryProblem)) throw error;
      report(error.message);
    }
    return keys;
  };
}

function namesIn(path: string): readonly string[] {
  const names = attempt(path, () => readdirSync(path))
    .filter((name) => name.endsWith('.pem'))
    .sort();
  if (names.length > filesMax)
    throw new KeyDirectoryProblem(`${path} holds more than ${filesMax} .pem files`);
  return names;
}

/** Changes with every change of a file, also of its mode. Follows links: mounted secrets are often links to a replaced directory. */
function stateOf(path: string): string {
  const states = namesIn(path).map((name) => {
    const { ino, ctimeMs, mtimeMs, size } = attempt(join(path, name), () => statSync(join(path, name)));
    return `${name}:${ino}:${ctimeMs}:${mtimeMs}:${size}`;
  });
  return states.join('\n');
}

function readAll(path: string): readonly KeyDirectoryFile[] {
  return namesIn(path).map((name) => {
    const text = attempt(join(path, name), () => readFileSync(join(path, name), 'latin1'));
    if (text.length > bytesMax) throw new KeyDirectoryProblem(`${join(path, name)} is too large to be a key`);
    return { name: name.slice(0, -'.pem'.length), text };
  });
}

function attempt<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new KeyDirectoryProblem(`${path} cannot be read (${codeOf(error)})`);
  }
}
