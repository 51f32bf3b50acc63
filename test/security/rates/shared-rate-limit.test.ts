import test from 'ava';
import { OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { makeDigests } from '../../../src/keys/sealing/digests.js';
import { makeSharedRateLimiter, type SharedVerdict } from '../../../src/security/rates/shared-rate-limit.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';

const limits = { few: { limit: 3, seconds: 60 }, many: { limit: 50, seconds: 3_600 } };

/** Given two processes over one store. */
function given({ wrap = (store: StateStore): StateStore => store } = {}) {
  const clock = makeTestClock();
  const stateStore = makeMemoryStateStore({ clock });
  const digests = makeDigests(Buffer.alloc(32, 1));
  const make = () => makeSharedRateLimiter({ limits, stateStore: wrap(stateStore), digests, clock });
  return { clock, stateStore, one: make(), other: make() };
}

const few = { name: 'few', key: 'ada' } as const;
const waitOf = (verdict: SharedVerdict<'few' | 'many'>) => (verdict.allowed ? 0 : verdict.retryAfterSeconds);

test('The limit passes at once, and then one for each part of its time, over all processes', async (t) => {
  const { clock, one, other } = given();
  for (const limiter of [one, other, one]) t.true((await limiter.take([few])).allowed);
  t.deepEqual(await other.take([few]), { allowed: false, name: 'few', retryAfterSeconds: 20 });
  t.true((await other.take([{ ...few, key: 'bob' }])).allowed, 'another key has its own limit');
  clock.advance(19_001);
  t.is(waitOf(await one.take([few])), 1);
  clock.advance(999);
  t.is(waitOf(await one.take([few])), 0);
  t.is(waitOf(await other.take([few])), 20);
});

test('A claim of several counts all of them or none', async (t) => {
  const { clock, one, other } = given();
  t.true((await one.take([{ ...few, times: 2 }])).allowed);
  // When two more do not fit, then none counts, also not under the other claim
  const many = { name: 'many', key: 'ada' } as const;
  t.is(waitOf(await other.take([many, { ...few, times: 2 }])), 20);
  for (let times = 0; times < 50; times += 1) t.true((await one.take([many])).allowed);
  t.true((await other.take([few])).allowed);
  clock.advance(40_000);
  t.true((await one.take([{ ...few, times: 2 }])).allowed);
  t.is(waitOf(await one.take([{ ...few, times: 3 }])), 60);
});

test('A claim of more than the limit passes when the whole limit is free, as Retry-After says', async (t) => {
  // Given an operator who has set a limit below what one request may claim
  const { clock, one, other } = given();
  const mails = { ...few, times: 10 };
  t.true((await one.take([few])).allowed);
  // When the client waits as the refusal says, then it passes
  const waitSeconds = waitOf(await other.take([mails]));
  t.is(waitSeconds, 20);
  clock.advance(waitSeconds * 1_000);
  t.true((await other.take([mails])).allowed);
  t.is(waitOf(await one.take([few])), 20);
});

test('A clock that is set back by two days delays no key by more than one interval', async (t) => {
  const { clock, stateStore, one, other } = given();
  // Given a key at its limit, written while the clock was two days ahead
  clock.advance(2 * 86_400_000);
  for (let count = 0; count < 3; count += 1) await one.take([few]);
  // When the clock is right again, then it waits for one interval and not for two days
  clock.advance(-2 * 86_400_000);
  t.is(waitOf(await other.take([few])), 20);
  clock.advance(20_000);
  t.is(waitOf(await one.take([few])), 0);
  // and no record outlives its period
  clock.advance(60_001);
  t.deepEqual(await stateStore.list('', { limit: 10 }), []);
});

test('As many of 100 concurrent requests pass as the limit allows', async (t) => {
  const { one, other } = given();
  const key = { name: 'many', key: 'ada' } as const;
  // Each turn has as many requests at once as one race may have losers.
  let passed = 0;
  for (let turn = 0; turn < 10; turn += 1) {
    const verdicts = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? one : other).take([key])),
    );
    passed += verdicts.filter(({ allowed }) => allowed).length;
  }
  t.is(passed, 50);
});

test('A request that one claim refuses counts for none, and the error names the longest wait', async (t) => {
  const { one } = given();
  for (let n = 0; n < 3; n += 1) await one.take([few]);
  const both = [{ name: 'many', key: 'ada' }, few] as const;
  t.deepEqual(await one.take(both), { allowed: false, name: 'few', retryAfterSeconds: 20 });
  for (let n = 0; n < 50; n += 1) t.true((await one.take([both[0]])).allowed);
  t.deepEqual(await one.take(both), { allowed: false, name: 'many', retryAfterSeconds: 72 });
});

test('No request passes while the store is away, and a write with an unknown outcome is repeated', async (t) => {
  const away = () => Promise.reject(new StoreUnavailable('away'));
  for (const broken of [{ get: away }, { compareAndSet: away }]) {
    const { one } = given({ wrap: (store) => ({ ...store, ...broken }) });
    await t.throwsAsync(one.take([few]), { instanceOf: StoreUnavailable });
  }
  let unknown = 1;
  const { one } = given({
    wrap: (store) => ({
      ...store,
      compareAndSet: (...parts) =>
        unknown-- > 0 ? Promise.reject(new OutcomeUnknown('lost')) : store.compareAndSet(...parts),
    }),
  });
  t.true((await one.take([few])).allowed);
});

test('A record contains no name and expires when it no longer counts', async (t) => {
  const { clock, stateStore, one } = given();
  await one.take([few]);
  const [record, ...others] = await stateStore.list('', { limit: 10 });
  t.deepEqual(others, []);
  t.regex(record?.key ?? '', /^limit\/[0-9a-f]{64}$/);
  t.notRegex(JSON.stringify(record), /ada/);
  clock.advance(20_001);
  t.deepEqual(await stateStore.list('', { limit: 10 }), []);
});
