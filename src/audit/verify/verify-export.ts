import { Malformed, messageOf, verifierBounds, shown, Unusable } from './basics.js';
import { type VerifierKey, readCheckpoint, readKeys, signersOf, witnessesOf } from './checkpoint.js';
import { edgeRoot, pathOf, widthOf } from './hash-tree.js';
import {
  edgeNames,
  partialTilesOf,
  type KeptCheckpoint,
  loadFile,
  noBytes,
  reportPlace,
  type VerifierRun,
  type VerifierPlace,
} from './run.js';
import type { VerifierSource } from './sources.js';
import { addLeaves, verifyTile } from './tiles.js';

/** Keys are texts with one vkey a line. `kept`: older checkpoints, each with its export if the auditor has it. */
export interface VerifierOptions {
  readonly keys: string;
  readonly kept?: readonly { readonly checkpoint: Buffer; readonly source?: VerifierSource }[];
  readonly witnesses?: { readonly keys: string; readonly quorum?: number };
  /** The export has only some of the events, and no entries. */
  readonly part?: boolean;
  /** How many streams' revisions are compared; 1,000,000 unless it is given. */
  readonly streamsMax?: number;
}

/** The verdict. The export is verified if `problems` is 0; `places` are the first 100 of them. */
export interface VerifierVerdict {
  readonly problems: number;
  readonly places: readonly VerifierPlace[];
  readonly origin: string;
  readonly size: number;
  readonly root: string;
  readonly signers: readonly string[];
  readonly witnesses: readonly string[];
  /** The earliest and the latest `recorded_at`. */
  readonly from: string | null;
  readonly until: string | null;
  readonly streams: number;
  /** Events of streams beyond the first 1,000,000, whose revisions were not compared. */
  readonly unchecked: number;
  /** Streams whose first event here has not the revision 0. */
  readonly begunLater: number;
  /** The size of the largest kept checkpoint that is the beginning of this log. */
  readonly agreed: number | null;
  /** Files that no checkpoint covers and that were not read. */
  readonly extras: readonly string[];
}

function readKept(kept: VerifierOptions['kept'], keys: readonly VerifierKey[]): readonly KeptCheckpoint[] {
  try {
    const read = (kept ?? []).map(({ checkpoint, source }) => ({ ...readCheckpoint(checkpoint), source }));
    for (const checkpoint of read) signersOf(checkpoint, keys);
    return read.sort((a, b) => a.size - b.size);
  } catch (error) {
    throw new Unusable(`the kept checkpoint cannot be used: ${messageOf(error)}`);
  }
}

/** Runs a step whose failure is a place of the export, not a mistake of the caller. */
function attempt<T>(run: VerifierRun, otherwise: T, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    reportPlace(run, { path: 'checkpoint', what: error.message });
    return otherwise;
  }
}

async function verifyTree(run: VerifierRun): Promise<void> {
  let last = noBytes;
  for (let n = 0; n * 256 < run.size; n += 1) {
    const verified = await verifyTile(run, n);
    if (verified === null) {
      reportPlace(run, {
        path: 'checkpoint',
        what: 'the export ends before its size',
        first: n * 256,
        last: run.size - 1,
      });
      return;
    }
    await addLeaves(run, n, verified);
    last = verified.leaves.length < 256 ? verified.hashes : noBytes;
  }
  const edge = run.size % 256 === 0 ? await partialTilesOf(run) : null;
  if (edge !== null && !edgeRoot([noBytes, ...edge]).equals(run.root)) {
    reportPlace(run, {
      path: 'checkpoint',
      what: `the partial tiles contradict its root: ${edgeNames(run)}`,
    });
  }
  // The comparisons above find the place. This one alone proves the events, with any tiles.
  if (run.problems === 0 && !edgeRoot([last, ...run.built]).equals(run.root))
    reportPlace(run, { path: 'checkpoint', what: 'its root is not that of the events' });
}

/** Whether a tree of this size has a file of this path. */
function isOfTree(size: number, path: string): boolean {
  const [, kind = '', level = '0', number = ''] =
    /^(tile\/(?:(\d{1,2})|entries)|events)\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/\d+)?$/.exec(path) ?? [];
  const n = Number(number.replace(/\D/g, ''));
  const width = widthOf(size, Number(level), n);
  return (
    path === 'checkpoint' ||
    path === 'log.vkey' ||
    (kind !== '' && width > 0 && path === pathOf(kind, n, width))
  );
}

async function extrasOf({ source, size }: VerifierRun): Promise<readonly string[]> {
  const extras: string[] = [];
  for await (const path of source.list?.() ?? [])
    if (extras.length < verifierBounds.places && !isOfTree(size, path)) extras.push(path);
  return extras;
}

/**
 * Verifies an export of the audit log: docs/audit.md#what-the-verifier-does. Its memory does not grow with the log, but
 * for one entry for each stream, 1,000,000 at verifierBounds. It throws where no verdict is possible: keys, kept checkpoints or a
 * source that cannot be used.
 */
export async function verifyExport(
  source: VerifierSource,
  options: VerifierOptions,
): Promise<VerifierVerdict> {
  const keys = readKeys(options.keys, 1);
  const witnessKeys = options.witnesses === undefined ? [] : readKeys(options.witnesses.keys, 4);
  const run = emptyRun(source, options, readKept(options.kept, keys));
  const bytes = await loadFile(run, { path: 'checkpoint' }, { most: verifierBounds.note, optional: false });
  const checkpoint = bytes && attempt(run, null, () => readCheckpoint(bytes));
  let signers: readonly VerifierKey[] = [];
  if (checkpoint !== null) {
    run.size = checkpoint.size;
    run.root = checkpoint.root;
    signers = attempt(run, [], () => signersOf(checkpoint, keys));
    await verifyTree(run);
    checkKept(run, checkpoint.origin);
  }
  const witnesses = checkpoint === null ? [] : witnessesOf(checkpoint, witnessKeys);
  const quorum = options.witnesses?.quorum ?? witnessKeys.length;
  if (witnesses.length < quorum) {
    reportPlace(run, {
      path: 'checkpoint',
      what: `${witnesses.length} known witnesses cosigned it, fewer than ${quorum}`,
    });
  }
  const { problems, places, size, from, until, unchecked, begunLater, agreed } = run;
  return {
    ...{ problems, places, size, from, until, unchecked, begunLater, agreed, witnesses },
    origin: checkpoint?.origin ?? '',
    root: run.root.toString('base64'),
    signers: signers.map(({ name, id }) => `${name}+${id}`),
    streams: run.streams.size,
    extras: await extrasOf(run),
  };
}

function emptyRun(
  source: VerifierSource,
  { part = false, streamsMax = verifierBounds.streams }: VerifierOptions,
  kept: readonly KeptCheckpoint[],
): VerifierRun {
  // Each log begins with the empty one.
  const agreed = kept[0]?.size === 0 ? 0 : null;
  return {
    ...{ source, part, kept, streamsMax, agreed, size: 0, root: noBytes, places: [], problems: 0 },
    ...{ full: [], edge: [], built: [], streams: new Map(), unchecked: 0, unnamed: 0, begunLater: 0 },
    ...{ from: null, until: null },
  };
}

/** Reports kept checkpoints that the tree could not contradict: of another log, or of more events. */
function checkKept(run: VerifierRun, origin: string): void {
  for (const kept of run.kept) {
    if (kept.origin !== origin)
      reportPlace(run, {
        path: 'checkpoint',
        what: `the kept checkpoint is of another log, ${shown(kept.origin)}`,
      });
    if (kept.size <= run.size) continue;
    const what = `events are cut off: the kept checkpoint has ${kept.size}`;
    reportPlace(run, { path: 'checkpoint', what, first: run.size, last: kept.size - 1 });
    if (kept.difference)
      reportPlace(run, { path: 'checkpoint', what: 'the kept export has another event', ...kept.difference });
  }
}
