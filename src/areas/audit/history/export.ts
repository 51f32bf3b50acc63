import { ifMissing } from '../../../kit/errors.js';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseCheckpointText, parseNote, parseVkey } from '../tree/note.js';
import { type TilePath, tilePath, tileWidth } from '../tree/tiles.js';

/** A signed checkpoint to export. */
interface ExportedCheckpoint {
  readonly note: string;
  readonly origin: string;
  readonly size: number;
  readonly vkeys: readonly string[];
}

/** The service, as an export asks it. */
export interface ExportSource {
  checkpoint(): Promise<ExportedCheckpoint>;
  /** Returns a file of the layout of `/audit/log`, within the size of the checkpoint. */
  file(path: string, size: number): Promise<Buffer>;
}

/** The folder holds something else, or the export of another origin. The message says what to do. */
export class ExportProblem extends Error {
  override readonly name = 'ExportProblem';
}

const keyFile = 'log.vkey';

/**
 * Writes the files of a checkpoint into a folder: the layout of C2SP tlog-tiles, and lines of events. Full files that
 * exist stay, so an interrupted export goes on, and a later export adds what is new. The checkpoint is written last.
 * @returns the size of the exported log @throws ExportProblem
 */
export async function exportLog(
  folder: string,
  source: ExportSource,
  onShare: (share: number) => void,
): Promise<ExportedCheckpoint> {
  const checkpoint = await source.checkpoint();
  await assertOwn(folder, checkpoint);
  const files = filesOf(checkpoint.size);
  // A source without its tiles refuses before the folder is made.
  if (files[0] !== undefined) await source.file(files[0], checkpoint.size);
  await mkdir(folder, { recursive: true });
  await writeWhole(join(folder, keyFile), Buffer.from(checkpoint.vkeys.map((line) => `${line}\n`).join('')));
  for (const [offset, path] of files.entries()) {
    await writeMissing(folder, path, () => source.file(path, checkpoint.size));
    onShare(offset / files.length);
  }
  await writeWhole(join(folder, 'checkpoint'), Buffer.from(checkpoint.note));
  await removePartials(folder, files);
  return checkpoint;
}

/** Returns the paths of all files of a log: lines, entries and hashes of each tile, then the tiles above. */
function filesOf(size: number): readonly string[] {
  const files: string[] = [];
  for (let level = 0, nodes = size; nodes > 0; level += 1, nodes = Math.floor(nodes / tileWidth)) {
    for (let index = 0; index * tileWidth < nodes; index += 1) {
      const width = Math.min(tileWidth, nodes - index * tileWidth);
      const kinds: readonly TilePath['kind'][] = level === 0 ? ['events', 'entries', 'tile'] : ['tile'];
      files.push(...kinds.map((kind) => tilePath({ kind, level, index, width })));
    }
  }
  return files;
}

async function assertOwn(folder: string, { origin }: ExportedCheckpoint): Promise<void> {
  const names = await readdir(folder).catch(ifMissing([]));
  if (names.length === 0) return;
  const held = await readFile(join(folder, 'checkpoint'), 'utf8').catch(() => null);
  const note = held === null ? null : parseNote(held);
  const exported = note === null ? null : parseCheckpointText(note.text)?.origin;
  const keys = await readFile(join(folder, keyFile), 'utf8').catch(() => '');
  const begun = parseVkey(keys.split('\n')[0] ?? '')?.name;
  const found = exported ?? begun;
  if (found === undefined)
    throw new ExportProblem(`${folder} is not empty and holds no export; name an empty folder`);
  if (found !== origin) {
    throw new ExportProblem(
      `${folder} holds an export of ${found}, and this log is ${origin}; name another folder`,
    );
  }
}

async function writeMissing(folder: string, path: string, read: () => Promise<Buffer>): Promise<void> {
  const target = join(folder, path);
  const exists = await access(target, constants.F_OK).then(
    () => true,
    () => false,
  );
  if (!exists) await writeWhole(target, await read());
}

/** Writes a file whole or not at all. */
async function writeWhole(target: string, bytes: Buffer): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const temporary = join(dirname(target), `.${randomUUID()}`);
  const file = await open(temporary, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, target);
}

/** Partial files of former sizes are prefixes of the present ones. */
async function removePartials(folder: string, files: readonly string[]): Promise<void> {
  const kept = new Set(files);
  for (const name of await readdir(folder, { recursive: true })) {
    if (/\.p\/\d+$/.test(name) && !kept.has(name)) await rm(join(folder, name));
    if (/(^|\/)\.[0-9a-f-]{36}$/.test(name)) await rm(join(folder, name));
  }
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.p')) continue;
    if ((await readdir(join(folder, name))).length === 0) await rm(join(folder, name), { recursive: true });
  }
}
