import type { ShortLog } from '../../../event-sourcing/feeding/read-log.js';
import { LogEndsEarly } from '../history/log-resources.js';
import type { Hash } from '../tree/merkle.js';
import { tileWidth } from '../tree/tiles.js';
import type { TreeReader } from '../tree/tree-reader.js';
import { originOf, type SignedRecord } from './audit-records.js';
import { type CheckpointFolder, FolderProblem } from './checkpoint-folder.js';
import { sentenceOfDamage, type Pages } from './pages.js';
import type { StoredLog } from './sequencer.js';

/** A size and a root that were signed, and where that is kept. */
type Claim = { readonly source: string; readonly size: number; readonly root: Hash };

/**
 * Compares the log with the last signed checkpoint of its origin: in the record, in each folder, and in the events of the
 * last pages. It returns null while the log may be short for a moment, or lacks a restart.
 * @throws StoreUnavailable
 */
export function makeCompareWithSigned(deps: {
  readonly tree: Pick<TreeReader, 'rootAt'>;
  readonly pages: Pick<Pages, 'check'>;
  readonly folders: readonly CheckpointFolder[];
  readonly shortLog: ShortLog;
}) {
  const { tree, pages, folders, shortLog } = deps;
  /** The events of the last pages were right once. After that they are the sweep's. */
  let arePagesRight = false;
  return async (log: StoredLog, signed: SignedRecord | null) => {
    const origin = originOf(log);
    // This process has not read the restart yet.
    if (signed?.former_origins.includes(origin) === true) return null;
    const { claims, checked } = await readClaims(origin, signed);
    for (const claim of claims) {
      const problem = await compareClaim(claim, log);
      if (problem !== null) checked.set(claim.source, problem);
    }
    const ends = await checkEnds([log.size, ...claims.map(({ size }) => Math.min(size, log.size))]);
    checked.set('page', ends.problem);
    arePagesRight = ends.problem === null;
    const isShort = ends.isShort || claims.some(({ size }) => size > log.size);
    if (!isShort) shortLog.whole();
    else if (!shortLog.isLasting()) return null;
    return checked;
  };

  async function readClaims(origin: string, signed: SignedRecord | null) {
    const checked = new Map<string, string | null>([['record', null]]);
    const claims: Claim[] = [];
    if (signed?.origin === origin && signed.size > 0)
      claims.push({ source: 'record', size: signed.size, root: Buffer.from(signed.root, 'base64') });
    for (const folder of folders) {
      const { checkpoint, problem } = await readFolder(folder, origin);
      checked.set(folder.source, problem);
      if (checkpoint !== null) claims.push({ source: folder.source, ...checkpoint });
    }
    return { claims, checked };
  }

  async function compareClaim({ size, root }: Claim, log: StoredLog): Promise<string | null> {
    if (size > log.size)
      return `the log has ${log.size} events, but a checkpoint of ${size} events was signed`;
    try {
      const isEqual = (await tree.rootAt(size)).equals(root);
      return isEqual ? null : `the first ${size} events are other ones than those that were signed`;
    } catch (error) {
      return sentenceOfDamage(error);
    }
  }

  /** Checks the pages that end the trees of these sizes: the tiles may be right where the events are not. */
  async function checkEnds(sizes: readonly number[]) {
    const indexes = new Set(sizes.map((size) => Math.floor((size - 1) / tileWidth)));
    for (const index of arePagesRight ? [] : indexes) {
      const width = Math.min(tileWidth, Math.max(...sizes) - index * tileWidth);
      try {
        const { problem } = index < 0 ? { problem: null } : await pages.check(index, width);
        if (problem !== null) return { problem, isShort: false };
      } catch (error) {
        if (!(error instanceof LogEndsEarly)) throw error;
        return { problem: error.message, isShort: true };
      }
    }
    return { problem: null, isShort: false };
  }
}

async function readFolder(folder: CheckpointFolder, origin: string) {
  try {
    return { checkpoint: await folder.newest(origin), problem: null };
  } catch (error) {
    if (!(error instanceof FolderProblem)) throw error;
    return { checkpoint: null, problem: error.message };
  }
}
