import { isCount, verifierBounds, sha256, Unusable } from './basics.js';
import { type EventLine, readEntries, readLines } from './event-lines.js';
import { edgeRoot, hashAt, pathOf, treeRoot, widthOf } from './hash-tree.js';
import { judgeOf, loadFile, noBytes, reportPlace, type VerifierRun, type VerifierPlace } from './run.js';

/** An event as its line and its entry show it. */
interface Leaf {
  readonly line: EventLine | undefined;
  readonly lineHash: Buffer | undefined;
  readonly entry: Buffer | undefined;
  readonly entryHash: Buffer | undefined;
}

/** The files of 256 events, or of the last ones, with places to report them. */
interface Parts {
  readonly width: number;
  readonly places: Readonly<Record<'events' | 'tile' | 'entries', Located>>;
  readonly events: Buffer | null;
  readonly stored: Buffer | null;
  readonly bundle: Buffer | null;
  readonly leaves: readonly Leaf[];
  /** What is wrong with a line, by its number from 0. */
  readonly bad: Map<number, string>;
  /** Bytes after the last entry. */
  readonly rest: number;
}

type Located = Omit<VerifierPlace, 'what'> & { readonly first: number; readonly last: number };
type Name = Required<Pick<VerifierPlace, 'stream' | 'revision'>>;

/** What follows from a tile: its leaf hashes, joined, and its leaves. */
export interface VerifiedTile {
  readonly hashes: Buffer;
  readonly leaves: readonly Leaf[];
}

/** Verifies 256 events, or the last ones. Returns null where the export has nothing of them. */
export async function verifyTile(run: VerifierRun, n: number): Promise<VerifiedTile | null> {
  const parts = await readParts(run, n);
  const { leaves, stored, events, bundle } = parts;
  if (events === null && stored === null && bundle === null) return null;
  const ofLines = joined(leaves.map(({ lineHash }) => lineHash));
  const proven = await provenOf(run, n, parts, ofLines);
  const expected = proven ?? stored ?? ofLines ?? Buffer.alloc(parts.width * 32);
  leaves.forEach((_, i) => {
    checkLeaf(run, parts, i, hashAt(expected, i));
  });
  // The lines that are too many have no leaf.
  for (const [number, what] of parts.bad) {
    const near = parts.places.events.first + Math.min(number, parts.width - 1);
    reportPlace(run, {
      ...parts.places.events,
      first: near,
      last: near,
      what: `line ${number + 1}: ${what}`,
    });
  }
  if (bundle !== null) checkEntries(run, parts, expected);
  return { hashes: proven ?? ofLines ?? expected, leaves };
}

async function readParts(run: VerifierRun, n: number): Promise<Parts> {
  const [base, width] = [n * 256, widthOf(run.size, 0, n)];
  const at = (kind: string): Located => ({
    path: pathOf(kind, n, width),
    first: base,
    last: base + width - 1,
  });
  const places = { events: at('events'), tile: at('tile/0'), entries: at('tile/entries') };
  const [events, stored, bundle] = await Promise.all([
    loadFile(run, places.events, { most: 256 * verifierBounds.line, optional: run.part }),
    loadFile(run, places.tile, { exactly: width * 32 }),
    loadFile(run, places.entries, { most: verifierBounds.entries, optional: run.part }),
  ]);
  const { lines, bad } = readLines(events ?? noBytes, base, width);
  const { entries, rest } = readEntries(bundle ?? noBytes, width);
  const leaves = lines.map((line, i) => leafOf(line, entries[i]));
  return { width, places, events, stored, bundle, leaves, bad, rest };
}

function leafOf(line: EventLine | undefined, entry: Buffer | undefined): Leaf {
  const lineHash = line && sha256(line.leaf);
  const isSame =
    line !== undefined && entry !== undefined && line.leaf.compare(entry, 0, entry.length, 1) === 0;
  const entryHash = isSame ? lineHash : entry && sha256(Buffer.concat([Buffer.alloc(1), entry]));
  return { line, lineHash, entry, entryHash };
}

function joined(hashes: readonly (Buffer | undefined)[]): Buffer | null {
  return hashes.every((found) => found !== undefined) ? Buffer.concat(hashes) : null;
}

/** Finds the leaf hashes that the rest of the tree proves: those of the tile, of the lines or of the entries. */
async function provenOf(
  run: VerifierRun,
  n: number,
  parts: Parts,
  ofLines: Buffer | null,
): Promise<Buffer | null> {
  const { path, proves } = await judgeOf(run, n);
  if (proves === null) return null;
  const { stored, leaves, places } = parts;
  if (stored !== null && proves(stored)) return stored;
  const others = [ofLines, joined(leaves.map(({ entryHash }) => entryHash))];
  const proven = others.find((hashes) => hashes !== null && proves(hashes)) ?? null;
  if (proven === null)
    reportPlace(run, { ...(stored ? places.tile : places.events), what: `it contradicts ${path}` });
  else if (stored !== null)
    reportPlace(run, { ...places.tile, what: `it is not the tile that ${path} proves` });
  return proven;
}

/** Reports an event that is missing or differs, or whose stream has a gap before it. */
function checkLeaf(run: VerifierRun, parts: Parts, i: number, expected: Buffer): void {
  const leaf = parts.leaves[i];
  if (leaf === undefined) return;
  const index = parts.places.events.first + i;
  const name = nameOf(leaf, expected);
  const place = {
    ...parts.places.events,
    first: index,
    last: index,
    ...(name ?? (leaf.line && lineName(leaf.line))),
  };
  const what = leaf.line === undefined ? missing(run, parts, i) : differing(leaf, expected);
  if (what !== null) reportPlace(run, { ...place, what });
  if (leaf.line !== undefined) noteTime(run, leaf.line.time);
  if (run.part && leaf.line === undefined) return;
  if (name === null) run.unnamed += 1;
  else checkRevision(run, name, place);
}

/** Says why an event has no line, or null where the export need not have it or its file is reported. */
function missing(run: VerifierRun, { bad, events }: Parts, i: number): string | null {
  const what = bad.get(i);
  bad.delete(i);
  return what ?? (run.part || events === null ? null : 'its line is missing');
}

function differing({ lineHash }: Leaf, expected: Buffer): string | null {
  return lineHash?.equals(expected) ? null : 'it has another hash than the log has for it';
}

function noteTime(run: VerifierRun, time: string): void {
  if (run.from === null || time < run.from) run.from = time;
  if (run.until === null || time > run.until) run.until = time;
}

function checkRevision(run: VerifierRun, { stream, revision }: Name, place: Located): void {
  // A name may have thousands of characters, and the table a million names.
  const key = stream.length <= 64 ? stream : sha256(stream).toString('base64').padStart(65, '#');
  const next = run.streams.get(key);
  if (next === undefined && run.streams.size >= run.streamsMax) {
    run.unchecked += 1;
    return;
  }
  run.streams.set(key, revision + 1);
  if (next === undefined && revision > 0) run.begunLater += 1;
  if (next === undefined || next === revision) return;
  // Each event that is reported without a name may be one that is missing here.
  const isExplained = revision > next && revision - next <= run.unnamed;
  if (isExplained) run.unnamed -= revision - next;
  else reportPlace(run, { ...place, what: `its stream goes on with revision ${next}` });
}

function checkEntries(run: VerifierRun, { leaves, places, rest, width }: Parts, expected: Buffer): void {
  const wrong = leaves.findIndex(({ entryHash }, i) => !entryHash?.equals(hashAt(expected, i)));
  if (wrong === -1 && rest === 0) return;
  const index = places.entries.first + (wrong === -1 ? width - 1 : wrong);
  const what = wrong === -1 ? 'it goes on after its last entry' : 'its entry is not that of the log';
  reportPlace(run, { ...places.entries, first: index, last: index, what });
}

const lineName = ({ stream, revision }: EventLine): Name => ({ stream, revision });

/** Names a leaf by its line or else by its entry, of which one must have the hash. */
function nameOf({ line, lineHash, entry, entryHash }: Leaf, expected: Buffer): Name | null {
  if (line !== undefined && lineHash?.equals(expected)) return lineName(line);
  if (entry === undefined || !entryHash?.equals(expected)) return null;
  try {
    const { stream, revision } = JSON.parse(entry.toString()) as Record<string, unknown>;
    return typeof stream === 'string' && isCount(revision) ? { stream, revision } : null;
  } catch {
    // The hash is right, so the log itself has an entry of another format. Its line reports that.
    return null;
  }
}

/** Compares the leaves of a tile with what the auditor kept, and adds them to the tree. */
export async function addLeaves(run: VerifierRun, n: number, tile: VerifiedTile): Promise<void> {
  for (const kept of run.kept) {
    if (kept.size > n * 256) await compareKept(run, kept, n, tile);
  }
  if (tile.leaves.length < 256) return;
  let node = treeRoot(tile.hashes);
  for (let level = 0; node.length > 0; level += 1) {
    const hashes = Buffer.concat([run.built[level] ?? noBytes, node]);
    run.built[level] = hashes.length < 8192 ? hashes : noBytes;
    node = hashes.length < 8192 ? noBytes : treeRoot(hashes);
  }
}

async function compareKept(
  run: VerifierRun,
  kept: VerifierRun['kept'][number],
  n: number,
  tile: VerifiedTile,
): Promise<void> {
  const base = n * 256;
  kept.difference ??= await differenceOf(kept, n, tile);
  if (kept.size > base + tile.leaves.length) return;
  const root = edgeRoot([tile.hashes.subarray(0, (kept.size - base) * 32), ...run.built]);
  if (root.equals(kept.root)) {
    run.agreed = kept.size;
    return;
  }
  const what = `the kept checkpoint of ${kept.size} events contradicts it`;
  reportPlace(run, {
    path: 'checkpoint',
    what,
    ...(kept.difference ?? { first: run.agreed ?? 0, last: kept.size - 1 }),
  });
}

/** Finds the first leaf of a tile that the kept export has with another hash. */
async function differenceOf(
  { source, size }: VerifierRun['kept'][number],
  n: number,
  { hashes, leaves }: VerifiedTile,
): Promise<Partial<VerifierPlace> | null> {
  if (source === undefined) return null;
  const old = await source.read(pathOf('tile/0', n, widthOf(size, 0, n)), 8192);
  if (old === null) throw new Unusable(`the kept export has no tile of event ${n * 256}`);
  const i = leaves.findIndex((_, at) => at * 32 < old.length && !hashAt(old, at).equals(hashAt(hashes, at)));
  const leaf = leaves[i];
  return leaf === undefined
    ? null
    : { first: n * 256 + i, last: n * 256 + i, ...nameOf(leaf, hashAt(hashes, i)) };
}
