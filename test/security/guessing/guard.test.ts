import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import fc from 'fast-check';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { makeBackground } from '../../../src/kit/background.js';
import { Overloaded } from '../../../src/kit/semaphore.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { KeyMissing } from '../../../src/keys/sealing/errors.js';
import { makeDigests } from '../../../src/keys/sealing/digests.js';
import { failuresSchema } from '../../../src/security/guessing/failures.js';
import { makeGuard, type Try } from '../../../src/security/guessing/guard.js';
import { guessing } from '../../../src/security/guessing/guessing.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { givenDirectory, openState } from '../../support/servers/embedded-directory.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';

const [minute, dayMs] = [60_000, 86_400_000];
const limits = guessing.password.failures;
const from = (ip: string, subject = 'ada'): Try => ({ subject, client: { ip, known: null } });
const on = (id: string, ip = '192.0.2.1'): Try => ({
  subject: 'ada',
  client: { ip, known: { id, of: 'ada' } },
});
const ada = from('198.51.100.1');
const wrong = () => Promise.resolve(null);
const right = () => Promise.resolve('session');

function given({ wrap = (store: StateStore) => store, of = limits, turnMs = 60_000 } = {}) {
  const clock = makeTestClock();
  const stateStore = makeMemoryStateStore({ clock });
  const background = makeBackground({
    onFailure: (_, error) => {
      throw error;
    },
  });
  const deps = { digests: makeDigests(Buffer.alloc(32, 1)), clock, background, turnMs };
  const make = (name = 'password') => makeGuard({ ...deps, name, limits: of, stateStore: wrap(stateStore) });
  const record = async () => {
    const [found, ...others] = await stateStore.list('', { limit: 10 });
    if (others.length > 0) throw new Error('a subject has several records');
    return found === undefined ? null : failuresSchema.parse(found.value);
  };
  return { clock, stateStore, background, guard: make(), make, record };
}
const unchecked = () => Promise.reject(new Error('the check ran'));

test('A success forgets the failures of its client, and leaves those of others in the day', async (t) => {
  const { guard, record } = given();
  await guard.run(from('198.51.100.2'), wrong);
  for (let count = 0; count < 4; count += 1) await guard.run(ada, wrong);
  t.deepEqual(await guard.run(ada, right), { outcome: 'passed', value: 'session' });
  const left = await record();
  t.is(left?.clients.length, 1);
  t.deepEqual(
    left?.days.map(({ failures }) => failures),
    [5],
  );
  for (let count = 0; count < 5; count += 1) t.is((await guard.run(ada, wrong)).outcome, 'failed');
  t.is((await guard.run(ada, unchecked)).outcome, 'throttled');
});

test('The failures of a client throttle no other client, device, subject or secret', async (t) => {
  const { guard, make } = given();
  for (let host = 0; host < 5; host += 1) await guard.run(from(`2001:db8:1:2::${host}`), wrong);
  // All addresses of an IPv6 /64 are one client.
  t.is((await guard.run(from('2001:db8:1:2:ffff::1'), unchecked)).outcome, 'throttled');
  for (const other of [
    from('2001:db8:1:3::1'),
    from('2001:db8:1:2::1', 'bob'),
    on('phone', '2001:db8:1:2::1'),
  ]) {
    t.is((await guard.run(other, right)).outcome, 'passed');
  }
  t.is((await make('totp').run(from('2001:db8:1:2::1'), right)).outcome, 'passed');
});

test('A day has 60 failures of strangers, 40 of known devices and 20 of one, and forgets each after 24 hours', async (t) => {
  const { guard, clock } = given();
  const outcomes = async (tries: readonly Try[]) => {
    const counts = { failed: 0, throttled: 0, passed: 0 };
    for (const tried of tries) counts[(await guard.run(tried, wrong)).outcome] += 1;
    return counts;
  };
  const strangers = Array.from({ length: 80 }, (_, index) => from(`198.51.100.${index}`));
  const devices = (prefix: string) => Array.from({ length: 50 }, (_, index) => on(`${prefix}${index}`));
  t.deepEqual(await outcomes(strangers), { failed: 60, throttled: 20, passed: 0 });
  for (let count = 0; count < 25; count += 1) {
    clock.advance(20 * minute);
    await guard.run(on('phone'), wrong);
  }
  t.is((await guard.run(on('phone'), unchecked)).outcome, 'throttled');
  t.deepEqual(await outcomes(devices('tablet')), { failed: 20, throttled: 30, passed: 0 });
  clock.advance(dayMs + 15 * minute);
  t.deepEqual(await outcomes(strangers), { failed: 60, throttled: 20, passed: 0 });
  t.is((await guard.run(on('phone'), wrong)).outcome, 'failed');
});

test('One mail a day tells the owner that a day has no room, after the last failure or the first attempt without room', async (t) => {
  const { guard, make, clock, background } = given();
  let told = 0;
  const tell = () => Promise.resolve(void (told += 1));
  for (let day = 1; day <= 2; day += 1) {
    for (let index = 0; index < 59; index += 1)
      await guard.run({ ...from(`198.51.100.${index}`), tell }, wrong);
    await background.settled();
    t.is(told, day - 1);
    for (const process of [guard, make()]) {
      for (let index = 60; index < 65; index += 1)
        await process.run({ ...from(`198.51.100.${index}`), tell }, wrong);
      await background.settled();
      t.is(told, day);
    }
    clock.advance(dayMs + 15 * minute);
  }
});

test('A subject has one record of at most 100 clients, and strangers take no record of a device', async (t) => {
  const { guard, record, clock } = given({ of: guessing.sharePassword.failures.long });
  await guard.run(on('phone'), wrong);
  for (let index = 0; index < 6; index += 1) await guard.run(from('203.0.113.1'), wrong);
  for (let index = 0; index < 250; index += 1) {
    clock.advance(1);
    await guard.run(from(`198.51.100.${index}`), wrong);
  }
  t.is((await record())?.clients.length, 100);
  t.is((await record())?.clients.filter(({ key }) => key.startsWith('d')).length, 1);
  t.is((await guard.run(from('203.0.113.1'), unchecked)).outcome, 'throttled');
});

test('Five of 50 concurrent wrong guesses of a client in two processes are checked', async (t) => {
  const { guard, make } = given();
  const other = make();
  let checked = 0;
  const slowlyWrong = async () => {
    checked += 1;
    await turn();
    return null;
  };
  await Promise.all(
    Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? guard : other).run(ada, slowlyWrong)),
  );
  t.is(checked, 5);
});

test('An attempt without a decision leaves everything as it was, but any other error is a failure', async (t) => {
  const undecided = [new Overloaded('full'), new StoreUnavailable('away'), new KeyMissing('pepper p1')];
  for (const error of [...undecided, new Error('a bit of the hash is set that it should not')]) {
    const { guard, record, clock } = given();
    await guard.run(ada, wrong);
    const before = await record();
    clock.advance(1_000);
    await t.throwsAsync(
      guard.run(ada, () => Promise.reject(error)),
      { is: error },
    );
    const isUndecided = undecided.some((one) => one === error);
    const after = await record();
    if (isUndecided) t.deepEqual(after, before, error.name);
    else t.notDeepEqual(after, before);
  }
});

test('A failure during an attempt without a decision counts with its wait', async (t) => {
  const { guard, make, clock, record } = given();
  for (let index = 0; index < 3; index += 1) await guard.run(ada, wrong);
  const away = new StoreUnavailable('away');
  const undecided = async () => {
    clock.advance(1_000);
    t.is((await make().run(ada, wrong)).outcome, 'failed');
    throw away;
  };
  await t.throwsAsync(guard.run(ada, undecided), { is: away });
  t.like((await record())?.clients[0], { failures: 4, at: clock.now().getTime() });
});

test('A refused attempt writes nothing, and an attempt that is not admitted neither', async (t) => {
  let writes = 0;
  const { guard } = given({
    wrap: (store) => ({
      ...store,
      compareAndSet: (...parts) => {
        writes += 1;
        return store.compareAndSet(...parts);
      },
    }),
  });
  const full = new Overloaded('too many passwords are being checked');
  const admit = () => {
    throw full;
  };
  await t.throwsAsync(guard.run({ ...ada, admit }, unchecked), { is: full });
  t.is(writes, 0);
  for (let index = 0; index < 5; index += 1) await guard.run(ada, wrong);
  t.is(writes, 5);
  for (let index = 0; index < 9; index += 1) await guard.run({ ...ada, admit }, unchecked);
  t.is(writes, 5);
});

test('An attempt whose turn comes too late is refused unchecked, and leaves its turn to a later one', async (t) => {
  const { guard } = given({ turnMs: 5 });
  let end: (value: string) => void = () => undefined;
  const first = guard.run(ada, () => new Promise<string>((resolve) => (end = resolve)));
  await t.throwsAsync(guard.run(ada, unchecked), { instanceOf: Overloaded });
  // Of another subject it has no wait.
  t.is((await guard.run(from('198.51.100.1', 'bob'), right)).outcome, 'passed');
  end('session');
  t.is((await first).outcome, 'passed');
  t.is((await guard.run(ada, right)).outcome, 'passed');
});

test('No attempt is checked while the store is away, and a success counts when it goes away after the check', async (t) => {
  const away = () => Promise.reject(new StoreUnavailable('away'));
  for (const broken of [{ get: away }, { compareAndSet: away }]) {
    const { guard } = given({ wrap: (store) => ({ ...store, ...broken }) });
    await t.throwsAsync(guard.run(ada, unchecked), { instanceOf: StoreUnavailable });
  }
  let isAway = false;
  const { guard, record } = given({
    wrap: (store) => ({
      ...store,
      compareAndSet: (...parts) => (isAway ? away() : store.compareAndSet(...parts)),
    }),
  });
  const check = () => {
    isAway = true;
    return right();
  };
  t.is((await guard.run(ada, check)).outcome, 'passed');
  t.is((await record())?.clients.length, 1);
});

test('A record names no client, and expires with its last failure', async (t) => {
  const { guard, clock, stateStore } = given();
  await guard.run(ada, wrong);
  const [found] = await stateStore.list('', { limit: 1 });
  t.regex(found?.key ?? '', /^guessing\/[0-9a-f]{64}$/);
  t.notRegex(JSON.stringify(found?.value), /198\.51|ada/);
  t.true(await guard.hasFailures('ada'));
  clock.advance(dayMs + 15 * minute);
  t.false(await guard.hasFailures('ada'));
  t.deepEqual(await stateStore.list('', { limit: 10 }), []);
});

test('A clock that is set back by more than the longest wait refuses no client for the length of the step', async (t) => {
  const { guard, clock } = given();
  clock.advance(2 * dayMs);
  for (let count = 0; count < 20; count += 1) {
    const tried = await guard.run(ada, wrong);
    if (tried.outcome === 'throttled') clock.advance(tried.retryAfterSeconds * 1_000);
  }
  clock.advance(-2 * dayMs);
  t.is((await guard.run(ada, wrong)).outcome, 'failed');
  const next = await guard.run(ada, wrong);
  t.true(next.outcome === 'throttled' && next.retryAfterSeconds <= 900);
});

test('A full day of a clock that was ahead keeps no stranger out for the length of the step, and hides no later one', async (t) => {
  const { guard, clock, background } = given();
  let told = 0;
  const tell = () => Promise.resolve(void (told += 1));
  const stranger = (index: number) => ({ ...from(`198.51.100.${index}`), tell });
  const fill = async () => {
    for (let index = 0; index < 60; index += 1) await guard.run(stranger(index), wrong);
    await background.settled();
  };
  clock.advance(30 * dayMs);
  await fill();
  clock.advance(-30 * dayMs);
  t.is((await guard.run(stranger(100), right)).outcome, 'passed');
  await fill();
  t.is((await guard.run(stranger(101), unchecked)).outcome, 'throttled');
  t.is(told, 2);
});

test('A client gets at most 16 failures in any stretch of time, and one more for every 15 minutes of it', async (t) => {
  // These pauses end just when a failure is dropped or a wait ends.
  const exact = fc.integer({ min: 0, max: 10 }).map((n) => 1_000 * 2 ** n);
  const pause = fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 20 * minute }),
    exact,
    fc.constant(15 * minute),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(pause, { maxLength: 200 }), async (pauses) => {
      const unbounded = { known: { limit: 1_000 }, unknown: { limit: 1_000 } };
      const { guard, clock } = given({ of: { ...limits, day: unbounded } });
      const failed: number[] = [];
      for (const ms of pauses) {
        clock.advance(ms);
        if ((await guard.run(ada, wrong)).outcome === 'failed') failed.push(clock.now().getTime());
      }
      return failed.every((at, first) =>
        failed.slice(first).every((to, later) => later + 1 <= 15 + 1 + (to - at) / (15 * minute)),
      );
    }),
    { numRuns: 100 },
  );
  t.pass();
});

test('The embedded store keeps failures over a restart', async (t) => {
  const directory = givenDirectory(t);
  const clock = makeTestClock('2100-01-01T00:00:00.000Z');
  const background = makeBackground({ onFailure: () => undefined });
  const deps = { digests: makeDigests(Buffer.alloc(32, 1)), clock, background, name: 'password', limits };
  const open = async () => {
    const { stateStore, close } = await openState(directory, { clock });
    return { close, guard: makeGuard({ ...deps, stateStore }) };
  };
  const before = await open();
  await Promise.all(Array.from({ length: 20 }, () => before.guard.run(ada, wrong)));
  await before.close();
  const after = await open();
  t.teardown(after.close);
  t.like(await after.guard.run(ada, unchecked), { outcome: 'throttled', retryAfterSeconds: 1 });
});
