import test from 'ava';
import fc from 'fast-check';

import { parseTilePath, tilePath } from '../../../../src/areas/audit/tree/tiles.js';

test('A path has the form of the example in C2SP tlog-tiles', (t) => {
  t.is(tilePath({ kind: 'tile', level: 0, index: 1_234_067, width: 256 }), 'tile/0/x001/x234/067');
  t.is(tilePath({ kind: 'entries', level: 0, index: 5, width: 17 }), 'tile/entries/005.p/17');
  t.is(tilePath({ kind: 'events', level: 0, index: 1_000, width: 1 }), 'events/x001/000.p/1');
});

test('Each path parses to the resource that it was made for', (t) => {
  const resource = fc.record({
    kind: fc.constantFrom('tile' as const, 'entries' as const, 'events' as const),
    level: fc.nat({ max: 63 }),
    index: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    width: fc.integer({ min: 1, max: 256 }),
  });
  fc.assert(
    fc.property(resource, (given) => {
      const expected = given.kind === 'tile' ? given : { ...given, level: 0 };
      t.deepEqual(parseTilePath(tilePath(expected)), expected);
    }),
    { seed: 5, numRuns: 500 },
  );
});

test('A path of another form is no resource', (t) => {
  const paths = [
    'tile/64/000',
    'tile/00/000',
    'tile/0/000.p/0',
    'tile/0/000.p/256',
    'tile/0/000.p/257',
    'tile/0/000.p/01',
    'tile/0/1',
    'tile/0/x000/001',
    'tile/0/x001/x234/067/',
    'tile/0/x999/x999/x999/x999/x999/x999/999',
    'tile/entries/../000',
    '/tile/0/000',
    'checkpoint',
    '',
  ];
  for (const path of paths) t.is(parseTilePath(path), null, path);
});
