import test from 'ava';
import { makeLru, makeSizedLru } from '../../src/kit/lru.js';

const names = (count: number, suffix = '') => Array.from({ length: count }, (_, n) => `${n}${suffix}`);

test('A cache of small values holds its entries, and fewer of them where their keys are long', (t) => {
  for (const [suffix, held] of [
    ['', 100],
    ['k'.repeat(500), 100],
    ['k'.repeat(5_000), 18],
  ] as const) {
    const cache = makeLru<number>(100);
    for (const name of names(1_000, suffix)) cache.set(name, 1);
    t.is(cache.size, held, `keys of ${suffix.length} characters`);
    t.is(cache.get(`999${suffix}`), 1, 'the latest entry');
  }
});

test('A cache of values of any size holds at most its bytes, and at most its entries', (t) => {
  const cache = makeSizedLru<{ readonly bytes: number }>({
    ...{ entriesMax: 100, bytesMax: 100_000 },
    bytesOf: ({ bytes }) => bytes,
  });
  for (const name of names(1_000)) cache.set(name, { bytes: 1 });
  t.is(cache.size, 100);
  for (const name of names(1_000)) cache.set(name, { bytes: 4_997 });
  t.is(cache.size, 20);
  // One that is larger than the cache counts as a sixteenth of it
  cache.set('large', { bytes: 1_000_000 });
  t.true(cache.size >= 19);
});
