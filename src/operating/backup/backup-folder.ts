import { codeOf } from '../../kit/errors.js';
import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  rmSync,
  mkdirSync,
  renameSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join, dirname, basename } from 'node:path';
import { z } from 'zod';
import { StoreDamaged, StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import { lockDirectory, lockName } from '../../stores/embedded/files/directory-lock.js';
import { sqliteCode } from '../../stores/embedded/files/failures.js';
import { parseJson } from '../../kit/parse.js';

export const manifestName = 'manifest.json';

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const fileSchema = z.strictObject({
  name: z.string().regex(/^[a-z-]+\.(db|json)$/),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** What a backup holds. `keys` and `keys_apart` name variables of keys: those in keys.json, and those that are not. */
const contentSchema = z.strictObject({
  format: z.literal(1),
  made_at: z.iso.datetime(),
  service_version: z.string(),
  log_id: z.string(),
  /** The position of the last event; null for an empty log. */
  position: z.string().nullable(),
  events: z.int().nonnegative(),
  records: z.int().nonnegative(),
  state_version: z.int().nonnegative(),
  keys: z.array(z.string()),
  keys_apart: z.array(z.string()),
  files: z.array(fileSchema),
});
export type BackupContent = z.output<typeof contentSchema>;
type BackupFile = z.output<typeof fileSchema>;

/** The manifest adds a digest of the rest. Its last byte closes it, so that no part of it passes for the whole. */
const manifestSchema = z.strictObject({ ...contentSchema.shape, sha256: z.string() });

export function formatManifest(content: BackupContent): string {
  return JSON.stringify({ ...content, sha256: digestOf(content) }, null, 2);
}

function digestOf(content: BackupContent): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

/** Reads the manifest of a backup. @throws StoreDamaged when it is absent, cut off or changed */
export function readManifest(folder: string): BackupContent {
  const path = join(folder, manifestName);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw notWhole(folder, `${manifestName} cannot be read (${codeOf(error)})`);
  }
  const json = parseJson(text);
  if (json === undefined) throw notWhole(folder, `${manifestName} is cut off or changed`);
  const parsed = manifestSchema.safeParse(json);
  if (!parsed.success) throw notWhole(folder, `${manifestName} is not one of this release`);
  const { sha256, ...content } = parsed.data;
  if (digestOf(content) !== sha256 || formatManifest(content) !== text)
    throw notWhole(folder, `${manifestName} is changed`);
  return content;
}

/**
 * Compares every file of a backup with its manifest.
 * @param onBytes receives the bytes that were read since the last call
 * @throws StoreDamaged naming the first file that differs
 */
export async function verifyBackup(folder: string, onBytes: (bytes: number) => void): Promise<BackupContent> {
  const content = readManifest(folder);
  // The sizes first, because they cost nothing.
  for (const { name, bytes } of content.files) {
    const size = statSync(join(folder, name), { throwIfNoEntry: false })?.size;
    if (size === bytes) continue;
    const found = size === undefined ? 'is missing' : `has ${size} bytes and had ${bytes}`;
    throw notWhole(folder, `${name} ${found}`);
  }
  for (const { name, sha256 } of content.files) {
    if ((await digestFile(join(folder, name), onBytes)).sha256 !== sha256) {
      throw notWhole(folder, `${name} differs from its digest`);
    }
  }
  return content;
}

/** Returns size and SHA-256 of a file. @throws StoreUnavailable */
export async function digestFile(
  path: string,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<Pick<BackupFile, 'bytes' | 'sha256'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
      onBytes(chunk.length);
    }
  } catch (error) {
    throw new StoreUnavailable(`${path} cannot be read (${codeOf(error)})`, { cause: error });
  }
  return { bytes, sha256: hash.digest('hex') };
}

/**
 * Copies a file, syncs the copy, and returns the digest of what it wrote. The copy is for this user alone.
 * @throws StoreUnavailable
 */
export async function copyFileDurably(
  from: string,
  to: string,
  onBytes: (bytes: number) => void,
): Promise<string> {
  const hash = createHash('sha256');
  try {
    const copy = await open(to, 'w', 0o600);
    try {
      for await (const chunk of createReadStream(from) as AsyncIterable<Buffer>) {
        hash.update(chunk);
        await copy.writeFile(chunk);
        onBytes(chunk.length);
      }
      await copy.sync();
    } finally {
      await copy.close();
    }
  } catch (error) {
    throw new StoreUnavailable(`${from} cannot be copied to ${to} (${codeOf(error)})`, { cause: error });
  }
  return hash.digest('hex');
}

/** Syncs a file or a directory, whose names are then durable. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the names in a directory; none where it does not exist. @throws StoreUnavailable when it cannot be read */
export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw new StoreUnavailable(`${directory} cannot be read (${codeOf(error)}); name a directory`, {
      cause: error,
    });
  }
}

function notWhole(folder: string, what: string): StoreDamaged {
  return new StoreDamaged(`${folder} is no whole backup: ${what}. Nothing was restored; use another backup`);
}

/**
 * Fills a folder beside the target, and gives it the name when it is whole and durable.
 * @throws StoreUnavailable, also while another process fills the same target
 */
export async function fillFolder<Made>(
  target: string,
  fill: (partial: string) => Promise<Made>,
): Promise<Made> {
  const parent = dirname(target);
  const holder = join(parent, `.${basename(target)}.partial`);
  const unlock = await asWritten(target, () => {
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    removeUnfinished(parent);
    mkdirSync(holder, { recursive: true, mode: 0o700 });
    return lockDirectory(holder);
  });
  const remove = (): void => rmSync(holder, { recursive: true, force: true });
  const end = (signal: NodeJS.Signals): void => {
    remove();
    // The listener is gone, so the signal ends the process.
    process.kill(process.pid, signal);
  };
  for (const signal of endingSignals) process.once(signal, end);
  try {
    return await asWritten(target, async () => {
      const partial = join(holder, 'folder');
      mkdirSync(partial, { mode: 0o700 });
      const made = await fill(partial);
      renameSync(partial, target);
      syncPath(parent);
      return made;
    });
  } finally {
    remove();
    unlock();
    for (const signal of endingSignals) process.removeListener(signal, end);
  }
}

/** Removes what killed processes left: a part of a backup holds keys and personal data, and no one would look for it. */
function removeUnfinished(parent: string): void {
  for (const name of namesIn(parent).filter((one) => /^\..+\.partial$/.test(one))) {
    const holder = join(parent, name);
    try {
      // A folder of another program has no such file.
      if (!namesIn(holder).includes(lockName)) continue;
      const unlock = lockDirectory(holder);
      rmSync(holder, { recursive: true, force: true });
      unlock();
    } catch {
      // Another process fills it, or it is of another user.
    }
  }
}

/** @throws StoreUnavailable for a failure of the disk */
async function asWritten<Made>(target: string, write: () => Made | Promise<Made>): Promise<Made> {
  try {
    return await write();
  } catch (error) {
    const isOfSystem = error instanceof Error && 'syscall' in error;
    if (!isOfSystem && !/^SQLITE_(FULL|IOERR|CANTOPEN)/.test(sqliteCode(error) ?? '')) throw error;
    const said = `${target} cannot be written (${codeOf(error)}); check the disk and its rights`;
    throw new StoreUnavailable(said, { cause: error });
  }
}
