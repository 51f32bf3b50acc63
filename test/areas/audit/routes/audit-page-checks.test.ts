/* Holds the checks of the page /audit against the log: they are another implementation of the same formats. */
import { createHash } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { type LeafEvent, canonicalJson, entryOf } from '../../../../src/areas/audit/tree/canonical-json.js';
import {
  consistencyParts,
  foldNodes,
  type Hash,
  leafHash,
  rootOf,
} from '../../../../src/areas/audit/tree/merkle.js';
import { checkpointText, makeNoteSigner, noteOf } from '../../../../src/areas/audit/tree/note.js';
import { tilePath } from '../../../../src/areas/audit/tree/tiles.js';
import type { JsonValue } from '../../../../src/event-sourcing/ports/domain-event.js';
import {
  base64Of,
  type Bytes,
  bytesFromBase64,
} from '../../../../src/areas/audit/page/browser/proof/bytes.js';
import {
  canonicalTextOf,
  leafHashOf,
  NoCanonicalForm,
} from '../../../../src/areas/audit/page/browser/entry.js';
import {
  type BrowserStorage,
  KeptUnreadable,
  makeKept,
} from '../../../../src/areas/audit/page/browser/kept.js';
import { markOf } from '../../../../src/areas/audit/page/browser/views/marks.js';
import {
  checkSignature,
  parseCheckpointNote,
  parseLogKey,
} from '../../../../src/areas/audit/page/browser/proof/note.js';
import {
  ContradictingTile,
  makeProvenLeaves,
  pathOfTile,
} from '../../../../src/areas/audit/page/browser/proof/tiles.js';
import { isContinuation } from '../../../../src/areas/audit/page/browser/proof/tree.js';
import { judgeCheckpoint, parseProofLines } from '../../../../src/areas/audit/page/browser/proof/verdict.js';

const origin = 'stowage/test-log';
const signer = makeNoteSigner(origin, Buffer.alloc(32, 7));
const other = makeNoteSigner(origin, Buffer.alloc(32, 8));

const bytesOf = (data: Uint8Array): Bytes => Uint8Array.from(data);

/** Returns the hashes of a log with `fork`ed leaves from an index on. */
function leavesOf(size: number, forkAt = Infinity): readonly Hash[] {
  return Array.from({ length: size }, (_, index) =>
    leafHash(`${index >= forkAt ? 'fork' : 'leaf'} ${index}`),
  );
}

const base64At = (hashes: readonly Hash[], index: number): string =>
  (hashes[index] ?? Buffer.alloc(0)).toString('base64');

/** A log with three levels of tiles. */
const large = leavesOf(66_000);
const largeHead = headOf(large);
const largeTiles = tilesOf(large).tiles;

function noteAt(leaves: readonly Hash[], signers = [signer]): string {
  const text = checkpointText({ origin, size: leaves.length, root: rootOf(leaves) });
  return noteOf(
    text,
    signers.map((one) => one.sign(text)),
  );
}

/** The hashes of the proof between two sizes of a log. */
function proofOf(leaves: readonly Hash[], from: number, to: number): readonly Bytes[] {
  return consistencyParts(from, to).map((parts) =>
    bytesOf(
      foldNodes(
        parts.map(({ level, index }) => rootOf(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level))),
      ),
    ),
  );
}

/** Makes and serves the tiles of a log. */
function tilesOf(leaves: readonly Hash[]) {
  const tiles = new Map<string, Bytes>();
  for (let level = 0, hashes = leaves; hashes.length > 0; level += 1) {
    const above: Hash[] = [];
    for (let index = 0; index * 256 < hashes.length; index += 1) {
      const own = hashes.slice(index * 256, (index + 1) * 256);
      tiles.set(tilePath({ kind: 'tile', level, index, width: own.length }), bytesOf(Buffer.concat(own)));
      if (own.length === 256) above.push(rootOf(own));
    }
    hashes = above;
  }
  return serving(tiles);
}

/** Serves tiles, and counts the requests. */
function serving(tiles: Map<string, Bytes>) {
  const asked: string[] = [];
  const fetchTile = (path: string): Promise<Bytes> => {
    asked.push(path);
    const tile = tiles.get(path);
    return tile === undefined ? Promise.reject(new Error(`no ${path}`)) : Promise.resolve(tile);
  };
  return { asked, tiles, fetchTile };
}

function headOf(leaves: readonly Hash[]) {
  return { size: leaves.length, root: bytesOf(rootOf(leaves)) };
}

const event: LeafEvent = {
  ...{ id: '5d0f6a52-0f0e-5b8e-9d0b-0e6f2c3a4b5c', stream: 'share-ä', revision: 3n, type: 'ShareRevoked' },
  recordedAt: new Date('2026-01-02T03:04:05.678Z'),
  ...{ data: { z: 1.5, a: ['€', null, true, 1e21], __proto: {} }, metadata: { actor: 'operator' } },
};
const shown = {
  ...{ id: event.id, stream: event.stream, revision: 3, type: event.type, data: event.data },
  ...{ recorded_at: event.recordedAt.toISOString(), metadata: event.metadata },
};

test('The page and the log write the same canonical form of any JSON value', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => t.is(canonicalTextOf(value), canonicalJson(value as JsonValue))),
    { numRuns: 500, seed: 16 },
  );
  const own = JSON.parse('{"__proto__":{"b":1},"a":2}') as JsonValue;
  t.is(canonicalTextOf(own), '{"__proto__":{"b":1},"a":2}');
  t.throws(() => canonicalTextOf({ a: '\ud800' }), { instanceOf: NoCanonicalForm });
  let deep: unknown = 1;
  for (let level = 0; level < 101; level += 1) deep = [deep];
  t.throws(() => canonicalTextOf(deep), { instanceOf: NoCanonicalForm });
});

test('The page computes the leaf of an event as the log does', async (t) => {
  t.is(base64Of(await leafHashOf(shown)), leafHash(entryOf(event)).toString('base64'));
  for (const change of [{ revision: 4 }, { type: 'ShareChanged' }, { data: {} }, { metadata: {} }]) {
    const changed = await leafHashOf({ ...shown, ...change });
    t.not(base64Of(changed), leafHash(entryOf(event)).toString('base64'));
  }
});

test('The page accepts base64 in its one form only', (t) => {
  t.is(base64Of(bytesFromBase64('AAEC/w==') ?? new Uint8Array(0)), 'AAEC/w==');
  for (const text of ['A', 'AAEC_w==', 'AAEC/x==', 'AAEC /w=', 'AA=A'])
    t.is(bytesFromBase64(text), null, text);
});

test('The page proves every continuation of a log, and no other history', async (t) => {
  const [leaves, fork] = [leavesOf(27), leavesOf(27, 2)];
  for (let to = 1; to <= 27; to += 13) {
    for (let from = 1; from <= to; from += 1) {
      const [older, newer] = [headOf(leaves.slice(0, from)), headOf(leaves.slice(0, to))];
      const proof = proofOf(leaves, from, to);
      t.true(await isContinuation(older, newer, proof), `${from} ${to}`);
      if (from < 3) continue;
      t.false(await isContinuation(headOf(fork.slice(0, from)), newer, proof), `fork ${from} ${to}`);
      t.false(await isContinuation(older, headOf(fork.slice(0, to)), proofOf(fork, from, to)));
      t.false(await isContinuation(older, newer, [...proof, older.root]));
      if (proof.length > 0) t.false(await isContinuation(older, newer, proof.slice(0, -1)));
    }
  }
});

test('The page proves the leaves of logs of all shapes by few tiles', async (t) => {
  for (const size of [1, 255, 256, 257, 700, large.length]) {
    const leaves = large.slice(0, size);
    const isLarge = size === large.length;
    const { fetchTile, asked } = isLarge ? serving(largeTiles) : tilesOf(leaves);
    const proven = makeProvenLeaves(isLarge ? largeHead : headOf(leaves), fetchTile);
    for (const index of [0, 1, 255, 256, size - 2, size - 1].filter((one) => one >= 0 && one < size)) {
      t.is(base64Of(await proven.leaf(index)), base64At(leaves, index), `${index} of ${size}`);
    }
    t.is(new Set(asked).size, asked.length, 'each tile once');
    t.true(asked.length <= 7, asked.join(' '));
    await t.throwsAsync(proven.leaf(size), { instanceOf: RangeError });
  }
  for (const number of [0, 67, 999, 1_000, 1_234_067]) {
    const path = tilePath({ kind: 'tile', level: 1, index: number, width: 17 });
    t.is(pathOfTile({ level: 1, number }, 17), path);
  }
});

test('A changed tile of any level contradicts the root, and a missing one can be fetched later', async (t) => {
  const { tiles, fetchTile } = serving(new Map(largeTiles));
  for (const path of ['tile/0/000', 'tile/1/000', 'tile/1/001.p/1', 'tile/0/257.p/208', 'tile/2/000.p/1']) {
    const tile = tiles.get(path);
    if (tile === undefined) return t.fail(path);
    const proven = makeProvenLeaves(largeHead, fetchTile);
    // When one bit differs
    tiles.set(
      path,
      tile.map((byte, at) => (at === 5 ? byte ^ 1 : byte)),
    );
    await t.throwsAsync(proven.leaf(5), { instanceOf: ContradictingTile }, path);
    // When it is cut off
    tiles.set(path, tile.slice(1));
    const cut = makeProvenLeaves(largeHead, fetchTile);
    await t.throwsAsync(cut.leaf(5), { instanceOf: ContradictingTile }, path);
    // When it is missing for a while
    tiles.delete(path);
    const later = makeProvenLeaves(largeHead, fetchTile);
    await t.throwsAsync(later.leaf(5), { message: `no ${path}` });
    tiles.set(path, tile);
    t.is(base64Of(await later.leaf(5)), base64At(large, 5));
  }
});

test('The page reads notes and keys as the log writes them, and checks signatures', async (t) => {
  const note = noteAt(leavesOf(3), [signer, other]);
  const parsed = parseCheckpointNote(note);
  const [key, unknown] = [
    await parseLogKey(` ${signer.vkey}\n`),
    await parseLogKey(makeNoteSigner(origin, Buffer.alloc(32, 9)).vkey),
  ];
  if (parsed === null || key === null || unknown === null) return t.fail('parsed');
  t.is(parsed.size, 3);
  t.is(await checkSignature(parsed, key), 'valid');
  t.is(await checkSignature(parsed, unknown), 'absent');
  t.is(await checkSignature({ ...parsed, text: parsed.text.replace('\n3\n', '\n4\n') }, key), 'invalid');
  for (const text of ['', 'x', note.slice(0, -1), note.replace('\n3\n', '\n03\n'), `${note}x\n`]) {
    t.is(parseCheckpointNote(text), null, JSON.stringify(text));
  }
  const [name, id, base64] = signer.vkey.split('+');
  for (const text of ['', `${name}+${id}`, `${name}+00000000+${base64}`, `x${signer.vkey}`]) {
    t.is(await parseLogKey(text), null, text);
  }
});

test('The verdict says first, continues or failed, and a failure is never kept', async (t) => {
  const [leaves, fork] = [leavesOf(9), leavesOf(9, 4)];
  const [six, nine] = [noteAt(leaves.slice(0, 6)), noteAt(leaves)];
  const checkpoint = parseCheckpointNote(six);
  if (checkpoint === null) return t.fail('parsed');
  const kept = { note: six, checkpoint };
  const base = { kept, remembered: [signer.vkey], offered: [signer.vkey] };
  const consistency = (from: number, to: number) => Promise.resolve(proofOf(leaves, from, to));
  const judge = async (change: Partial<Parameters<typeof judgeCheckpoint>[0]>) => {
    const verdict = await judgeCheckpoint({ ...base, note: nine, consistency, ...change });
    return verdict.kind === 'failed' ? verdict.reason : verdict.kind;
  };
  t.is(await judge({}), 'continues');
  t.is(await judge({ note: six }), 'continues');
  t.is(await judge({ kept: null, remembered: [] }), 'first');
  t.is(await judge({ note: noteAt(leaves, [other, signer]) }), 'continues');
  // Another history of more events, of the same number, and of fewer events
  const forkProof = (from: number, to: number) => Promise.resolve(proofOf(fork, from, to));
  t.regex(await judge({ note: noteAt(fork), consistency: forkProof }), /do not continue the 6 events/);
  t.regex(await judge({ note: noteAt(fork) }), /do not continue the 6 events/);
  t.regex(await judge({ note: noteAt(fork.slice(0, 6)) }), /another root for the same 6 events/);
  t.regex(await judge({ note: noteAt(leaves.slice(0, 5)) }), /is shorter than what this browser saw: 6/);
  // Another key, another signature, another origin, no note
  t.regex(await judge({ note: noteAt(leaves, [other]) }), /No key that this browser remembers/);
  t.regex(
    await judge({ note: noteAt(leaves, [other]), kept: null, remembered: [] }),
    /No key that the service/,
  );
  const forged = noteAt(fork).replace(/\n\n[^]*/, nine.slice(nine.indexOf('\n\n')));
  t.regex(await judge({ note: forged, consistency: forkProof }), /The signature by the key .* does not hold/);
  t.regex(await judge({ note: nine.replaceAll(origin, 'stowage/x') }), /shows another log/);
  t.regex(await judge({ note: 'x' }), /no signed note/);
  // A proof that does not come is no verdict
  const fails = () => Promise.reject(new Error('the service does not answer'));
  await t.throwsAsync(judge({ consistency: fails }), { message: 'the service does not answer' });
  t.is(parseProofLines('')?.length, 0);
  t.is(parseProofLines(`${createHash('sha256').digest('base64')}\n`)?.length, 1);
  for (const text of ['x', 'AAAA\n', '\n', createHash('sha256').digest('base64')]) {
    t.is(parseProofLines(text), null, JSON.stringify(text));
  }
});

test('An event is under the checkpoint, beyond it, contradicts it, or cannot be checked', async (t) => {
  const leaves = [...leavesOf(300), leafHash(entryOf(event))];
  const { fetchTile } = tilesOf(leaves);
  const tree = { size: 301, leaves: makeProvenLeaves(headOf(leaves), fetchTile) };
  const kindOf = async (index: number, change: object = {}, at = tree): Promise<string> =>
    (await markOf({ index, event: { ...shown, ...change } }, at)).kind;
  t.is(await kindOf(300), 'under');
  t.is(await kindOf(301), 'unsigned');
  t.is(await kindOf(299), 'not');
  t.is(await kindOf(300, { data: { z: 2 } }), 'not');
  t.is(await kindOf(300, { data: { z: '\ud800' } }), 'not');
  t.is(await kindOf(-1), 'not');
  const away = makeProvenLeaves(headOf(leaves), () => Promise.reject(new Error('away')));
  t.is(await kindOf(300, {}, { size: 301, leaves: away }), 'unchecked');
  const forked = makeProvenLeaves(headOf(leavesOf(301)), fetchTile);
  t.is(await kindOf(300, {}, { size: 301, leaves: forked }), 'not');
});

test('What the browser keeps is never replaced after a change of another tab, nor read when it is damaged', (t) => {
  const items = new Map<string, string>();
  const storage: BrowserStorage = {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
    removeItem: (name) => void items.delete(name),
  };
  const kept = makeKept(() => storage);
  const keptAt = (size: number) => {
    const note = noteAt(leavesOf(size));
    const checkpoint = parseCheckpointNote(note);
    if (checkpoint === null) throw new Error('no note');
    return { note, checkpoint };
  };
  t.is(kept.checkpoint(), null);
  t.true(kept.replace(null, keptAt(3)));
  t.deepEqual(Object.keys(JSON.parse([...items.values()][0] ?? '') as object), [
    'origin',
    'size',
    'root',
    'note',
  ]);
  t.false(kept.replace(null, keptAt(4)));
  t.is(kept.checkpoint()?.checkpoint.size, 3);
  kept.rememberKey(signer.vkey);
  kept.rememberKey(signer.vkey);
  t.deepEqual(kept.keys(), [signer.vkey]);
  for (const [name, value] of [...items]) {
    for (const damaged of ['', '{', '{}', '[1]', value.replace('"size":3', '"size":4')]) {
      if (damaged === value) continue;
      items.set(name, damaged);
      t.throws(() => [kept.checkpoint(), kept.keys()], { instanceOf: KeptUnreadable }, damaged);
    }
    items.set(name, value);
  }
  kept.forget();
  t.is(items.size, 0);
  const blocked = makeKept(() => {
    throw new Error('SecurityError');
  });
  t.throws(() => blocked.checkpoint(), { instanceOf: KeptUnreadable });
});
