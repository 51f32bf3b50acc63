import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openReader } from '../../../src/stores/embedded/files/database.js';

const files = ['events', 'state', 'read-models'] as const;
type FileName = (typeof files)[number];

/** What a file's write-ahead log received. `events` and `state` sync each of their commits. */
export interface Written {
  readonly commits: number;
  readonly pages: number;
}

/**
 * Counts the commits and the pages that the files of a data directory receive while work runs, without the slowness of strace.
 * Work may write at most 4,000 pages, since a checkpoint would begin the log again.
 */
export async function countCommits(
  directory: string,
  work: () => Promise<unknown>,
): Promise<Readonly<Record<FileName, Written>>> {
  // A log that is not copied yet is not begun again while a reader is in it.
  const readers = files.map((file) => openReader(join(directory, `${file}.db`)));
  try {
    for (const reader of readers) {
      reader.execute('BEGIN');
      reader.query('SELECT count(*) FROM sqlite_schema').get();
    }
    const before = await framesOf(directory);
    await work();
    const after = await framesOf(directory);
    const written = files.map((file, index): [FileName, Written] => {
      const [from, to] = [before[index], after[index]];
      if (from === undefined || to === undefined) throw new Error(`${file}.db has no log`);
      const isSame = from.salt === to.salt;
      const since = (kind: keyof Written): number => to[kind] - (isSame ? from[kind] : 0);
      return [file, { commits: since('commits'), pages: since('pages') }];
    });
    return Object.fromEntries(written) as Record<FileName, Written>;
  } finally {
    for (const reader of readers) reader.close();
  }
}

function framesOf(directory: string): Promise<readonly (Written & { readonly salt: string })[]> {
  return Promise.all(files.map(async (file) => parse(await readFile(join(directory, `${file}.db-wal`)))));
}

/** Reads a log by SQLite's "WAL-mode File Format": frames with other salts are of an earlier log. */
function parse(log: Buffer): Written & { readonly salt: string } {
  const salt = log.toString('hex', 16, 24);
  const frameBytes = 24 + (log.length >= 32 ? log.readUInt32BE(8) : 0);
  let [pages, commits] = [0, 0];
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    if (log.toString('hex', at + 8, at + 16) !== salt) break;
    pages += 1;
    // The last frame of a transaction holds the size of the database.
    if (log.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return { commits, pages, salt };
}
