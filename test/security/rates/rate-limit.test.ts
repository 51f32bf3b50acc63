import test from 'ava';
import fc from 'fast-check';
import { ipBuckets } from '../../../src/security/rates/client-ip.js';
import {
  type NamedLimit,
  type RateVerdict,
  makeRateLimiter,
} from '../../../src/security/rates/rate-limit.js';
import { makeTestClock } from '../../support/fakes/clock.js';

function given<Name extends string>(limits: Record<Name, NamedLimit>, capacity = 1_000) {
  const clock = makeTestClock();
  return {
    clock,
    limiter: makeRateLimiter({ clock, limits, capacity }),
  };
}

/** Returns limit, remaining attempts and seconds. */
function figuresOf({ allowance }: RateVerdict): readonly number[] {
  return allowance === null ? [] : [allowance.limit, allowance.remaining, allowance.resetSeconds];
}

const allowed = { allowed: true, retryAfterSeconds: 0 };

test('The whole limit may pass at once, and then one more an interval', (t) => {
  const { limiter, clock } = given({ login: { limit: 20, seconds: 60 } });
  for (let index = 0; index < 20; index += 1) t.like(limiter.check('login', 'a'), allowed);
  t.like(limiter.check('login', 'a'), { allowed: false, retryAfterSeconds: 3 });
  t.like(limiter.check('login', 'b'), allowed, 'another key has its own limit');
  clock.advance(2_999);
  t.like(limiter.check('login', 'a'), { allowed: false, retryAfterSeconds: 1 });
  clock.advance(1);
  t.like(limiter.check('login', 'a'), allowed);
  t.like(limiter.check('login', 'a'), { allowed: false, retryAfterSeconds: 3 });
});

test('A verdict has the allowance that is left, and of a refusal the time until an attempt is allowed', (t) => {
  const { limiter, clock } = given({ login: { limit: 3, seconds: 60 } });
  const allowanceAt = () => figuresOf(limiter.check('login', 'a'));
  t.deepEqual(
    [allowanceAt(), allowanceAt(), allowanceAt(), allowanceAt()],
    [
      [3, 2, 20],
      [3, 1, 40],
      [3, 0, 60],
      [3, 0, 20],
    ],
  );
  clock.advance(39_999);
  t.deepEqual(allowanceAt(), [3, 0, 41]);
  clock.advance(60_000);
  t.deepEqual(allowanceAt(), [3, 2, 20]);
  t.is(limiter.probe('login', 'a').allowance, null);
});

test('Of several keys, the allowance is that of the key that is nearest to a refusal', (t) => {
  const { limiter } = given({ login: { limit: 2, seconds: 60 } });
  const keys = (home: string) => [
    { key: home, factor: 1 },
    { key: 'network', factor: 2 },
  ];
  const left = (home: string) => figuresOf(limiter.check('login', keys(home)));
  t.deepEqual(left('a'), [2, 1, 30]);
  t.deepEqual(left('b'), [2, 1, 30]);
  t.deepEqual(left('c'), [2, 1, 30], 'the first of two that are equally near');
  t.deepEqual(left('d'), [4, 0, 60]);
  t.deepEqual(left('e'), [4, 0, 15]);
  t.true(limiter.check('login', 'e').allowed, 'a refused attempt counts nowhere');
});

test('A step of the wall clock changes no limit', (t) => {
  const { limits, clock } = { limits: { login: { limit: 20, seconds: 60 } }, clock: makeTestClock() };
  const steadyMs = clock.now().getTime();
  const limiter = makeRateLimiter({ clock: { ...clock, steadyMs: () => steadyMs }, limits });
  // Given a client that has used half of its limit
  for (let index = 0; index < 10; index += 1) t.true(limiter.check('login', 'a').allowed);
  // When the clock is set forward and back
  clock.advance(2 * 86_400_000);
  const forward = limiter.probe('login', 'a');
  clock.advance(-4 * 86_400_000);
  // Then the client has the other half
  t.true(forward.allowed);
  for (let index = 0; index < 10; index += 1) t.true(limiter.check('login', 'a').allowed);
  t.like(limiter.check('login', 'a'), { allowed: false, retryAfterSeconds: 3 });
});

test('No stretch of time passes more than the limit and the requests that it earns, in all schedules', (t) => {
  const limits = fc.record({
    limit: fc.integer({ min: 1, max: 20 }),
    seconds: fc.integer({ min: 1, max: 100 }),
  });
  const pauses = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 30_000 })), { maxLength: 120 });
  fc.assert(
    fc.property(limits, pauses, (limit, schedule) => {
      const { limiter, clock } = given({ x: limit });
      const passed: number[] = [];
      for (const pause of schedule) {
        clock.advance(pause);
        if (limiter.check('x', 'k').allowed) passed.push(clock.now().getTime());
      }
      for (const [index, from] of passed.entries()) {
        for (const [later, to] of passed.slice(index).entries()) {
          const earned = ((to - from) / 1_000) * (limit.limit / limit.seconds);
          if (later + 1 > limit.limit + earned + 1e-6) return false;
        }
      }
      return true;
    }),
    { numRuns: 300 },
  );
  t.pass();
});

test('A client that waits as long as Retry-After passes', (t) => {
  const limits = fc.record({
    limit: fc.integer({ min: 1, max: 50 }),
    seconds: fc.integer({ min: 1, max: 3_600 }),
  });
  fc.assert(
    fc.property(limits, fc.array(fc.nat(5_000), { maxLength: 80 }), (limit, schedule) => {
      const { limiter, clock } = given({ x: limit });
      for (const pause of schedule) {
        clock.advance(pause);
        const verdict = limiter.check('x', 'k');
        if (verdict.allowed) continue;
        if (verdict.retryAfterSeconds < 1) return false;
        clock.advance(verdict.retryAfterSeconds * 1_000);
        if (!limiter.check('x', 'k').allowed) return false;
      }
      return true;
    }),
    { numRuns: 200 },
  );
  t.pass();
});

const counts = () => true;
const countsNot = () => false;

test('A reservation counts until its outcome is known, and returns it if the outcome does not count', (t) => {
  const { limiter, clock } = given({ register: { limit: 2, seconds: 60 } });
  const reserve = () => limiter.reserve([{ name: 'register', key: 'a' }]);
  const settle = (reservation: ReturnType<typeof reserve>, counted: () => boolean) => {
    if (reservation.allowed) reservation.settle(counted);
    return reservation.allowed;
  };
  for (let index = 0; index < 50; index += 1) t.true(settle(reserve(), countsNot));
  const [first, second] = [reserve(), reserve()];
  t.like(reserve(), { allowed: false, retryAfterSeconds: 30 }, 'two are running');
  t.false(limiter.check('register', 'a').allowed);
  settle(first, countsNot);
  clock.advance(10_000);
  settle(second, counts);
  t.true(limiter.check('register', 'a').allowed, 'one counted');
  t.like(reserve(), { allowed: false, retryAfterSeconds: 30 }, 'the request counts at its settling');
});

test('Reservations under several limits are taken under all or none, and counted separately', (t) => {
  const { limiter, clock } = given({ burst: { limit: 2, seconds: 60 }, day: { limit: 3, seconds: 86_400 } });
  const reserve = () =>
    limiter.reserve([
      { name: 'burst', key: 'a' },
      { name: 'day', key: 'a' },
    ]);
  const take = (counted: (name: string) => boolean = counts) => {
    const reservation = reserve();
    if (reservation.allowed) reservation.settle(counted);
    return reservation.allowed ? 'taken' : reservation.retryAfterSeconds;
  };
  t.deepEqual([take(), take()], ['taken', 'taken']);
  // The burst limit refuses these. If they counted for the day, its limit would be used up afterwards.
  for (let index = 0; index < 10; index += 1) t.is(take(), 30);
  clock.advance(60_000);
  t.is(take(), 'taken', 'the third request of the day');
  clock.advance(60_000);
  for (let index = 0; index < 10; index += 1) t.is(take(), 86_400 / 3 - 120);
  t.like(limiter.check('burst', 'a'), allowed, 'a refusal by the day does not count for the burst');
  t.like(limiter.check('burst', 'a'), allowed);
  t.false(limiter.check('burst', 'a').allowed);

  clock.advance(86_400_000);
  for (let index = 0; index < 20; index += 1)
    t.is(
      take((name) => name === 'other'),
      'taken',
    );
  t.is(
    take((name) => name === 'burst'),
    'taken',
  );
  t.true(limiter.check('burst', 'a').allowed);
  t.false(limiter.check('burst', 'a').allowed);
  for (let index = 0; index < 3; index += 1) t.true(limiter.check('day', 'a').allowed);
});

test('No stretch of time counts more requests of a duration than a limit and the requests that it earns', (t) => {
  const request = fc.record({
    pause: fc.oneof(fc.constant(0), fc.nat(20_000)),
    lasts: fc.nat(30_000),
    counted: fc.boolean(),
  });
  const limit = { limit: 4, seconds: 60, failsClosed: true };
  fc.assert(
    fc.property(fc.array(request, { maxLength: 100 }), (requests) => {
      const { limiter, clock } = given({ x: limit });
      const running: { readonly endMs: number; readonly end: () => void }[] = [];
      const countedAt: number[] = [];
      const runUntil = (untilMs: number) => {
        running.sort((a, b) => a.endMs - b.endMs);
        for (let next = running[0]; next !== undefined && next.endMs <= untilMs; next = running[0]) {
          running.shift();
          clock.advance(Math.max(0, next.endMs - clock.now().getTime()));
          next.end();
        }
        clock.advance(Math.max(0, untilMs - clock.now().getTime()));
      };
      for (const { pause, lasts, counted } of requests) {
        runUntil(clock.now().getTime() + pause);
        const reservation = limiter.reserve([{ name: 'x', key: 'k' }]);
        if (!reservation.allowed) continue;
        const end = () => {
          if (counted) countedAt.push(clock.now().getTime());
          reservation.settle(() => counted);
        };
        running.push({ endMs: clock.now().getTime() + lasts, end });
      }
      runUntil(clock.now().getTime() + 30_000);
      return countedAt.every((from, first) =>
        countedAt.slice(first).every((to, later) => later + 1 <= 4 + ((to - from) / 60_000) * 4 + 1e-6),
      );
    }),
    { numRuns: 500 },
  );
  t.pass();
});

test('An IPv6 client is limited by its /64, and its neighbours by ten times that on the /48', (t) => {
  const { limiter } = given({ x: { limit: 3, seconds: 60 } });
  const burst = (ip: string) =>
    Array.from({ length: 9 }, () => limiter.check('x', ipBuckets(ip)).allowed).filter(Boolean).length;
  t.is(burst('2001:db8:1:0::1'), 3);
  t.is(burst('2001:db8:1:0::2'), 0, 'the same /64');
  let total = 3;
  for (let network = 1; network < 20; network += 1) total += burst(`2001:db8:1:${network.toString(16)}::1`);
  t.is(total, 30);
  t.is(burst('2001:db8:2::1'), 3, 'another /48');
});

test('A limit that fails closed never passes too many requests, in tables of all sizes', (t) => {
  const limit = { limit: 3, seconds: 60, failsClosed: true };
  const visit = fc.record({ pause: fc.nat(4_000), network: fc.nat(3), host: fc.nat(9) });
  fc.assert(
    fc.property(fc.array(visit, { maxLength: 150 }), (visits) => {
      const small = given({ x: limit }, 12);
      const large = given({ x: limit }, 1_000);
      for (const { pause, network, host } of visits) {
        const buckets = ipBuckets(`2001:db8:${network}:${host}::1`);
        for (const { clock } of [small, large]) clock.advance(pause);
        // The large table, which drops no key, counts the requests that the small table passes.
        if (!small.limiter.check('x', buckets).allowed) continue;
        if (!large.limiter.check('x', buckets).allowed) return false;
      }
      return true;
    }),
    { numRuns: 200 },
  );
  t.pass();
});

test('Keys with names of object properties, and names that end like keys, are keys like others', (t) => {
  const { limiter } = given({ a: { limit: 1, seconds: 60 }, 'a b': { limit: 1, seconds: 60 } });
  for (const key of ['__proto__', 'constructor', 'toString', '']) {
    t.true(limiter.check('a', key).allowed);
    t.false(limiter.check('a', key).allowed);
  }
  t.true(limiter.check('a', 'b x').allowed);
  t.true(limiter.check('a b', 'x').allowed);
});

test('A full table drops keys that no longer count before those that do', (t) => {
  const { limiter, clock } = given({ x: { limit: 2, seconds: 60, failsClosed: true } }, 6);
  for (let index = 0; index < 2; index += 1) limiter.check('x', 'exhausted');
  limiter.check('x', 'light-1');
  limiter.check('x', 'light-2');
  clock.advance(30_000);
  t.true(limiter.check('x', 'new-1').allowed, 'it takes the place of a light key');
  t.true(limiter.check('x', 'new-2').allowed, 'it takes the place of the other light key');
  t.false(limiter.check('x', 'new-3').allowed, 'no room is left');
  t.true(limiter.check('x', 'exhausted').allowed, 'it has earned a request since');
  t.false(limiter.check('x', 'exhausted').allowed, 'the oldest key was not dropped');
});

test('Keys that count and were quiet for long do not block the table', (t) => {
  const { limiter, clock } = given({ x: { limit: 2, seconds: 60, failsClosed: true } }, 40);
  for (let index = 0; index < 10; index += 1) {
    for (let times = 0; times < 2; times += 1) limiter.check('x', `exhausted-${index}`);
  }
  for (let index = 0; index < 10; index += 1) limiter.check('x', `light-${index}`);
  clock.advance(30_000);
  limiter.check('x', 'new');
  t.true(limiter.check('x', 'new').allowed);
  for (let index = 0; index < 10; index += 1) {
    t.true(limiter.check('x', `exhausted-${index}`).allowed);
    t.false(limiter.check('x', `exhausted-${index}`).allowed);
  }
});

test('A table full of counting keys refuses new keys only under limits that fail closed', (t) => {
  const { limiter, clock } = given(
    { login: { limit: 2, seconds: 60, failsClosed: true }, list: { limit: 2, seconds: 60 } },
    20,
  );
  for (let index = 0; index < 10; index += 1) limiter.check('login', `k${index}`);
  t.like(limiter.check('login', 'new'), { allowed: false, retryAfterSeconds: 1 });
  t.true(limiter.check('login', 'k3').allowed, 'known keys still pass');
  for (let index = 0; index < 50; index += 1) t.true(limiter.check('list', `l${index}`).allowed);
  t.false(limiter.check('login', 'k3').allowed, 'a flood under another limit does not drop them');
  clock.advance(60_000);
  t.true(limiter.check('login', 'new').allowed);
});
