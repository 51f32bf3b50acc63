import { codeOf, ifMissing } from '../../../kit/errors.js';
import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, link, mkdir, open, readdir, readFile, rm, stat, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type CheckpointText, parseCheckpointText, parseNote } from '../tree/note.js';

/** A folder of signed checkpoints. One that an operator names is best on a medium that the service cannot rewrite. */
export type CheckpointFolder = ReturnType<typeof makeCheckpointFolder>;

/** The folder cannot be read or written, or holds a file that is no checkpoint. The message names the setting. */
export class FolderProblem extends Error {
  override readonly name = 'FolderProblem';
}

const filePattern = /^\d{20}$/;

/** A folder where the service keeps checkpoints. */
interface FolderPath {
  /** The name of the folder in contradictions. */
  readonly source: 'folder' | 'keys';
  readonly path: string;
  /** The name of the folder in sentences. */
  readonly name: string;
  /** So many of the newest checkpoints of an origin stay. */
  readonly newest: number;
}

/** Returns the folder that `AUDIT_CHECKPOINT_DIR` names. It keeps all checkpoints. */
export function outsidePath(path: string): FolderPath {
  return { source: 'folder', path, name: 'AUDIT_CHECKPOINT_DIR', newest: Infinity };
}

/**
 * Returns the folders of a process: src/areas/audit/signing/README.md#checkpoints-of-the-audit-log.
 * @param directory of `AUDIT_CHECKPOINT_DIR`
 * @param keyFile path of the `keys.json` that the service writes; null where it writes none
 */
export function checkpointPaths(paths: {
  readonly directory: string | undefined;
  readonly dataDirectory: string;
  readonly keyFile: string | null;
}): readonly FolderPath[] {
  const { directory, dataDirectory, keyFile } = paths;
  const folder = (source: FolderPath['source'], path: string, newest: number): FolderPath => ({
    ...{ source, path, newest },
    name: path,
  });
  return [
    directory === undefined
      ? folder('folder', join(dataDirectory, 'checkpoints'), 10)
      : outsidePath(directory),
    ...(keyFile === null ? [] : [folder('keys', `${keyFile}.checkpoint`, 1)]),
  ];
}

export function makeCheckpointFolder(at: FolderPath) {
  const { source, path, name } = at;
  const attempt = attemptAt(name);
  /** By folder: its newest checkpoint, and the time of its last change then. A folder that keeps all holds millions. */
  const known = new Map<string, { readonly changed: bigint; readonly last: string | undefined }>();
  return {
    source,
    name,
    /** Returns the newest checkpoint of an origin; null when there is none. @throws FolderProblem */
    newest: async (origin: string): Promise<CheckpointText | null> => {
      const folder = folderOf(path, origin);
      const last = await attempt(() => lastIn(folder));
      if (last === undefined) return null;
      const file = join(folder, last);
      const note = parseNote(await attempt(() => readFile(file, 'utf8')));
      const checkpoint = note === null ? null : parseCheckpointText(note.text);
      if (checkpoint?.origin !== origin || checkpoint.size !== Number(last))
        throw new FolderProblem(`${name}: ${file} is no checkpoint of ${origin}; move it away`);
      return checkpoint;
    },
    /** Writes a checkpoint, synced. One that exists stays as it is. @throws FolderProblem */
    write: ({ origin, size }: Pick<CheckpointText, 'origin' | 'size'>, note: string) =>
      attempt(async () => {
        const folder = folderOf(path, origin);
        await mkdir(folder, { recursive: true });
        const target = join(folder, String(size).padStart(20, '0'));
        if (await exists(target)) return;
        const before = await lastIn(folder);
        // A crash must leave no part of a checkpoint under its name.
        const temporary = join(folder, `.${randomUUID()}`);
        try {
          const file = await open(temporary, 'wx', 0o644);
          try {
            await file.writeFile(note);
            await file.sync();
          } finally {
            await file.close();
          }
          await link(temporary, target).catch(ignoreExisting);
        } finally {
          // A full disk fails every attempt, and each would leave a file.
          await rm(temporary, { force: true });
        }
        if (at.newest < Infinity)
          for (const older of (await listed(folder)).slice(0, -at.newest)) await unlink(join(folder, older));
        const directory = await open(folder, 'r');
        await directory.sync().finally(() => directory.close());
        const added = basename(target);
        know(folder, await changeOf(folder), before === undefined || added > before ? added : before);
      }),
  };

  /** Returns the name of the newest checkpoint. It lists the folder only when another process has changed it. */
  async function lastIn(folder: string): Promise<string | undefined> {
    const changed = await changeOf(folder);
    const found = known.get(folder);
    if (found !== undefined && found.changed === changed) return found.last;
    return know(folder, changed, (await listed(folder)).at(-1));
  }

  function know(folder: string, changed: bigint, last: string | undefined): string | undefined {
    known.set(folder, { changed, last });
    return last;
  }
}

/** Returns the time of a folder's last change in nanoseconds; 0 where it does not exist. */
async function changeOf(folder: string): Promise<bigint> {
  const found = await stat(folder, { bigint: true }).catch(ifMissing(null));
  return found?.mtimeNs ?? 0n;
}

/** Checks at the start that checkpoints can be written. @throws FolderProblem */
export async function checkCheckpointFolder({ path, name }: FolderPath): Promise<void> {
  await attemptAt(name)(async () => {
    await mkdir(path, { recursive: true });
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  });
}

/** An origin contains slashes, so its digest names the folder. */
function folderOf(path: string, origin: string): string {
  return join(path, createHash('sha256').update(origin).digest('hex').slice(0, 32));
}

/** Returns the names of the checkpoints in a folder, that of the smallest size first. */
async function listed(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(ifMissing([]));
  return names.filter((name) => filePattern.test(name)).sort();
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

function attemptAt(name: string): <T>(work: () => Promise<T>) => Promise<T> {
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof FolderProblem) throw error;
      throw new FolderProblem(`${name} cannot be used: ${codeOf(error)}; check the path and its rights`);
    }
  };
}
