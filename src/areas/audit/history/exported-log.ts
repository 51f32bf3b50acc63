import { isJsonObject } from '../../../event-sourcing/ports/domain-event.js';
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { StoredEvent } from '../../../event-sourcing/ports/domain-event.js';
import { NotCanonical, entryOf } from '../tree/canonical-json.js';
import { type LogPart, ReplayProblem } from '../tree/log-until.js';
import { lineOf } from './log-resources.js';
import { type Hash, leafHash } from '../tree/merkle.js';
import { type CheckpointText, parseCheckpointText, parseNote } from '../tree/note.js';
import { makeGrowingTree, tilePath, tileWidth } from '../tree/tiles.js';
import { parseJson } from '../../../kit/parse.js';

/** An export whose hashes lead to its checkpoint. Whether the key of the log signed the checkpoint is not checked. */
interface ExportedLog extends CheckpointText {
  /**
   * Reads the events in log order, and compares each with its leaf under the checkpoint.
   * @throws ReplayProblem naming the first event that differs
   */
  readonly parts: () => AsyncGenerator<LogPart>;
}

const hashBytes = 32;
const noteBytesMax = 64 * 1024;
/** Lines of a file. An event has at most 256 KiB, which escapes of JSON may lengthen. */
const linesBytesMax = 256 * 1024 * 1024;

/** The text of a line is compared as a whole, so the values need no schema. */
const lineSchema = z.strictObject({
  index: z.int().nonnegative(),
  id: z.string(),
  stream: z.string(),
  revision: z.int().nonnegative(),
  type: z.string(),
  recorded_at: z.iso.datetime({ precision: 3 }),
  data: z.custom<StoredEvent['data']>(isJsonObject),
  metadata: z.custom<StoredEvent['metadata']>(isJsonObject),
});

/**
 * Opens the export in a folder: reads its checkpoint, and compares the root over its lowest tiles with it. Memory does
 * not grow with the log.
 * @throws ReplayProblem when the folder holds no whole export
 */
export async function openExportedLog(folder: string): Promise<ExportedLog> {
  const checkpoint = await readCheckpoint(folder);
  const { size, root } = checkpoint;
  const tree = makeGrowingTree({ size: 0, edge: [] });
  for (let tile = 0; tile * tileWidth < size; tile += 1) {
    for (const hash of await hashesOf(tile)) tree.add(hash);
  }
  if (!tree.root().equals(root)) {
    throw new ReplayProblem(
      `the tiles of ${folder} are not those of its checkpoint; \`stowage audit verify\` finds the event`,
    );
  }
  return { ...checkpoint, parts };

  async function* parts(): AsyncGenerator<LogPart> {
    for (let tile = 0; tile * tileWidth < size; tile += 1) {
      const first = tile * tileWidth;
      const [hashes, lines] = [await hashesOf(tile), await linesOf(tile)];
      const events = lines.map((line, offset) => eventOf(line, first + offset, hashes[offset]));
      yield { events, share: Math.min(size, first + tileWidth) / size };
    }
  }

  async function hashesOf(tile: number): Promise<readonly Hash[]> {
    const width = widthOf(tile);
    const path = tilePath({ kind: 'tile', level: 0, index: tile, width });
    const bytes = await read(folder, path, tileWidth * hashBytes);
    if (bytes.length !== width * hashBytes) throw new ReplayProblem(`${path} has not ${width} hashes`);
    return Array.from({ length: width }, (_, offset) =>
      bytes.subarray(offset * hashBytes, (offset + 1) * hashBytes),
    );
  }

  async function linesOf(tile: number): Promise<readonly string[]> {
    const width = widthOf(tile);
    const path = tilePath({ kind: 'events', level: 0, index: tile, width });
    const lines = (await read(folder, path, linesBytesMax)).toString('utf8').split('\n');
    if (lines.length !== width + 1 || lines.at(-1) !== '')
      throw new ReplayProblem(`${path} has not ${width} whole lines`);
    return lines.slice(0, width);
  }

  function widthOf(tile: number): number {
    return Math.min(tileWidth, size - tile * tileWidth);
  }
}

async function readCheckpoint(folder: string): Promise<CheckpointText> {
  const note = parseNote((await read(folder, 'checkpoint', noteBytesMax)).toString('utf8'));
  const checkpoint = note === null ? null : parseCheckpointText(note.text);
  if (checkpoint === null) throw new ReplayProblem(`${join(folder, 'checkpoint')} is no checkpoint of a log`);
  return checkpoint;
}

function eventOf(line: string, index: number, hash: Hash | undefined): StoredEvent {
  const event = parseLine(line, index);
  if (event !== null && hash !== undefined && isLeaf(event, hash) && lineOf(index, event) === `${line}\n`)
    return event;
  throw new ReplayProblem(
    `the event at index ${index} of the export is not the one that the checkpoint covers; use another copy of the export`,
  );
}

function parseLine(line: string, index: number): StoredEvent | null {
  const parsed = lineSchema.safeParse(parseJson(line));
  if (!parsed.success || parsed.data.index !== index) return null;
  const { id, stream, revision, type, recorded_at: recordedAt, data, metadata } = parsed.data;
  return {
    ...{ id, stream, type, data, metadata },
    ...{ revision: BigInt(revision), recordedAt: new Date(recordedAt) },
  };
}

function isLeaf(event: StoredEvent, hash: Hash): boolean {
  try {
    return leafHash(entryOf(event)).equals(hash);
  } catch (error) {
    if (error instanceof NotCanonical) return false;
    throw error;
  }
}

async function read(folder: string, path: string, bytesMax: number): Promise<Buffer> {
  const file = join(folder, path);
  try {
    const info = await lstat(file);
    if (!info.isFile() || info.size > bytesMax)
      throw new ReplayProblem(`${file} is no file of an export: it is too large, or no plain file`);
    return await readFile(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : null;
    if (code === null) throw error;
    throw new ReplayProblem(`${file} cannot be read (${code}); name the folder of a whole export`, {
      cause: error,
    });
  }
}
