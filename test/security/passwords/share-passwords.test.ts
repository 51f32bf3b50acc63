import test from 'ava';
import { Overloaded } from '../../../src/kit/overloaded.js';
import { makeDigests } from '../../../src/keys/sealing/digests.js';
import { makeKeyring } from '../../../src/keys/rings/keyring.js';
import { refuseWhenFull } from '../../../src/areas/shares/commands/refuse-when-full.js';
import { TooManyAttempts } from '../../../src/areas/shared/rejections.js';
import { makeHashPool } from '../../../src/security/passwords/hash-pool.js';
import { parsePasswordHash } from '../../../src/security/passwords/password-hash.js';
import { guessing } from '../../../src/security/guessing/guessing.js';
import { makeSharePasswords } from '../../../src/security/passwords/share-passwords.js';
import { type Level, makeSharedRateLimiter } from '../../../src/security/rates/shared-rate-limit.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';

const peppers = makeKeyring([{ kid: 'p1', key: Buffer.alloc(32, 1) }]);
const randomBytes = (size: number): Buffer => Buffer.alloc(size, 2);

test('Passwords of shares are hashed with scrypt N=2^14, r=8, p=1', async (t) => {
  const pool = makeHashPool(guessing.sharePassword.pool);
  t.teardown(() => pool.close());
  const { fresh, suspect } = makeSharePasswords({ pool, peppers, randomBytes });
  const hash = await fresh.hash('open sesame');
  t.like(parsePasswordHash(hash), { N: 16_384, r: 8, p: 1 });
  t.true((await suspect.verify('open sesame', hash)).matches);
  t.false((await fresh.verify('open sesam', hash)).matches);
});

test('A blocked pool queues 64 attempts of suspect clients and 130 in all, and refuses the next', async (t) => {
  let waiting = 0;
  const stuck = {
    hash: () => {
      if (waiting === 130) throw new Overloaded('full');
      waiting += 1;
      return new Promise<Buffer>(() => undefined);
    },
    hasRoom: () => true,
    close: () => Promise.resolve(),
  };
  const { fresh, suspect } = makeSharePasswords({ pool: stuck, peppers, randomBytes });
  for (let tried = 0; tried < 64; tried += 1) void suspect.verifyNone('guess');
  await t.throwsAsync(() => suspect.verifyNone('guess'), { instanceOf: Overloaded });
  for (let tried = 0; tried < 66; tried += 1) void fresh.verifyNone('try');
  const error = await t.throwsAsync(() => refuseWhenFull(async () => fresh.verifyNone('try')), {
    instanceOf: TooManyAttempts,
  });
  t.is(error.retryAfterSeconds, 2);
  t.is(waiting, 130);
});

test('The pressure on a subject sums all clients, is high from 30 failures on, and passes', async (t) => {
  const clock = makeTestClock();
  const stateStore = makeMemoryStateStore({ clock });
  let writes = 0;
  const counted: typeof stateStore = {
    ...stateStore,
    compareAndSet: (...parts) => {
      writes += 1;
      return stateStore.compareAndSet(...parts);
    },
  };
  const limiter = makeSharedRateLimiter({
    kind: 'pressure',
    limits: { share: { limit: 30, seconds: 900 } },
    ...{ stateStore: counted, digests: makeDigests(Buffer.alloc(32, 1)), clock },
  });
  const pressureOf = async (level: Promise<Level>) => {
    const { counted, retryAfterMs } = await level;
    return { failures: counted, isHigh: retryAfterMs > 0 };
  };
  const pressure = {
    of: (key: string) => pressureOf(limiter.level({ name: 'share', key })),
    count: (key: string) => pressureOf(limiter.count({ name: 'share', key })),
  };
  t.deepEqual(await pressure.of('a share'), { failures: 0, isHigh: false });
  for (let failed = 1; failed < 30; failed += 1) {
    t.deepEqual(await pressure.count('a share'), { failures: failed, isHigh: false });
  }
  t.deepEqual(await pressure.count('a share'), { failures: 30, isHigh: true });
  // More failures write nothing, and other subjects keep their counts.
  t.deepEqual(await pressure.count('a share'), { failures: 30, isHigh: true });
  t.is(writes, 30);
  t.deepEqual(await pressure.of('another'), { failures: 0, isHigh: false });
  clock.advance(29_999);
  t.true((await pressure.of('a share')).isHigh);
  clock.advance(1);
  t.deepEqual(await pressure.of('a share'), { failures: 29, isHigh: false });
  clock.advance(900_000);
  t.deepEqual(await pressure.of('a share'), { failures: 0, isHigh: false });
});
