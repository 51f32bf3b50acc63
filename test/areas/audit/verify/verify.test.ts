import test from 'ava';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import {
  bytesOf,
  joinLines,
  linesOf,
  withFiles,
  withForgedAmount,
} from '../../../support/audit/altered-export.js';
import {
  auditOrigin,
  type ExportedEvent,
  exportFilesOf,
  type ExportFiles,
  givenAuditEvents,
  givenLogKey,
  givenWitness,
  type GivenToVerifier,
  type PrintedVerdict,
  verifyInMemory,
} from '../../../support/audit/audit-export.js';
import { makeSeededRandom } from '../../../support/fakes/clock.js';

const { vkey } = givenLogKey();
const eventsOf = (count: number, seed = count): ExportedEvent[] =>
  givenAuditEvents(makeSeededRandom(seed), count);

/** The log of most tests: two full tiles and a partial one. */
const events = eventsOf(600);
const files: ExportFiles = exportFilesOf(events);

const verdictOf = (of: ExportFiles, given: GivenToVerifier = {}): Promise<PrintedVerdict> =>
  verifyInMemory(of, given);

/** A kept checkpoint without its export. */
const checkpointOf = (of: ExportFiles): ExportFiles => new Map([['checkpoint', bytesOf(of, 'checkpoint')]]);

function flipped(path: string, at: number, of = files): Buffer {
  const bytes = bytesOf(of, path);
  bytes.writeUInt8((bytes[at] ?? 0) ^ 1, at);
  return bytes;
}

test('An export of any size around the widths of tiles is verified, to its root', async (t) => {
  for (const size of [0, 1, 2, 255, 256, 257, 511, 512, 1000]) {
    // Given an export by the log's own parts
    const own = exportFilesOf(eventsOf(size));
    // When the verifier reads it
    const { isVerified, text } = await verdictOf(own);
    // Then it finds nothing, and names the size and the root
    t.true(isVerified, text);
    const [, , root = ''] = bytesOf(own, 'checkpoint').toString().split('\n');
    t.true(text.includes(`${size} events of "${auditOrigin}", root ${root}`), text);
  }
});

test('Each file that is missing, is empty, or has a byte more, less or other is found, and a place names it', async (t) => {
  // Given a full tile and a partial one
  const small = exportFilesOf(events.slice(0, 260));
  for (const [path, bytes] of small) {
    const middle = Math.floor(bytes.length / 2);
    const versions: Record<string, Buffer | null> = {
      missing: null,
      empty: Buffer.alloc(0),
      longer: Buffer.concat([bytes, Buffer.of(10)]),
      shorter: bytes.subarray(0, -1),
      first: flipped(path, 0, small),
      middle: flipped(path, middle, small),
      last: flipped(path, bytes.length - 1, small),
    };
    for (const [name, version] of Object.entries(versions)) {
      const { isVerified, places } = await verdictOf(withFiles(small, { [path]: version }));
      t.false(isVerified, `${path}, ${name}`);
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

test('An event that differs from its tile is located by its index', async (t) => {
  for (const index of [0, 255, 256, 300, 511, 512, 599]) {
    // Given the tiles and entries of the log, and the lines of forged events
    const lines = exportFilesOf(withForgedAmount(events, index));
    const path =
      [...lines.keys()].filter((name) => name.startsWith('events/'))[Math.floor(index / 256)] ?? '';
    const { places } = await verdictOf(withFiles(files, { [path]: bytesOf(lines, path) }));
    t.deepEqual(
      places.map(({ what: _, ...place }) => place),
      [{ path, first: index, last: index }],
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
  const versions: Readonly<Record<string, readonly [readonly string[], number]>> = {
    removed: [lines.toSpliced(9, 1), 265],
    twice: [lines.toSpliced(9, 0, line), 266],
    'twice at the end': [[...lines, lines.at(-1) ?? ''], 511],
    swapped: [lines.toSpliced(9, 2, next, line), 265],
    ...Object.fromEntries(
      Object.entries(inPlace).map(([name, other]) => [name, [lines.with(9, other), 265]]),
    ),
  };
  for (const [name, [version, index]] of Object.entries(versions)) {
    t.notDeepEqual(version, lines, name);
    const { places } = await verdictOf(withFiles(files, { 'events/001': joinLines(version) }));
    t.deepEqual(
      places.map(({ path, first }) => ({ path, first })),
      [{ path: 'events/001', first: index }],
      `${name}: ${JSON.stringify(places)}`,
    );
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
      places.map(({ path, first }) => ({ path, first })),
      [{ path: 'events/000', first: 4 }],
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
  t.true((await verdictOf(own)).isVerified);
  const { places } = await verdictOf(withFiles(own, { [path]: shorter }));
  t.deepEqual(
    places.map(({ path: file, first }) => [file, first]),
    [[path, 0]],
  );
});

test('An event of 100 levels is verified, and one of 101 is refused although its hash is right', async (t) => {
  const nested = (depth: number): ExportedEvent['data'] => (depth === 1 ? {} : { in: nested(depth - 1) });
  const canonical = (value: unknown): string => canonicalize(value) ?? '';
  for (const depth of [100, 101]) {
    const own = exportFilesOf([{ ...(events[0] as ExportedEvent), data: nested(depth) }], undefined, {
      canonical,
    });
    const verdict = await verdictOf(own);
    t.is(verdict.isVerified, depth === 100, `${depth} levels: ${verdict.text}`);
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

test('A tile or entry that is altered alone is named, and no event line is', async (t) => {
  for (const path of ['tile/0/000', 'tile/0/002.p/88', 'tile/entries/000', 'tile/entries/002.p/88']) {
    const { places } = await verdictOf(withFiles(files, { [path]: flipped(path, 40) }));
    t.is(places.length, 1);
    t.true(places[0]?.path === path || places[0]?.what.includes(path), JSON.stringify(places));
  }
});

test('An entry that is altered is located by its event', async (t) => {
  const at = bytesOf(files, 'tile/entries/001').indexOf(`"id":"${events[300]?.id}"`);
  const { places } = await verdictOf(
    withFiles(files, { 'tile/entries/001': flipped('tile/entries/001', at + 8) }),
  );
  t.deepEqual(
    places.map(({ path, first, last }) => [path, first, last]),
    [['tile/entries/001', 300, 300]],
  );
});

test('Tampering in several tiles is located in each of them', async (t) => {
  const changes = Object.fromEntries(
    [3, 300].map((index) => {
      const path = `events/00${Math.floor(index / 256)}`;
      return [path, joinLines(linesOf(files, path).toSpliced(index % 256, 1))];
    }),
  );
  const { places, text } = await verdictOf(withFiles(files, { ...changes, 'events/002.p/88': null }));
  t.deepEqual(
    places.map(({ path, first }) => [path, first]),
    [
      ['events/000', 3],
      ['events/001', 300],
      ['events/002.p/88', undefined],
    ],
  );
  t.true(text.endsWith('NOT VERIFIED: 3 problems'), text);
});

test('A checkpoint counts only with a signature of a known key of its origin', async (t) => {
  const [note, stranger] = [bytesOf(files, 'checkpoint').toString(), givenLogKey(auditOrigin, 2)];
  const withKey = (...args: Parameters<typeof exportFilesOf>) =>
    exportFilesOf(...args).get('checkpoint') ?? null;
  const versions: Record<string, [string, Buffer | string | null]> = {
    'of a stranger with the same name': ['no known key', withKey(events, [stranger])],
    'of a key with another name': ['no known key', withKey(events, [givenLogKey('stowage/other')])],
    'with another size': ['is wrong', note.replace('\n600\n', '\n599\n')],
    'with another origin': ['is wrong', note.replace(auditOrigin, 'stowage/x')],
    'with an extension line': ['is wrong', note.replace('\n\n', '\nmore\n\n')],
    'without signatures': ['no signed checkpoint', note.slice(0, note.indexOf('\n\n') + 2)],
    'with a huge size': ['is wrong', note.replace('\n600\n', '\n9007199254740991\n')],
    'with a size beyond all numbers': [
      'no signed checkpoint',
      note.replace('\n600\n', '\n9999999999999999\n'),
    ],
    'with a leading zero': ['no signed checkpoint', note.replace('\n600\n', '\n0600\n')],
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
    t.true((await verdictOf(both, { keys })).isVerified);
  }
});

test('A kept checkpoint of each earlier size is found in the log that went on from it', async (t) => {
  for (const size of [0, 1, 255, 256, 257, 512, 599, 600]) {
    const older = exportFilesOf(events.slice(0, size));
    for (const kept of [older, checkpointOf(older)]) {
      const { isVerified, text } = await verdictOf(files, { kept });
      t.true(isVerified, text);
      t.true(text.includes(`Kept: ${size} events`), text);
    }
  }
});

test('A fork that the real key signed is found by what was kept: the range, and with an export the event', async (t) => {
  const older = exportFilesOf(events.slice(0, 550));
  for (const index of [0, 201, 255, 256, 549]) {
    // Given a log in which everything agrees with the forged event
    const fork = exportFilesOf(withForgedAmount(events, index));
    t.true((await verdictOf(fork)).isVerified);
    // Then a kept checkpoint gives the range, and a kept export the event
    for (const [kept, first, last] of [
      [checkpointOf(older), 0, 549],
      [older, index, index],
    ] as const) {
      const { places } = await verdictOf(fork, { kept });
      t.deepEqual(
        places.map(({ what: _, ...place }) => place),
        [{ path: 'checkpoint', first, last }],
      );
    }
  }
  // And an event that came later contradicts nothing that was kept
  t.true((await verdictOf(exportFilesOf(withForgedAmount(events, 550)), { kept: older })).isVerified);
});

test('A kept export whose tiles are damaged accuses no event while its checkpoint agrees', async (t) => {
  const older = exportFilesOf(events.slice(0, 550));
  const kept = withFiles(older, { 'tile/0/001': flipped('tile/0/001', 40, older) });
  t.true((await verdictOf(files, { kept })).isVerified);
});

test('A log that was cut off is found by a kept checkpoint', async (t) => {
  const cut = exportFilesOf(events.slice(0, 400));
  const { places } = await verdictOf(cut, { kept: files });
  t.deepEqual(
    places.map(({ first, last }) => [first, last]),
    [[400, 599]],
  );
  t.true(places[0]?.what.includes('cut off'));
});

test('A kept checkpoint of another log is a problem, and one of a stranger cannot be used', async (t) => {
  const other = givenLogKey('stowage/other');
  const kept = exportFilesOf(events, [other], { origin: 'stowage/other' });
  const { places } = await verdictOf(files, { keys: `${vkey}\n${other.vkey}`, kept });
  t.true(places.some(({ what }) => what.includes('another log')));
  await t.throwsAsync(verdictOf(files, { kept }), { message: /no known key/ });
});

test('Cosignatures count by known keys, up to the quorum', async (t) => {
  const witnesses = [givenWitness('witness.example/a', 11), givenWitness('witness.example/b', 12)];
  const own = exportFilesOf(events, undefined, { witnesses });
  const keys = witnesses.map((witness) => witness.vkey).join('\n');
  const stranger = givenWitness('witness.example/b', 13).vkey;
  const all = await verdictOf(own, { witnesses: keys });
  t.true(all.isVerified, all.text);
  for (const name of ['a', 'b'])
    t.true(all.text.includes(`Cosigned by witness.example/${name} at time 1767225600`), all.text);
  const [a = ''] = keys.split('\n');
  const isVerified = async (of: ExportFiles, given: GivenToVerifier): Promise<boolean> =>
    (await verdictOf(of, given)).isVerified;
  t.true(await isVerified(own, { witnesses: `${a}\n${stranger}`, quorum: 1 }));
  t.false(await isVerified(own, { witnesses: `${a}\n${stranger}` }));
  t.false(await isVerified(files, { witnesses: keys, quorum: 1 }));
  // A line that stands twice, and a time that its witness did not sign, count nothing.
  const note = bytesOf(own, 'checkpoint').toString();
  const line = note.split('\n').find((text) => text.includes('witness.example/a')) ?? '';
  const twice = withFiles(own, { checkpoint: `${note}${line}\n` });
  t.false(await isVerified(twice, { witnesses: `${a}\n${stranger}`, quorum: 2 }));
  const bytes = Buffer.from(line.split(' ')[2] ?? '', 'base64');
  bytes.writeUInt8((bytes[11] ?? 0) ^ 1, 11);
  const later = withFiles(own, {
    checkpoint: note.replace(line, `— witness.example/a ${bytes.toString('base64')}`),
  });
  t.false(await isVerified(later, { witnesses: a }));
});

test('A gap in the revisions of a stream, and a stream without its beginning, are found though the log signed them', async (t) => {
  const of = events.filter((_, index) => index !== 300);
  const { stream = '', revision = 0 } = events[300] ?? {};
  const next = of.findIndex((event) => event.stream === stream && event.revision === revision + 1);
  const { places, text } = await verdictOf(exportFilesOf(of));
  t.deepEqual(
    places.map(({ first }) => first),
    [next],
  );
  t.true(text.includes(`revision ${revision + 1} of "${stream}" is not ${revision}`), text);
  // And with no room for one more stream, and read as from a service
  const mostStreams = new Set(of.map((event) => event.stream)).size;
  for (const given of [{ mostStreams }, { mostStreams, isLive: true }]) {
    const other = await verdictOf(exportFilesOf(of), given);
    t.deepEqual([other.isVerified, other.places], [false, places]);
    t.notRegex(other.text, /Not compared/);
    t.true((await verdictOf(files, given)).isVerified);
  }
  const begun = of.filter((event) => event.stream !== stream || event.revision > revision);
  t.true((await verdictOf(exportFilesOf(begun))).text.includes(`of "${stream}" is not 0`));
});

test('The revisions of more streams than the bound are not compared, and the verdict says so', async (t) => {
  const { isVerified, text } = await verdictOf(files, { mostStreams: 10 });
  const known = new Set([...new Set(events.map(({ stream }) => stream))].slice(0, 10));
  const others = events.filter(({ stream }) => !known.has(stream)).length;
  t.true(others > 0);
  t.true(isVerified && text.includes(`Not compared: the revisions of ${others} events`), text);
});

test('The verifier computes the canonical form of RFC 8785 as the package canonicalize does', async (t) => {
  // The unit `binary` of fast-check is the same, and lists a million characters first.
  const character = fc.integer({ min: 0, max: 0x10_ff_ff }).map((code) => String.fromCodePoint(code));
  const wellFormed = fc
    .jsonValue({ stringUnit: character, maxDepth: 4 })
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
      t.true(verdict.isVerified, verdict.text);
    }),
    { numRuns: 200, seed: 20_260_101 },
  );
});
