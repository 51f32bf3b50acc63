import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { readKeyFile, readOrMakeKeyFile } from '../../keys/rings/key-file.js';

/**
 * Makes the file that `KEYS_FILE` names, with mode 0600. A file that exists stays as it is, so every start of a
 * deployment may run this.
 * @throws KeyProblem when the file is no key file, or other users may read it
 */
export function initKeys(file: string): { readonly file: string; readonly made: boolean } {
  const path = resolve(file);
  const made = readKeyFile(path) === null;
  readOrMakeKeyFile(path, randomBytes);
  return { file: path, made };
}
