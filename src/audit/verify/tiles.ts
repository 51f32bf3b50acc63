import { isCount, most, sha256, Unusable } from './basics.js';
import { type Line, readEntries, readLines } from './event-lines.js';
import { edgeRoot, hashAt, pathOf, treeRoot, widthOf } from './hash-tree.js';
import { judgeOf, load, none, report, type Run, type VerifierPlace } from './run.js';

interface Leaf {
  readonly line: Line | undefined;
  readonly lineHash: Buffer | undefined;
  readonly entry: Buffer | undefined;
  readonly entryHash: Buffer | undefined;
}

interface Verified {
  readonly hashes: Buffer;
  readonly leaves: readonly Leaf[];
}

const leafHashOf = (entry: Buffer): Buffer => sha256(Buffer.concat([Buffer.alloc(1), entry]));
const whole = (hashes: readonly (Buffer | undefined)[]): Buffer | null =>
  hashes.every((found) => found !== undefined) ? Buffer.concat(hashes) : null;

type Name = Required<Pick<VerifierPlace, 'stream' | 'revision'>>;

/** Names a leaf by its line or else by its entry, of which one must have the hash. */
function nameOf({ line, lineHash, entry, entryHash }: Leaf, expected: Buffer): Name | null {
  if (line !== undefined && lineHash?.equals(expected))
    return { stream: line.stream, revision: line.revision };
  if (entry === undefined || !entryHash?.equals(expected)) return null;
  try {
    const { stream, revision } = JSON.parse(entry.toString()) as Record<string, unknown>;
    return typeof stream === 'string' && isCount(revision) ? { stream, revision } : null;
  } catch {
    // The hash is right, so the log itself has an entry of another format. Its line reports that.
    return null;
  }
}

/** Verifies 256 events, or the last ones. Returns their leaf hashes, or null where the export has nothing of them. */
export async function verifyTile(run: Run, n: number): Promise<Verified | null> {
  const [base, width] = [n * 256, widthOf(run.size, 0, n)];
  const at = (kind: string) => ({ path: pathOf(kind, n, width), first: base, last: base + width - 1 });
  const [events, stored, bundle] = await Promise.all([
    load(run, at('events'), 256 * most.line),
    load(run, at('tile/0'), 8192, width * 32),
    load(run, at('tile/entries'), most.entries),
  ]);
  if (events === null && stored === null && bundle === null) return null;
  const { lines, bad } = readLines(events ?? none, base, width);
  const { entries, rest } = readEntries(bundle ?? none, width);
  const leaves = lines.map((line, i): Leaf => {
    const [lineHash, entry] = [line && sha256(line.leaf), entries[i]];
    const same =
      line !== undefined && entry !== undefined && line.leaf.compare(entry, 0, entry.length, 1) === 0;
    return { line, lineHash, entry, entryHash: same ? lineHash : entry && leafHashOf(entry) };
  });
  const [ofLines, ofEntries] = [
    whole(leaves.map(({ lineHash }) => lineHash)),
    whole(leaves.map(({ entryHash }) => entryHash)),
  ];
  const { path, proves } = await judgeOf(run, n);
  const proven = [stored, ofLines, ofEntries].find((hashes) => hashes && proves?.(hashes)) ?? null;
  if (proves && !proven) report(run, { ...at('tile/0'), what: `its root contradicts ${path}` });
  else if (proven && stored && !stored.equals(proven))
    report(run, { ...at('tile/0'), what: `it is not the tile that ${path} proves` });
  const expected = proven ?? stored ?? ofLines ?? ofEntries ?? Buffer.alloc(width * 32);
  if (events || !run.part) checkLines(run, at('events').path, { leaves, bad, expected, base });
  const wrong = leaves.findIndex(({ entryHash }, i) => !entryHash?.equals(hashAt(expected, i)));
  if (bundle && (wrong !== -1 || rest > 0)) {
    const i = wrong === -1 ? width - 1 : wrong;
    const what = wrong === -1 ? 'it goes on after its last entry' : 'its entry is not that of the tile';
    report(run, { path: at('tile/entries').path, first: base + i, last: base + i, what });
  }
  return { hashes: proven ?? ofLines ?? expected, leaves };
}

interface Compared {
  readonly leaves: readonly Leaf[];
  readonly bad: Map<number, string>;
  readonly expected: Buffer;
  readonly base: number;
}

/** Reports each event that is missing or differs, and each gap in the revisions of a stream. */
function checkLines(run: Run, path: string, { leaves, bad, expected, base }: Compared): void {
  leaves.forEach((leaf, i) => {
    const { line } = leaf;
    const name = nameOf(leaf, hashAt(expected, i));
    const place = {
      path,
      first: base + i,
      last: base + i,
      ...(name ?? (line && { stream: line.stream, revision: line.revision })),
    };
    if (line === undefined) {
      const what = bad.get(i) ?? 'it is missing';
      if (bad.delete(i) || !run.part) report(run, { ...place, what });
    } else {
      if (!leaf.lineHash?.equals(hashAt(expected, i)))
        report(run, { ...place, what: 'it is not the event that the tile has' });
      if (run.from === null || line.time < run.from) run.from = line.time;
      if (run.until === null || line.time > run.until) run.until = line.time;
    }
    if (name !== null && (line !== undefined || !run.part)) checkRevision(run, name, place);
  });
  for (const [number, what] of bad) {
    const near = base + Math.min(number, leaves.length - 1);
    report(run, { path, first: near, last: near, what: `line ${number + 1}: ${what}` });
  }
}

function checkRevision(run: Run, { stream, revision }: Name, place: Omit<VerifierPlace, 'what'>): void {
  // A name may have thousands of characters, and the table a million names.
  const key = stream.length <= 64 ? stream : sha256(stream).toString('base64').padStart(65, '#');
  const next = run.streams.get(key);
  if (next === undefined && run.streams.size >= most.streams) run.unchecked += 1;
  else run.streams.set(key, revision + 1);
  if (next !== undefined && next !== revision)
    report(run, { ...place, what: `its stream goes on with revision ${next}` });
}

/** Compares the leaves of a tile with what the auditor kept, and adds them to the tree. */
export async function addLeaves(run: Run, n: number, { hashes, leaves }: Verified): Promise<void> {
  const base = n * 256;
  for (const kept of run.kept.filter(({ size }) => size > base)) {
    if (kept.source !== undefined && kept.difference === undefined) {
      const old = await kept.source.read(pathOf('tile/0', n, widthOf(kept.size, 0, n)), 8192);
      if (old === null) throw new Unusable(`the kept export has no tile of event ${base}`);
      const i = leaves.findIndex(
        (_, at) => at * 32 < old.length && !hashAt(old, at).equals(hashAt(hashes, at)),
      );
      const [leaf, hash] = [leaves[i], hashAt(hashes, i)];
      if (leaf !== undefined) kept.difference = { first: base + i, last: base + i, ...nameOf(leaf, hash) };
    }
    if (kept.size > base + leaves.length) continue;
    const root = edgeRoot([hashes.subarray(0, (kept.size - base) * 32), ...run.built]);
    if (root.equals(kept.root)) run.agreed = kept.size;
    else {
      const place = kept.difference ?? { first: run.agreed ?? 0, last: kept.size - 1 };
      const what = `the kept checkpoint of ${kept.size} events contradicts it`;
      report(run, { path: 'checkpoint', what, ...place });
    }
  }
  if (leaves.length < 256) return;
  let node = treeRoot(hashes);
  for (let level = 0; node.length > 0; level += 1) {
    const tile = Buffer.concat([run.built[level] ?? none, node]);
    run.built[level] = tile.length < 8192 ? tile : none;
    node = tile.length < 8192 ? none : treeRoot(tile);
  }
}
