import { Malformed, verifierBounds } from './basics.js';
import type { SignedCheckpoint } from './checkpoint.js';
import { edgeRoot, hashAt, pathOf, treeRoot, widthOf } from './hash-tree.js';
import type { VerifierSource } from './sources.js';

/** What is wrong, and where: the file, and if one is known the events from `first` to `last`, or one event. */
export interface VerifierPlace {
  readonly path: string;
  readonly what: string;
  readonly first?: number;
  readonly last?: number;
  readonly stream?: string;
  readonly revision?: number;
}

interface Tile {
  readonly n: number;
  readonly path: string;
  readonly hashes: Buffer | null;
}

export interface KeptCheckpoint extends SignedCheckpoint {
  readonly source?: VerifierSource | undefined;
  /** The first leaf that differs, as far as the leaves were compared. */
  difference?: Partial<VerifierPlace> | null;
}

/** What a verification has found so far. Its memory depends on the bounds of `verifierBounds`, not on the size of the log. */
export interface VerifierRun {
  readonly source: VerifierSource;
  readonly part: boolean;
  size: number;
  root: Buffer;
  readonly places: VerifierPlace[];
  problems: number;
  /** By level, from level 1: the last full tile that was read, and the partial tile of the right edge. */
  readonly full: Tile[];
  readonly edge: Tile[];
  /** By level, from level 1: the hashes that follow from the leaves so far and fill no tile. */
  readonly built: Buffer[];
  readonly kept: readonly KeptCheckpoint[];
  agreed: number | null;
  /** The next revision of each stream. */
  readonly streams: Map<string, number>;
  readonly streamsMax: number;
  unchecked: number;
  /** Reported events whose stream is not known. */
  unnamed: number;
  begunLater: number;
  from: string | null;
  until: string | null;
}

export const noBytes: Buffer = Buffer.alloc(0);

export function reportPlace(run: VerifierRun, place: VerifierPlace): void {
  run.problems += 1;
  if (run.places.length < verifierBounds.places) run.places.push(place);
}

/** How long a file may be in bytes, and whether the export may lack it. */
type Expected = { readonly exactly: number } | { readonly most: number; readonly optional: boolean };

/** Reads a file of the export. Reports its absence or another length, and then returns null. */
export async function loadFile(
  run: VerifierRun,
  place: Omit<VerifierPlace, 'what'>,
  expected: Expected,
): Promise<Buffer | null> {
  let what = 'it is missing';
  try {
    const bytes = await run.source.read(place.path, 'most' in expected ? expected.most : expected.exactly);
    if (bytes === null && 'most' in expected && expected.optional) return null;
    if (bytes !== null && ('most' in expected || bytes.length === expected.exactly)) return bytes;
    if (bytes !== null) what = `it has ${bytes.length} bytes, too few`;
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    what = error.message;
  }
  reportPlace(run, { ...place, what });
  return null;
}

/** Reads a tile of level 1 or higher, and compares a full one with the level above. */
async function tileAt(run: VerifierRun, level: number, n: number): Promise<Tile> {
  const width = widthOf(run.size, level, n);
  const known = (width < 256 ? run.edge : run.full)[level];
  if (known?.n === n) return known;
  const path = pathOf(`tile/${level}`, n, width);
  const span = 256 ** (level + 1);
  const place = { path, first: n * span, last: Math.min((n + 1) * span, run.size) - 1 };
  const tile = { n, path, hashes: await loadFile(run, place, { exactly: width * 32 }) };
  (width < 256 ? run.edge : run.full)[level] = tile;
  if (width < 256 || tile.hashes === null) return tile;
  const above = await tileAt(run, level + 1, Math.floor(n / 256));
  const proves = above.hashes === null || treeRoot(tile.hashes).equals(hashAt(above.hashes, n % 256));
  if (!proves) reportPlace(run, { ...place, what: `its root is not the hash that ${above.path} has for it` });
  return tile;
}

/** How the rest of the tree judges the hashes of a tile of level 0; `proves` is null where the rest is not there. */
export async function judgeOf(
  run: VerifierRun,
  n: number,
): Promise<{ readonly path: string; readonly proves: ((hashes: Buffer) => boolean) | null }> {
  if (widthOf(run.size, 0, n) === 256) {
    const { path, hashes } = await tileAt(run, 1, Math.floor(n / 256));
    return { path, proves: hashes && ((own) => treeRoot(own).equals(hashAt(hashes, n % 256))) };
  }
  const edge = await partialTilesOf(run);
  return { path: edgeNames(run), proves: edge && ((own) => edgeRoot([own, ...edge]).equals(run.root)) };
}

/** The checkpoint's root depends on all of these. */
export function edgeNames({ edge }: VerifierRun): string {
  const tiles = edge.flatMap(({ path }) => [path]);
  return tiles.length === 0 ? 'checkpoint' : `checkpoint with ${tiles.join(', ')}`;
}

/** The partial tiles from level 1 up, empty where a level has none; null where one is not there. */
export async function partialTilesOf(run: VerifierRun): Promise<readonly Buffer[] | null> {
  const edge: Buffer[] = [];
  for (let level = 1; 256 ** level <= run.size; level += 1) {
    const n = Math.floor(run.size / 256 ** (level + 1));
    const hashes = widthOf(run.size, level, n) === 0 ? noBytes : (await tileAt(run, level, n)).hashes;
    if (hashes === null) return null;
    edge.push(hashes);
  }
  return edge;
}
