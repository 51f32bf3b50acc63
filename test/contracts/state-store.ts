import type { ExecutionContext, TestFn } from 'ava';
import { pluck } from '../support/given/pluck.js';

import type { Clock } from '../../src/kit/time/clock.js';
import type { JsonValue } from '../../src/event-sourcing/ports/domain-event.js';
import type { StateStore } from '../../src/event-sourcing/ports/state-store.js';
import { canonical } from '../support/examples/canonical.js';
import { type SettableClock, settableClock } from '../support/fakes/settable-clock.js';

/**
 * Makes an empty store whose records expire by the clock. The store is new, and the test's teardown closes it. Or it is
 * a used store without the records that other tests left. Expired records may stay in it, because the clock of each
 * test begins after all times that earlier tests set.
 */
type MakeStateStore = (t: ExecutionContext, clock: Clock) => Promise<StateStore>;

/** The contract of the StateStore port: each sentence of its comments is a test. */
export function stateStoreContract(test: TestFn, makeStore: MakeStateStore): void {
  compareAndSetContract(test, makeStore);
  expiryContract(test, makeStore);
  listContract(test, makeStore);
}

let clocks = 0;

/**
 * Makes a clock that begins a year after the previous one. Time never goes back in a store, and no test advances by a
 * year.
 */
function nextClock(): SettableClock {
  clocks += 1;
  return settableClock(new Date(Date.UTC(2100 + clocks, 0)));
}

function compareAndSetContract(test: TestFn, makeStore: MakeStateStore): void {
  test.serial('An absent record is null, and a compare-and-set succeeds only over null', async (t) => {
    const store = await makeStore(t, nextClock());
    t.is(await store.get('claim/1'), null);
    t.is(await store.compareAndSet('claim/1', 'no-such-version', { by: 'a' }), null);
    t.is(await store.get('claim/1'), null);
    const version = await store.compareAndSet('claim/1', null, { by: 'a' });
    t.deepEqual(await store.get('claim/1'), { key: 'claim/1', value: { by: 'a' }, version, expiresAt: null });
  });

  test.serial('A compare-and-set of a record succeeds only over its current version', async (t) => {
    const store = await makeStore(t, nextClock());
    const first = await store.compareAndSet('counter/1', null, 1);
    t.is(await store.compareAndSet('counter/1', null, 9), null);
    const second = await store.compareAndSet('counter/1', first, 2);
    t.is(await store.compareAndSet('counter/1', first, 9), null);
    t.deepEqual(await store.get('counter/1'), {
      key: 'counter/1',
      value: 2,
      version: second,
      expiresAt: null,
    });
  });

  test.serial('Every write has a new version, also with the same value and after a removal', async (t) => {
    const store = await makeStore(t, nextClock());
    const versions = new Set<string | null>();
    for (let round = 0; round < 3; round += 1) {
      const first = await store.compareAndSet('key/1', null, 'same');
      const second = await store.compareAndSet('key/1', first, 'same');
      versions.add(first).add(second);
      t.is(await store.compareAndSet('key/1', second, null), 'removed');
    }
    t.is(versions.size, 6);
    t.false(versions.has(null));
  });

  test.serial('A value of null removes the record under the same guard', async (t) => {
    const store = await makeStore(t, nextClock());
    const first = await store.compareAndSet('key/1', null, { wrapped: 'x' });
    const second = await store.compareAndSet('key/1', first, { wrapped: 'y' });
    t.is(await store.compareAndSet('key/1', first, null), null);
    t.is((await store.get('key/1'))?.version, second ?? 'refused');
    t.is(await store.compareAndSet('key/1', second, null), 'removed');
    t.is(await store.get('key/1'), null);
    t.is(await store.compareAndSet('key/1', second, { wrapped: 'z' }), null);
    t.is(await store.compareAndSet('key/1', second, null), null);
    t.deepEqual(await store.list('key/', { limit: 9 }), []);
    t.is(typeof (await store.compareAndSet('key/1', null, { wrapped: 'z' })), 'string');
  });

  test.serial(
    'Of 50 concurrent writes exactly one succeeds: over an absent record, a version, an expired record and a removal',
    async (t) => {
      const clock = nextClock();
      const store = await makeStore(t, clock);
      const race = async (expected: string | null, remove = false) => {
        const outcomes = await Promise.all(
          Array.from({ length: 50 }, async (_, writer) =>
            store.compareAndSet('claim/1', expected, remove ? null : { writer }, {
              expiresAt: new Date(clock.now().getTime() + 60_000),
            }),
          ),
        );
        const writer = outcomes.findIndex((outcome) => outcome !== null);
        t.is(outcomes.filter((outcome) => outcome !== null).length, 1);
        if (!remove) t.deepEqual((await store.get('claim/1'))?.value, { writer });
        return outcomes[writer] ?? null;
      };
      const first = await race(null);
      await race(first);
      clock.advance(60_000);
      const again = await race(null);
      t.is(await race(again, true), 'removed');
      t.is(await store.get('claim/1'), null);
    },
  );

  test.serial('A counter that 20 callers increment at once counts all of them', async (t) => {
    const store = await makeStore(t, nextClock());
    await Promise.all(Array.from({ length: 20 }, async () => increment(store, 'counter/1')));
    t.is((await store.get('counter/1'))?.value, 20);
  });

  test.serial('Values of every JSON type read back unchanged', async (t) => {
    const store = await makeStore(t, nextClock());
    const odd = Object.fromEntries(
      ['a.b', '$x', '__proto__', '', '\u0000', '日本', '_bsontype'].map((key) => [key, 1]),
    );
    const values: JsonValue[] = [
      0,
      -1.5,
      2 ** 53 - 1,
      1e300,
      true,
      false,
      '',
      '\u0000',
      '😀',
      [],
      {},
      [null],
      odd,
    ];
    values.push({ a: null, deep: [{ b: [odd] }] }, 'x'.repeat(300_000));
    for (const [n, value] of values.entries()) {
      await store.compareAndSet(`value/${n}`, null, value);
      t.is(canonical((await store.get(`value/${n}`))?.value ?? null), canonical(value));
    }
  });

  test.serial('Keys of up to 512 bytes match exactly', async (t) => {
    const store = await makeStore(t, nextClock());
    const keys = [
      'k/a',
      'k/A',
      'k/a ',
      'k/a.b',
      'k/$x',
      'k/__proto__',
      'k/%',
      'k/_',
      "k/'",
      'k/"',
      'k/\\',
      'k/*',
      'k/[',
    ];
    keys.push('k/é', 'k/é'.normalize('NFD'), 'k/😀', `k/${'x'.repeat(509)}y`, `k/${'x'.repeat(509)}z`);
    for (const key of keys) t.is(typeof (await store.compareAndSet(key, null, key)), 'string', key);
    for (const key of keys) t.is((await store.get(key))?.value, key);
    t.is((await store.list('k/', { limit: 100 })).length, keys.length);
  });

  test.serial('A state store that is up answers a ping', async (t) => {
    const store = await makeStore(t, nextClock());
    await t.notThrowsAsync(store.ping());
  });
}

function expiryContract(test: TestFn, makeStore: MakeStateStore): void {
  test.serial('A record exists until the moment of its expiry, by the injected clock', async (t) => {
    const clock = nextClock();
    const store = await makeStore(t, clock);
    const expiresAt = new Date(clock.now().getTime() + 60_000);
    const version = await store.compareAndSet('claim/1', null, 'a', { expiresAt });
    clock.advance(59_999);
    t.deepEqual(await store.get('claim/1'), { key: 'claim/1', value: 'a', version, expiresAt });
    clock.advance(1);
    t.is(await store.get('claim/1'), null);
    t.deepEqual(await store.list('claim/', { limit: 9 }), []);
  });

  test.serial('An expired record counts as absent for compare-and-set', async (t) => {
    const clock = nextClock();
    const store = await makeStore(t, clock);
    const first = await store.compareAndSet('claim/1', null, 'a', {
      expiresAt: new Date(clock.now().getTime() + 1000),
    });
    t.is(await store.compareAndSet('claim/1', null, 'b'), null);
    clock.advance(1000);
    t.is(await store.compareAndSet('claim/1', first, 'a again'), null);
    const second = await store.compareAndSet('claim/1', null, 'b');
    t.not(second, first);
    t.deepEqual(await store.get('claim/1'), { key: 'claim/1', value: 'b', version: second, expiresAt: null });
  });

  test.serial(
    'A clock that was ahead once ends no record that is written after it was set back',
    async (t) => {
      const clock = nextClock();
      const store = await makeStore(t, clock);
      const twoDaysMs = 2 * 86_400_000;
      clock.advance(twoDaysMs);
      await store.compareAndSet('other/1', null, 'ahead');
      clock.advance(-twoDaysMs);
      const expiresAt = new Date(clock.now().getTime() + 60_000);
      const version = await store.compareAndSet('claim/1', null, 'a', { expiresAt });
      await store.compareAndSet('other/2', null, 'later');
      t.deepEqual(await store.get('claim/1'), { key: 'claim/1', value: 'a', version, expiresAt });
    },
  );

  test.serial('Each write replaces the expiry, and a write without one removes it', async (t) => {
    const clock = nextClock();
    const store = await makeStore(t, clock);
    const inSeconds = (seconds: number) => ({ expiresAt: new Date(clock.now().getTime() + seconds * 1000) });
    const first = await store.compareAndSet('claim/1', null, 'a', inSeconds(10));
    const second = await store.compareAndSet('claim/1', first, 'a', inSeconds(30));
    clock.advance(20_000);
    t.is((await store.get('claim/1'))?.version, second ?? 'refused');
    await store.compareAndSet('claim/1', second, 'a');
    clock.advance(1_000_000_000);
    t.is((await store.get('claim/1'))?.expiresAt, null);
  });
}

function listContract(test: TestFn, makeStore: MakeStateStore): void {
  test.serial('A list returns the keys with the prefix, in order, in pages', async (t) => {
    const store = await makeStore(t, nextClock());
    const keys = Array.from({ length: 10 }, (_, n) => `node/${n}`);
    for (const key of [...keys.toReversed(), 'nod', 'node', 'nodes/1', 'node0', 'other/1', 'Node/1'])
      await store.compareAndSet(key, null, key);
    const pages: string[][] = [];
    for (let after: string | undefined; ; after = pages.at(-1)?.at(-1)) {
      const page = await store.list('node/', after === undefined ? { limit: 4 } : { after, limit: 4 });
      if (page.length === 0) break;
      t.true(page.every(({ key, value, expiresAt }) => value === key && expiresAt === null));
      pages.push(page.map(({ key }) => key));
    }
    t.deepEqual(pages, [keys.slice(0, 4), keys.slice(4, 8), keys.slice(8)]);
    t.deepEqual(await store.list('absent/', { limit: 4 }), []);
  });

  test.serial('A list leaves out expired records without shortening the pages', async (t) => {
    const clock = nextClock();
    const store = await makeStore(t, clock);
    for (let n = 0; n < 12; n += 1)
      await store.compareAndSet(
        `claim/${String(n).padStart(2, '0')}`,
        null,
        n,
        n % 3 === 0 ? {} : { expiresAt: new Date(clock.now().getTime() + n) },
      );
    clock.advance(6);
    const values = async (after?: string) =>
      (await store.list('claim/', { limit: 3, ...(after === undefined ? {} : { after }) })).map(
        ({ value }) => value,
      );
    t.deepEqual(await values(), [0, 3, 6]);
    t.deepEqual(await values('claim/06'), [7, 8, 9]);
    t.deepEqual(await values('claim/09'), [10, 11]);
  });

  test.serial('A list matches its prefix literally, with any characters', async (t) => {
    const store = await makeStore(t, nextClock());
    const prefixes = [
      'a%/',
      'a_/',
      'a./',
      'a*/',
      'a[b]/',
      'a\\/',
      "a'/",
      'a$/',
      'a^/',
      'a(/',
      'a?/',
      'é/',
      '😀/',
      'aX/',
      'A%/',
    ];
    for (const prefix of prefixes)
      for (const n of [1, 2]) await store.compareAndSet(`${prefix}${n}`, null, prefix);
    for (const prefix of prefixes) {
      const listed = await store.list(prefix, { limit: 100 });
      t.deepEqual(pluck(listed, 'key'), [`${prefix}1`, `${prefix}2`]);
    }
    t.is((await store.list('', { limit: 100 })).length, prefixes.length * 2);
  });
}

async function increment(store: StateStore, key: string): Promise<void> {
  for (;;) {
    const record = await store.get(key);
    const count = typeof record?.value === 'number' ? record.value : 0;
    if ((await store.compareAndSet(key, record?.version ?? null, count + 1)) !== null) return;
  }
}
