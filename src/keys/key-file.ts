import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, linkSync, mkdirSync, openSync } from 'node:fs';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { KeyProblem } from './errors.js';
import { formatRingKey } from './keyring.js';
import type { RandomBytes } from './random-bytes.js';

/** The rings of keys, each for one purpose. */
export const ringNames = ['jwt', 'master', 'refresh', 'code', 'pepper', 'audit'] as const;
export type RingName = (typeof ringNames)[number];

/** Every key of every ring has this length: AES-256 and HMAC-SHA-256 keys, Ed25519 seeds (RFC 8032). */
export const keyBytes = 32;

const listSchema = z.array(z.string()).min(1);

/** The storage format of `keys.json`. Entries are `kid:base64url`, the active one first, as in the environment. */
const keyFileSchema = z.strictObject({
  format: z.literal(1),
  rings: z.strictObject({
    jwt: listSchema,
    master: listSchema,
    refresh: listSchema,
    code: listSchema,
    pepper: listSchema,
    audit: listSchema,
  }),
  index_key: z.string(),
});

export type KeyFile = z.output<typeof keyFileSchema>;

/** A new file with one key a ring. */
export function newKeyFile(randomBytes: RandomBytes): KeyFile {
  const list = () => [newEntry([], randomBytes)];
  return {
    format: 1,
    rings: { jwt: list(), master: list(), refresh: list(), code: list(), pepper: list(), audit: list() },
    index_key: randomBytes(keyBytes).toString('base64url'),
  };
}

/** `keys add`: a new key at the end of the ring, not active yet, so that every process can learn of it first. */
export function addKey(
  file: KeyFile,
  ring: RingName,
  randomBytes: RandomBytes,
): { readonly file: KeyFile; readonly kid: string } {
  const entries = file.rings[ring];
  const entry = newEntry(entries.map(kidOf), randomBytes);
  return { file: withRing(file, ring, [...entries, entry]), kid: kidOf(entry) };
}

/** `keys promote`: makes a key of the ring the active one. @throws KeyProblem when the ring has no such key */
export function promoteKey(file: KeyFile, ring: RingName, kid: string): KeyFile {
  const entries = file.rings[ring];
  const chosen = entries.find((entry) => kidOf(entry) === kid);
  if (chosen === undefined) {
    throw new KeyProblem(`the ring ${ring} has no such key; it has ${entries.map(kidOf).join(', ')}`);
  }
  return withRing(file, ring, [chosen, ...entries.filter((entry) => entry !== chosen)]);
}

/**
 * Reads the file, or null when there is none. Synchronous: it is small and local, and an unknown key id is answered
 * in the call that meets it.
 * @throws KeyProblem when others may read it or it is not a key file
 */
export function readKeyFile(path: string): KeyFile | null {
  let text: string;
  try {
    const descriptor = openSync(path, 'r');
    try {
      // The mode of the opened file, not of whatever the path names a moment later. Windows has no such modes.
      const mode = fstatSync(descriptor).mode & 0o777;
      if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
        throw new KeyProblem(
          `${path} can be read or changed by others (mode ${mode.toString(8)}); run chmod 600 on it, and replace its keys if others have used this machine`,
        );
      }
      text = readFileSync(descriptor, 'utf8');
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    if (codeOf(error) === undefined) throw error;
    throw new KeyProblem(`${path} cannot be read (${codeOf(error) ?? ''}); make it readable for this user`);
  }
  return parseKeyFile(text, path);
}

/**
 * The file, made first where there is none. Of processes that race one makes it and the others read what it made:
 * the finished, fsynced file gets its name by `link`, which fails where the name exists.
 * @throws KeyProblem
 */
export function readOrMakeKeyFile(path: string, randomBytes: RandomBytes): KeyFile {
  const existing = readKeyFile(path);
  if (existing !== null) return existing;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  placeFile(path, newKeyFile(randomBytes), (temporary) => {
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
 * Changes the file by a pure function, atomically, one command at a time: a key that another command has added or
 * made active is never lost.
 * @throws KeyProblem
 */
export function changeKeyFile(path: string, change: (file: KeyFile) => KeyFile): KeyFile {
  const lock = `${path}.lock`;
  try {
    closeSync(openSync(lock, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new KeyProblem(
      `another command is changing ${path}; if none is, one was cut off: delete ${lock} and try again`,
    );
  }
  try {
    const file = readKeyFile(path);
    if (file === null) throw new KeyProblem(`${path} does not exist; the service makes it when it starts`);
    const changed = parseKeyFile(JSON.stringify(change(file)), path);
    placeFile(path, changed, (temporary) => {
      renameSync(temporary, path);
    });
    return changed;
  } finally {
    rmSync(lock, { force: true });
  }
}

function parseKeyFile(text: string, path: string): KeyFile {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new KeyProblem(`${path} is not JSON; restore it from a backup`);
  }
  const result = keyFileSchema.safeParse(json);
  if (result.success) return result.data;
  const fields = result.error.issues.map((issue) => issue.path.join('.') || 'the whole').join(', ');
  throw new KeyProblem(`${path} is not a key file of this version (${fields}); restore it from a backup`);
}

/** Writes and fsyncs a file beside the path, lets `place` give it its name, and fsyncs the directory. */
function placeFile(path: string, file: KeyFile, place: (temporary: string) => void): void {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const descriptor = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(descriptor, `${JSON.stringify(file, null, 2)}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    place(temporary);
  } finally {
    rmSync(temporary, { force: true });
  }
  fsyncDirectory(dirname(path));
}

function fsyncDirectory(directory: string): void {
  // Windows cannot open a directory; its journal keeps the names.
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function newEntry(takenKids: readonly string[], randomBytes: RandomBytes): string {
  for (;;) {
    const kid = `k${randomBytes(4).toString('hex')}`;
    if (!takenKids.includes(kid)) return formatRingKey({ kid, key: randomBytes(keyBytes) });
  }
}

function kidOf(entry: string): string {
  const colon = entry.indexOf(':');
  // An entry without a colon may be a bare key: it has no id, and is never shown.
  return colon < 0 ? '' : entry.slice(0, colon);
}

function withRing(file: KeyFile, ring: RingName, entries: readonly string[]): KeyFile {
  return { ...file, rings: { ...file.rings, [ring]: [...entries] } };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
