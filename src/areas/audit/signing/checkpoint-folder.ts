import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, link, mkdir, open, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type CheckpointText, parseCheckpointText, parseNote } from '../tree/note.js';

/** A folder that keeps every signed checkpoint, best on a medium that the service cannot rewrite. */
export interface CheckpointFolder {
  /** Returns the newest checkpoint of an origin; null when there is none. @throws FolderProblem */
  newest(origin: string): Promise<CheckpointText | null>;
  /** Writes a checkpoint, synced. One that exists stays as it is. @throws FolderProblem */
  write(checkpoint: Pick<CheckpointText, 'origin' | 'size'>, note: string): Promise<void>;
}

/** The folder cannot be read or written, or holds a file that is no checkpoint. The message names the setting. */
export class FolderProblem extends Error {
  override readonly name = 'FolderProblem';
}

const filePattern = /^\d{20}$/;

/** @param path of `AUDIT_CHECKPOINT_DIR` */
export function makeCheckpointFolder(path: string): CheckpointFolder {
  return {
    newest: async (origin) => {
      const folder = folderOf(path, origin);
      const name = (await listed(folder))
        .filter((file) => filePattern.test(file))
        .sort()
        .at(-1);
      if (name === undefined) return null;
      const file = join(folder, name);
      const note = parseNote(await attempt(() => readFile(file, 'utf8')));
      const checkpoint = note === null ? null : parseCheckpointText(note.text);
      if (checkpoint?.origin !== origin || checkpoint.size !== Number(name)) {
        throw new FolderProblem(`AUDIT_CHECKPOINT_DIR: ${file} is no checkpoint of ${origin}; move it away`);
      }
      return checkpoint;
    },
    write: ({ origin, size }, note) =>
      attempt(async () => {
        const folder = folderOf(path, origin);
        await mkdir(folder, { recursive: true });
        const target = join(folder, String(size).padStart(20, '0'));
        if (await exists(target)) return;
        // A crash must leave no part of a checkpoint under its name.
        const temporary = join(folder, `.${randomUUID()}`);
        const file = await open(temporary, 'wx', 0o644);
        try {
          await file.writeFile(note);
          await file.sync();
        } finally {
          await file.close();
        }
        await link(temporary, target).catch(ignoreExisting);
        await unlink(temporary);
        const directory = await open(folder, 'r');
        await directory.sync().finally(() => directory.close());
      }),
  };
}

/** Checks at the start that checkpoints can be written. @throws FolderProblem */
export async function checkCheckpointFolder(path: string): Promise<void> {
  await attempt(async () => {
    await mkdir(path, { recursive: true });
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  });
}

/** An origin contains slashes, so its digest names the folder. */
function folderOf(path: string, origin: string): string {
  return join(path, createHash('sha256').update(origin).digest('hex').slice(0, 32));
}

async function listed(folder: string): Promise<readonly string[]> {
  return attempt(() =>
    readdir(folder).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }),
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FolderProblem) throw error;
    throw new FolderProblem(
      `AUDIT_CHECKPOINT_DIR cannot be used: ${codeOf(error)}; check the path and its rights`,
    );
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
