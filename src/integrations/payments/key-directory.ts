import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A file of a directory of keys: its name without `.pem`, and its text. */
export interface KeyFile {
  readonly name: string;
  readonly text: string;
}

/** What the files make, read again when they have changed. */
export type KeyDirectory<Keys> = (now: Date) => Keys;

const filesMax = 100;
const bytesMax = 65_536;
const checkEveryMs = 10_000;

/** The directory, or a file in it, is not what it has to be. The message names the file, and nothing of its content. */
export class KeyDirectoryProblem extends Error {
  override readonly name = 'KeyDirectoryProblem';
}

/**
 * Keys out of the PEM files of a directory, for rotation without a restart: it is looked at every 10 s at most, and read when a
 * file has come, gone or changed. A directory that has become wrong is told of once a change, and the keys stay what they were.
 * @param parse what the files make; it throws KeyDirectoryProblem
 * @param report told of what is wrong with a later state
 * @throws KeyDirectoryProblem if the directory is wrong from the beginning
 */
export function makeKeyDirectory<Keys>({
  path,
  parse,
  report,
}: {
  readonly path: string;
  readonly parse: (files: readonly KeyFile[]) => Keys;
  readonly report: (problem: string) => void;
}): KeyDirectory<Keys> {
  let state = stateOf(path);
  let keys = parse(readAll(path));
  let checkedAt = Number.NEGATIVE_INFINITY;
  return (now) => {
    // Either way: a clock that was set back must not stop the looking.
    if (Math.abs(now.getTime() - checkedAt) < checkEveryMs) return keys;
    checkedAt = now.getTime();
    try {
      const current = stateOf(path);
      if (current === state) return keys;
      state = current;
      keys = parse(readAll(path));
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

/** Changes whenever a file does. Links are followed: secrets are often mounted as links to a directory that is replaced. */
function stateOf(path: string): string {
  const states = namesIn(path).map((name) => {
    const { ino, mtimeMs, size } = attempt(join(path, name), () => statSync(join(path, name)));
    return `${name}:${ino}:${mtimeMs}:${size}`;
  });
  return states.join('\n');
}

function readAll(path: string): readonly KeyFile[] {
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
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new KeyDirectoryProblem(`${path} cannot be read (${code})`);
  }
}
