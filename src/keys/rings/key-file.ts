import { codeOf } from '../../kit/errors.js';
import { randomUUID } from 'node:crypto';
import {
  chownSync,
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { KeyProblem } from '../sealing/errors.js';
import { newKeyFile } from './key-changes.js';
import { formatKeyFile, parseKeyFile, type KeyFile } from './key-file-format.js';
import type { RandomBytes } from '../sealing/digests.js';

const temporarySuffix = '.tmp';

/**
 * Reads the file, or returns null if there is none. It is synchronous, because the look-up of an unknown key id is.
 * @throws KeyProblem when other users may read the file, or when it is not a key file
 */
export function readKeyFile(path: string): KeyFile | null {
  let text: string;
  try {
    const descriptor = openSync(path, 'r');
    try {
      // Checks the opened file, because the path may name another file a moment later.
      const found = fstatSync(descriptor);
      if (isOpenToOthers(found, process.getuid?.())) {
        throw new KeyProblem(
          `${path} can be read or changed by others (mode ${(found.mode & 0o777).toString(8)}); run chmod 600 on it, and replace its keys if others have used this machine`,
        );
      }
      text = readFileSync(descriptor, 'utf8');
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    if (error instanceof KeyProblem) throw error;
    throw new KeyProblem(`${path} cannot be read (${codeOf(error)}); make it readable for this user`, {
      cause: error,
    });
  }
  return parseKeyFile(text, path);
}

/**
 * Returns whether others may read or change a file. Kubernetes gives a file of a secret to root and to the group of the
 * process, which cannot read it otherwise.
 * @param user the user of this process; undefined on Windows, which has no such modes
 */
export function isOpenToOthers(
  { mode, uid }: Pick<Stats, 'mode' | 'uid'>,
  user: number | undefined,
): boolean {
  if (user === undefined) return false;
  const own = uid === 0 && user !== 0 ? 0o740 : 0o700;
  return (mode & 0o777 & ~own) !== 0;
}

/**
 * Reads the file and makes it first if there is none. If several processes race, one makes it and the others read it:
 * `link` gives the finished, fsynced file its name, and fails if the name exists. @throws KeyProblem
 */
export function readOrMakeKeyFile(path: string, randomBytes: RandomBytes): KeyFile {
  const existing = readKeyFile(path);
  if (existing !== null) return existing;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  putFile(path, newKeyFile(randomBytes), (temporary) => {
    try {
      linkSync(temporary, path);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  });
  const made = readKeyFile(path);
  if (made === null) throw new KeyProblem(`${path} disappeared while it was made; start again`);
  return made;
}

/**
 * Changes the file atomically: every reader finds the old or the new file, also after a crash. Changes cannot overlap,
 * because `change` is synchronous and only the owner of the data directory calls this. @throws KeyProblem
 */
export function changeKeyFile(path: string, change: (file: KeyFile) => KeyFile): KeyFile {
  const file = readKeyFile(path);
  if (file === null) throw new KeyProblem(`${path} does not exist; the service makes it when it starts`);
  const changed = parseKeyFile(formatKeyFile(change(file)), path);
  try {
    putFile(path, changed, (temporary) => {
      const { uid, gid } = statSync(path);
      // The service, which is another user, could not read a file of root.
      if (process.getuid?.() === 0) chownSync(temporary, uid, gid);
      renameSync(temporary, path);
    });
  } catch (error) {
    throw new KeyProblem(`${path} could not be written (${codeOf(error)}); its keys are as they were`, {
      cause: error,
    });
  }
  return changed;
}

/** Removes temporary files with keys, which a killed change leaves. The owner calls it before any other use. */
export function removeLeftovers(path: string): void {
  const directory = dirname(path);
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(directory)) {
    if (name.startsWith(prefix) && name.endsWith(temporarySuffix))
      rmSync(join(directory, name), { force: true });
  }
}

/** Writes and fsyncs a file beside the path, calls `put` to give it its name, and fsyncs the directory. */
function putFile(path: string, file: KeyFile, put: (temporary: string) => void): void {
  const temporary = `${path}.${randomUUID()}${temporarySuffix}`;
  try {
    const descriptor = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(descriptor, formatKeyFile(file));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    put(temporary);
  } finally {
    rmSync(temporary, { force: true });
  }
  fsyncDirectory(dirname(path));
}

function fsyncDirectory(directory: string): void {
  // Windows cannot open a directory. Its journal keeps the names.
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
