import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { Overloaded } from '../../../src/kit/overloaded.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { KeyMissing } from '../../../src/keys/sealing/errors.js';
import { makeDigests } from '../../../src/keys/sealing/digests.js';
import { guessing } from '../../../src/security/guessing/guessing.js';
import { makeGuardedTries } from '../../../src/security/guessing/guarded-tries.js';
import { TryPutOff } from '../../../src/security/guessing/undecided.js';
import { openStateStore } from '../../../src/stores/embedded/writing/state-store.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { makeContext, makeDirectory } from '../../support/servers/embedded-directory.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';

const ada = { subject: 'digest of ada', clientIp: '198.51.100.1' };
const wrong = () => Promise.resolve(null);
const right = () => Promise.resolve('session');

function given({ wrap = (store: StateStore) => store, name = 'login' } = {}) {
  const clock = makeTestClock();
  const stateStore = makeMemoryStateStore({ clock });
  const digests = makeDigests(Buffer.alloc(32, 1));
  const make = (of: string) =>
    makeGuardedTries({
      name: of,
      limits: guessing.password.failures.limits,
      stateStore: wrap(stateStore),
      digests,
      clock,
    });
  return { clock, stateStore, tries: make(name), make };
}

test('A client that has failed five times waits, and the check does not run', async (t) => {
  const { tries, clock } = given();
  for (let index = 0; index < 5; index += 1) t.deepEqual(await tries.run(ada, wrong), { outcome: 'failed' });
  const unexpected = () => {
    t.fail('the check ran');
    return right();
  };
  t.deepEqual(await tries.run(ada, unexpected), { outcome: 'throttled', retryAfterSeconds: 1 });
  clock.advance(1_000);
  t.deepEqual(await tries.run(ada, right), { outcome: 'passed', value: 'session' });
});

test('A success clears the failures of its client', async (t) => {
  const { tries, stateStore } = given();
  for (let index = 0; index < 4; index += 1) await tries.run(ada, wrong);
  await tries.run(ada, right);
  t.deepEqual(await stateStore.list('', { limit: 10 }), []);
  for (let index = 0; index < 5; index += 1) t.is((await tries.run(ada, wrong)).outcome, 'failed');
  t.is((await tries.run(ada, wrong)).outcome, 'throttled');
});

test('The failures of a client throttle neither other clients nor the same client at another subject', async (t) => {
  const { tries, make } = given();
  for (let index = 0; index < 6; index += 1) await tries.run(ada, wrong);
  t.is((await tries.run(ada, right)).outcome, 'throttled');
  t.is((await tries.run({ ...ada, clientIp: '198.51.100.2' }, right)).outcome, 'passed');
  t.is((await tries.run({ ...ada, subject: 'digest of bob' }, right)).outcome, 'passed');
  t.is((await tries.run({ ...ada, clientIp: null }, right)).outcome, 'passed', 'null counts separately');
  t.is((await make('two-factor').run(ada, right)).outcome, 'passed');
});

test('All addresses of an IPv6 /64 are one client', async (t) => {
  const { tries } = given();
  for (let host = 0; host < 5; host += 1) {
    await tries.run({ ...ada, clientIp: `2001:db8:1:2::${host.toString(16)}` }, wrong);
  }
  t.is((await tries.run({ ...ada, clientIp: '2001:db8:1:2:ffff::1' }, right)).outcome, 'throttled');
  t.is((await tries.run({ ...ada, clientIp: '2001:db8:1:3::1' }, right)).outcome, 'passed');
});

test('Five of 50 concurrent wrong guesses in two processes are checked', async (t) => {
  const { tries, make } = given();
  const other = make('login');
  let checked = 0;
  const slowlyWrong = async () => {
    checked += 1;
    await turn();
    return null;
  };
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? tries : other).run(ada, slowlyWrong)),
  );
  t.is(checked, 5);
  t.is(outcomes.filter((each) => each.outcome === 'throttled').length, 45);
});

test('An attempt without a decision is no failure, but any other error is one, because it may depend on the secret', async (t) => {
  const cases: readonly { readonly error: Error; readonly outcome: 'passed' | 'throttled' }[] = [
    { error: new Overloaded('too many passwords are being checked'), outcome: 'passed' },
    { error: new StoreUnavailable('away'), outcome: 'passed' },
    { error: new KeyMissing('pepper p1 is not in PEPPERS; put it back'), outcome: 'passed' },
    { error: new TryPutOff(60), outcome: 'passed' },
    { error: new Error('the stored hash has a bit set that it should not'), outcome: 'throttled' },
  ];
  for (const { error, outcome } of cases) {
    const { tries } = given();
    for (let index = 0; index < 5; index += 1) {
      await t.throwsAsync(
        tries.run(ada, () => Promise.reject(error)),
        { is: error },
      );
    }
    t.is((await tries.run(ada, right)).outcome, outcome, error.name);
  }
});

test('An attempt without a decision leaves the wait unchanged', async (t) => {
  const { tries, clock, stateStore } = given();
  for (let index = 0; index < 5; index += 1) await tries.run(ada, wrong);
  clock.advance(1_000);
  await tries.run(ada, wrong);
  const [before] = await stateStore.list('', { limit: 1 });
  clock.advance(10_000);
  const putOff = new TryPutOff(60);
  const meet = () => tries.run(ada, () => Promise.reject(putOff));
  for (let index = 0; index < 3; index += 1) await t.throwsAsync(meet, { is: putOff });
  const [after] = await stateStore.list('', { limit: 1 });
  t.deepEqual([after?.value, after?.expiresAt], [before?.value, before?.expiresAt]);
  t.is((await tries.run(ada, right)).outcome, 'passed');
});

test('A failure during an attempt without a decision counts with its wait', async (t) => {
  const { tries, clock, stateStore, make } = given();
  for (let index = 0; index < 3; index += 1) await tries.run(ada, wrong);
  clock.advance(10_000);
  const away = new StoreUnavailable('away');
  const undecided = async () => {
    clock.advance(1_000);
    t.is((await make('login').run(ada, wrong)).outcome, 'failed');
    throw away;
  };
  await t.throwsAsync(tries.run(ada, undecided), { is: away });
  const [record] = await stateStore.list('', { limit: 1 });
  t.deepEqual(record?.value, { failures: 4, last_at: clock.now().toISOString() });
});

test('The successes of an owner, which withdraw only their own attempt, give a guesser no more guesses', async (t) => {
  const clock = makeTestClock();
  const stateStore = makeMemoryStateStore({ clock });
  const digests = makeDigests(Buffer.alloc(32, 1));
  const { limits } = guessing.secondFactor.accountFailures;
  const tries = makeGuardedTries({
    name: 'account',
    limits,
    stateStore,
    digests,
    clock,
    onSuccess: 'withdraw',
  });
  const account = { subject: 'ada', clientIp: null };
  const guesses = [0, 0, 0];
  let passed = 0;
  const minutesOfDay = 24 * 60;
  for (let minute = 0; minute < guesses.length * minutesOfDay; minute += 1) {
    // The owner tries first whenever codes are not put off. Then a guesser tries until they are.
    if ((await tries.run(account, right)).outcome === 'passed') passed += 1;
    const today = Math.floor(minute / minutesOfDay);
    while ((await tries.run(account, wrong)).outcome === 'failed') guesses[today] = (guesses[today] ?? 0) + 1;
    clock.advance(60_000);
  }
  t.true(passed >= 3 * 96, `${passed} right codes`);
  t.deepEqual(guesses, [128, 96, 96]);
});

test('A refused attempt is not checked and writes nothing, and a throttled one does not ask for admission', async (t) => {
  let writes = 0;
  const { tries, stateStore } = given({
    wrap: (store) => ({
      ...store,
      compareAndSet: (...parts) => {
        writes += 1;
        return store.compareAndSet(...parts);
      },
    }),
  });
  const full = new Overloaded('too many passwords are being checked');
  const told: number[] = [];
  const refuse = (failures: number): never => {
    told.push(failures);
    throw full;
  };
  const unasked = () => {
    t.fail('the check ran');
    return right();
  };
  await t.throwsAsync(tries.run(ada, unasked, refuse), { is: full });
  t.is(writes, 0);
  for (let index = 0; index < 4; index += 1) await tries.run(ada, wrong, () => undefined);
  writes = 0;
  await t.throwsAsync(tries.run(ada, unasked, refuse), { is: full });
  t.is(writes, 0);
  await tries.run(ada, wrong);
  t.is((await tries.run(ada, unasked, refuse)).outcome, 'throttled');
  t.deepEqual(told, [0, 4]);
  t.is((await stateStore.list('', { limit: 10 })).length, 1);
});

test('No attempt is checked while the store is away', async (t) => {
  const away = () => Promise.reject(new StoreUnavailable('away'));
  for (const broken of [{ get: away }, { compareAndSet: away }]) {
    const { tries } = given({ wrap: (store) => ({ ...store, ...broken }) });
    const check = () => {
      t.fail('the check ran');
      return right();
    };
    await t.throwsAsync(tries.run(ada, check), { instanceOf: StoreUnavailable });
  }
});

test('A success counts when the store goes away after the check, and its advance failure stays', async (t) => {
  let isAway = false;
  const { tries, stateStore } = given({
    wrap: (store) => ({
      ...store,
      get: (key) => (isAway ? Promise.reject(new StoreUnavailable('away')) : store.get(key)),
    }),
  });
  const check = () => {
    isAway = true;
    return right();
  };
  t.is((await tries.run(ada, check)).outcome, 'passed');
  t.is((await stateStore.list('tries/', { limit: 10 })).length, 1);
});

test('A record contains no name and expires when its failures no longer count', async (t) => {
  const { tries, stateStore, clock } = given();
  await tries.run(ada, wrong);
  const [record, ...others] = await stateStore.list('', { limit: 10 });
  t.deepEqual(others, []);
  t.regex(record?.key ?? '', /^tries\/[0-9a-f]{64}$/);
  t.deepEqual(record?.value, { failures: 1, last_at: clock.now().toISOString() });
  clock.advance(15 * 60_000 - 1);
  t.is((await stateStore.list('', { limit: 10 })).length, 1);
  clock.advance(1);
  t.is((await stateStore.list('', { limit: 10 })).length, 0);
});

test('A client at its limit of 20 attempts a minute has at most 320 records', async (t) => {
  const { tries, stateStore, clock } = given();
  let most = 0;
  for (let index = 0; index < 1_200; index += 1) {
    clock.advance(3_000);
    // Most accounts are new. A few are tried as often as possible.
    const subject = index % 3 === 0 ? `account ${index % 24}` : `account ${1_000 + index}`;
    await tries.run({ ...ada, subject }, wrong);
    if (index % 50 === 0) most = Math.max(most, (await stateStore.list('', { limit: 2_000 })).length);
  }
  t.true(most > 100 && most <= 320, `${most}`);
});

test('The embedded store keeps failures over a restart', async (t) => {
  const { directory, remove } = makeDirectory();
  t.teardown(remove);
  const clock = makeTestClock('2100-01-01T00:00:00.000Z');
  const digests = makeDigests(Buffer.alloc(32, 1));
  const open = async () => {
    const stateStore = await openStateStore(makeContext(directory, { clock }));
    const tries = makeGuardedTries({
      name: 'login',
      limits: guessing.password.failures.limits,
      stateStore,
      digests,
      clock,
    });
    return { stateStore, tries };
  };
  const before = await open();
  await Promise.all(Array.from({ length: 20 }, () => before.tries.run(ada, wrong)));
  await before.stateStore.close();
  const after = await open();
  t.teardown(() => after.stateStore.close());
  t.deepEqual(await after.tries.run(ada, right), { outcome: 'throttled', retryAfterSeconds: 1 });
});
