import test from 'ava';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { verifyExport } from '../../src/audit/verify/verify.js';
import { bytesOf, joinLines, linesOf, withFiles, withForgedAmount } from '../support/audit/altered-export.js';
import {
  auditOrigin,
  type ExportedEvent,
  exportFilesOf,
  type ExportFiles,
  givenAuditEvents,
  givenLogKey,
  givenWitness,
  memorySource,
} from '../support/audit/audit-export.js';
import { makeSeededRandom } from '../support/fakes/clock.js';

const { vkey } = givenLogKey();
const eventsOf = (count: number, seed = count): ExportedEvent[] =>
  givenAuditEvents(makeSeededRandom(seed), count);

/** The log of most tests: two full tiles and a partial one. */
const events = eventsOf(600);
const files: ExportFiles = exportFilesOf(events);

type Options = Partial<Parameters<typeof verifyExport>[1]>;
const verdictOf = (of: ExportFiles, options: Options = {}): ReturnType<typeof verifyExport> =>
  verifyExport(memorySource(of), { keys: vkey, ...options });

function flipped(path: string, at: number, of = files): Buffer {
  const bytes = bytesOf(of, path);
  bytes.writeUInt8((bytes[at] ?? 0) ^ 1, at);
  return bytes;
}

test('An export of any size around the widths of tiles is verified, to its root, signer and times', async (t) => {
  for (const size of [0, 1, 2, 255, 256, 257, 511, 512, 1000]) {
    // Given an export by the log's own parts
    const of = eventsOf(size);
    const own = exportFilesOf(of);
    // When the verifier reads it
    const verdict = await verdictOf(own);
    // Then it finds the root, the key, the times and nothing else
    t.deepEqual(verdict.places, [], `${size} events`);
    t.is(verdict.problems, 0);
    t.is(verdict.size, size);
    t.is(bytesOf(own, 'checkpoint').toString().split('\n')[2], verdict.root);
    t.deepEqual(verdict.signers, [vkey.slice(0, vkey.lastIndexOf('+'))]);
    t.deepEqual([verdict.from, verdict.until], [of[0]?.recorded_at ?? null, of.at(-1)?.recorded_at ?? null]);
    t.is(verdict.streams, new Set(of.map(({ stream }) => stream)).size);
    t.deepEqual(verdict.extras, []);
  }
});

test('Each file that is missing, is empty, or has a byte more, less or other is found, and a place names it', async (t) => {
  for (const [path, bytes] of files) {
    const middle = Math.floor(bytes.length / 2);
    const versions: Record<string, Buffer | null> = {
      missing: null,
      empty: Buffer.alloc(0),
      longer: Buffer.concat([bytes, Buffer.of(10)]),
      shorter: bytes.subarray(0, -1),
      first: flipped(path, 0),
      middle: flipped(path, middle),
      last: flipped(path, bytes.length - 1),
    };
    for (const [name, version] of Object.entries(versions)) {
      const { problems, places } = await verdictOf(withFiles(files, { [path]: version }));
      t.true(problems > 0, `${path}, ${name}`);
      // A tile of level 1 is found by its root too: the place is the tile or its neighbours.
      t.true(
        places.some(
          (place) => place.path === path || place.what.includes(path) || place.path === 'checkpoint',
        ),
        `${path}, ${name}: ${JSON.stringify(places)}`,
      );
    }
  }
});

test('An event that differs from its tile is located by index, stream and revision', async (t) => {
  for (const index of [0, 255, 256, 300, 511, 512, 599]) {
    // Given the tiles and entries of the log, and the lines of forged events
    const lines = exportFilesOf(withForgedAmount(events, index));
    const path =
      [...lines.keys()].filter((name) => name.startsWith('events/'))[Math.floor(index / 256)] ?? '';
    const { places } = await verdictOf(withFiles(files, { [path]: bytesOf(lines, path) }));
    const { stream, revision } = events[index] ?? { stream: '', revision: -1 };
    t.deepEqual(
      places.map(({ what: _, ...place }) => place),
      [{ path, first: index, last: index, stream, revision }],
    );
  }
});

test('A line that is removed, added twice, swapped or malformed is located by its event', async (t) => {
  const lines = linesOf(files, 'events/001');
  const [line = '', next = ''] = lines.slice(9);
  const nested = (depth: number): string => `"data":{"x":${'['.repeat(depth)}${']'.repeat(depth)},`;
  const inPlace: Readonly<Record<string, string>> = {
    'no JSON': '{"index":265',
    null: 'null',
    empty: '',
    'of another tile': linesOf(files, 'events/000')[9] ?? '',
    'a member more': line.replace('{', '{"note":1,'),
    'a member less': line.replace(/"type":"[^"]*",/, ''),
    'a lone surrogate': line.replace('"data":{', '"data":{"x":"\\ud800",'),
    'too deep': line.replace('"data":{', nested(100)),
    'very deep': line.replace('"data":{', nested(90_000)),
    'a space': line.replace('"data":{', '"data": {'),
    'an escape': line.replace('"data":{"name"', '"data":{"\\u006eame"'),
    'a carriage return': `${line}\r`,
    'a revision with a fraction': line.replace('"revision":', '"revision":0.5'),
  };
  const versions: Readonly<Record<string, readonly [readonly string[], readonly number[]]>> = {
    removed: [lines.toSpliced(9, 1), [265]],
    twice: [lines.toSpliced(9, 0, line), [266]],
    swapped: [lines.toSpliced(9, 2, next, line), [265, 266]],
    ...Object.fromEntries(
      Object.entries(inPlace).map(([name, other]) => [name, [lines.with(9, other), [265]]]),
    ),
  };
  for (const [name, [version, indexes]] of Object.entries(versions)) {
    t.notDeepEqual(version, lines, name);
    const { places } = await verdictOf(withFiles(files, { 'events/001': joinLines(version) }));
    const found = places.map(({ path, first }) => ({ path, first }));
    t.deepEqual(
      found,
      indexes.map((first) => ({ path: 'events/001', first })),
      `${name}: ${JSON.stringify(places)}`,
    );
    // The entry names the event of a line that is gone.
    const named = places.find(({ first }) => first === 265) ?? events[265];
    t.deepEqual([named?.stream, named?.revision], [events[265]?.stream, events[265]?.revision], name);
  }
});

test('A member that stands twice in a line is found, although the last one is the logged one', async (t) => {
  const lines = linesOf(files, 'events/000');
  for (const [old, twice] of [
    ['"data":{"name":', '"data":{"name":"a forged name","name":'],
    ['"stream":', '"stream":"project-of-another","stream":'],
    ['"data":{', '"data":{"gone":true},"data":{'],
    ['"data":{', '"data":{"__proto__":1,"__proto__":2,'],
  ] as const) {
    const line = lines[4]?.replace(old, twice) ?? '';
    t.not(line, lines[4]);
    const { places } = await verdictOf(withFiles(files, { 'events/000': joinLines(lines.with(4, line)) }));
    t.deepEqual(
      places.map(({ path, first, stream }) => ({ path, first, stream })),
      [{ path: 'events/000', first: 4, stream: events[4]?.stream }],
    );
  }
});

test('Bytes that are not UTF-8 are found where a decoder would write the character that is logged', async (t) => {
  const own = exportFilesOf([{ ...(events[0] as ExportedEvent), data: { name: '\ufffd' } }]);
  const path = 'events/000.p/1';
  const bytes = bytesOf(own, path);
  const at = bytes.indexOf('\ufffd');
  const shorter = Buffer.concat([bytes.subarray(0, at), Buffer.of(0xff), bytes.subarray(at + 3)]);
  t.is(shorter.toString(), bytes.toString());
  t.is((await verdictOf(own)).problems, 0);
  const { places } = await verdictOf(withFiles(own, { [path]: shorter }));
  t.deepEqual(
    places.map(({ path: file, first }) => [file, first]),
    [[path, 0]],
  );
});

test('An event of 100 levels is verified, and one of 101 is refused although its hash is right', async (t) => {
  const nested = (depth: number): ExportedEvent['data'] => (depth === 1 ? {} : { in: nested(depth - 1) });
  const canonical = (value: unknown): string => canonicalize(value) ?? '';
  for (const [depth, problems] of [
    [100, 0],
    [101, 1],
  ] as const) {
    const own = exportFilesOf([{ ...(events[0] as ExportedEvent), data: nested(depth) }], undefined, {
      canonical,
    });
    const verdict = await verdictOf(own);
    t.is(verdict.problems, problems, `${depth} levels: ${JSON.stringify(verdict.places)}`);
  }
});

test('A tile that is forged with its events and entries is located by the level above', async (t) => {
  // Given 256 events, entries and hashes that agree with each other
  const other = exportFilesOf(withForgedAmount(events, 300));
  const along = Object.fromEntries(
    ['events/001', 'tile/0/001', 'tile/entries/001'].map((path) => [path, bytesOf(other, path)]),
  );
  // When the level above is the log's
  const { places } = await verdictOf(withFiles(files, along));
  // Then the place is the tile
  t.deepEqual(
    places.map(({ path, first, last }) => ({ path, first, last })),
    [{ path: 'tile/0/001', first: 256, last: 511 }],
  );
  // And with the level above forged too, it is the checkpoint
  const upper = 'tile/1/000.p/2';
  const { places: all } = await verdictOf(withFiles(files, { ...along, [upper]: bytesOf(other, upper) }));
  t.true(
    all.length > 0 && all.every(({ what, path }) => path === 'checkpoint' || what.includes('checkpoint')),
    JSON.stringify(all),
  );
});

test('A tile or entry that is altered alone is named, and no event is', async (t) => {
  for (const path of ['tile/0/000', 'tile/0/002.p/88', 'tile/entries/000', 'tile/entries/002.p/88']) {
    const { places } = await verdictOf(withFiles(files, { [path]: flipped(path, 40) }));
    t.deepEqual([...new Set(places.map((place) => place.path))], [path]);
  }
});

test('A checkpoint counts only with a signature of a known key of its origin', async (t) => {
  const [note, stranger] = [bytesOf(files, 'checkpoint').toString(), givenLogKey(auditOrigin, 2)];
  const withKey = (...args: Parameters<typeof exportFilesOf>) =>
    exportFilesOf(...args).get('checkpoint') ?? null;
  const versions: Record<string, [string, Buffer | string | null]> = {
    'of a stranger with the same name': ['no known key', withKey(events, [stranger])],
    'of a key with another name': ['of its origin', withKey(events, [givenLogKey('stowage/other')])],
    'with another size': ['is wrong', note.replace('\n600\n', '\n599\n')],
    'with another origin': ['is wrong', note.replace(auditOrigin, 'stowage/x')],
    'with an extension line': ['is wrong', note.replace('\n\n', '\nmore\n\n')],
    'without signatures': ['no checkpoint', note.slice(0, note.indexOf('\n\n') + 2)],
    'with a huge size': ['is wrong', note.replace('\n600\n', '\n9007199254740991\n')],
    'with a size beyond all numbers': ['no checkpoint', note.replace('\n600\n', '\n9999999999999999\n')],
    'with a leading zero': ['no checkpoint', note.replace('\n600\n', '\n0600\n')],
  };
  const keys = `${vkey}\n${givenLogKey('stowage/other').vkey}`;
  for (const [name, [what, checkpoint]] of Object.entries(versions)) {
    const { places } = await verdictOf(withFiles(files, { checkpoint }), { keys });
    t.true(
      places[0]?.path === 'checkpoint' && places[0].what.includes(what),
      `${name}: ${JSON.stringify(places[0])}`,
    );
  }
});

test('A log that signs with two keys is verified by either', async (t) => {
  const [old, next] = [givenLogKey(), givenLogKey(auditOrigin, 2)];
  const both = exportFilesOf(events, [old, next]);
  for (const keys of [old.vkey, next.vkey, `# both\n\n${old.vkey}\r\n${next.vkey}\n`]) {
    const { problems, signers } = await verdictOf(both, { keys });
    t.is(problems, 0);
    t.is(signers.length, keys.startsWith('#') ? 2 : 1);
  }
});

test('A kept checkpoint of each earlier size is found in the log that went on from it', async (t) => {
  for (const size of [0, 1, 255, 256, 257, 512, 599, 600]) {
    const checkpoint = bytesOf(exportFilesOf(events.slice(0, size)), 'checkpoint');
    const { problems, agreed } = await verdictOf(files, { kept: [{ checkpoint }] });
    t.deepEqual([problems, agreed], [0, size]);
  }
});

test('A fork that the real key signed is found by what was kept: the range, and with an export the event', async (t) => {
  const older = exportFilesOf(events.slice(0, 550));
  const kept = { checkpoint: bytesOf(older, 'checkpoint') };
  const first = { checkpoint: bytesOf(exportFilesOf(events.slice(0, 200)), 'checkpoint') };
  for (const index of [201, 255, 256, 549]) {
    // Given a log in which everything agrees with the forged event
    const fork = exportFilesOf(withForgedAmount(events, index));
    t.is((await verdictOf(fork)).problems, 0);
    // Then two kept checkpoints give the range between them
    const { places, agreed } = await verdictOf(fork, { kept: [kept, first] });
    t.deepEqual(
      places.map(({ path, first: from, last }) => [path, from, last]),
      [['checkpoint', 200, 549]],
    );
    t.is(agreed, 200);
    // And the kept export gives the event
    const located = await verdictOf(fork, { kept: [{ ...kept, source: memorySource(older) }] });
    const { stream, revision } = events[index] ?? {};
    t.deepEqual(
      located.places.map(({ what: _, ...place }) => place),
      [{ path: 'checkpoint', first: index, last: index, stream, revision }],
    );
  }
  // And an event that came later contradicts nothing that was kept
  t.is((await verdictOf(exportFilesOf(withForgedAmount(events, 550)), { kept: [kept] })).problems, 0);
});

test('A log that was cut off is found by a kept checkpoint', async (t) => {
  const cut = exportFilesOf(events.slice(0, 400));
  const { places } = await verdictOf(cut, { kept: [{ checkpoint: bytesOf(files, 'checkpoint') }] });
  t.deepEqual(
    places.map(({ first, last }) => [first, last]),
    [[400, 599]],
  );
  t.true(places[0]?.what.includes('cut off'));
});

test('A kept checkpoint of another log is a problem, and one of a stranger cannot be used', async (t) => {
  const other = givenLogKey('stowage/other');
  const checkpoint = bytesOf(exportFilesOf(events, [other], { origin: 'stowage/other' }), 'checkpoint');
  const { places } = await verdictOf(files, { keys: `${vkey}\n${other.vkey}`, kept: [{ checkpoint }] });
  t.true(places.some(({ what }) => what.includes('another log')));
  await t.throwsAsync(verdictOf(files, { kept: [{ checkpoint }] }), {
    message: /kept checkpoint.*no known key/,
  });
});

test('Cosignatures count by known keys, up to the quorum', async (t) => {
  const witnesses = [givenWitness('witness.example/a', 11), givenWitness('witness.example/b', 12)];
  const own = exportFilesOf(events, undefined, { witnesses });
  const keys = witnesses.map((witness) => witness.vkey).join('\n');
  const stranger = givenWitness('witness.example/b', 13).vkey;
  const all = await verdictOf(own, { witnesses: { keys } });
  t.deepEqual(
    [all.problems, all.witnesses],
    [0, ['witness.example/a at 2026-01-01T00:00:00.000Z', 'witness.example/b at 2026-01-01T00:00:00.000Z']],
  );
  const [a = ''] = keys.split('\n');
  t.is((await verdictOf(own, { witnesses: { keys: `${a}\n${stranger}`, quorum: 1 } })).problems, 0);
  t.is((await verdictOf(own, { witnesses: { keys: `${a}\n${stranger}` } })).problems, 1);
  t.is((await verdictOf(files, { witnesses: { keys, quorum: 1 } })).problems, 1);
  // A line that stands twice, and a time that its witness did not sign, count nothing.
  const note = bytesOf(own, 'checkpoint').toString();
  const line = note.split('\n').find((text) => text.includes('witness.example/a')) ?? '';
  const twice = withFiles(own, { checkpoint: `${note}${line}\n` });
  t.is((await verdictOf(twice, { witnesses: { keys: `${a}\n${stranger}`, quorum: 2 } })).problems, 1);
  const bytes = Buffer.from(line.split(' ')[2] ?? '', 'base64');
  bytes.writeUInt8((bytes[11] ?? 0) ^ 1, 11);
  const later = withFiles(own, {
    checkpoint: note.replace(line, `— witness.example/a ${bytes.toString('base64')}`),
  });
  t.is((await verdictOf(later, { witnesses: { keys: a } })).problems, 1);
});

test('A gap or a step back in the revisions of a stream is found, though the log signed it', async (t) => {
  const of = events.filter((_, index) => index !== 300);
  const { stream = '', revision = 0 } = events[300] ?? {};
  const next = of.findIndex((event) => event.stream === stream && event.revision === revision + 1);
  const { places } = await verdictOf(exportFilesOf(of));
  t.deepEqual(
    places.map(({ first, stream: at, revision: is }) => [first, at, is]),
    [[next, stream, revision + 1]],
  );
  // And a stream that begins later is counted
  const begun = of.filter((event) => event.stream !== stream || event.revision > revision);
  const verdict = await verdictOf(exportFilesOf(begun));
  t.deepEqual([verdict.problems, verdict.begunLater], [0, 1]);
});

test('The revisions of more streams than the bound are not compared, and the verdict says so', async (t) => {
  const { problems, streams, unchecked } = await verdictOf(files, { streamsMax: 10 });
  const known = new Set([...new Set(events.map(({ stream }) => stream))].slice(0, 10));
  t.deepEqual([problems, streams], [0, 10]);
  t.is(unchecked, events.filter(({ stream }) => !known.has(stream)).length);
});

test('The verifier computes the canonical form of RFC 8785 as the package canonicalize does', async (t) => {
  const wellFormed = fc
    .jsonValue({ stringUnit: 'binary', maxDepth: 4 })
    .filter((value) => !/\\ud[89a-f]/.test(JSON.stringify(value)));
  await fc.assert(
    fc.asyncProperty(fc.array(wellFormed, { minLength: 1, maxLength: 20 }), async (values) => {
      // Given an export whose entries come from the package
      const of = values.map((value, index): ExportedEvent => ({
        ...(events[index] as ExportedEvent),
        stream: 's',
        revision: index,
        data: JSON.parse(JSON.stringify({ value })) as ExportedEvent['data'],
      }));
      const verdict = await verdictOf(
        exportFilesOf(of, undefined, { canonical: (value) => canonicalize(value) ?? '' }),
      );
      t.deepEqual(verdict.places, []);
    }),
    { numRuns: 200, seed: 20_260_101 },
  );
});
