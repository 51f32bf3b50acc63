import test from 'ava';
import { Overloaded } from '../../../src/kit/overloaded.js';
import { makeHashLane } from '../../../src/security/passwords/hash-lane.js';
import { type HashPool, makeHashPool } from '../../../src/security/passwords/hash-pool.js';
import { nativeScrypt } from '../../../src/security/passwords/scrypt.js';

const input = { password: Buffer.from('a'), salt: Buffer.alloc(16), N: 2, r: 1, p: 1, length: 32 };

test('Work outside a busy lane of the pool is hashed first', async (t) => {
  // On a machine under load the thread may take longer to start than the time limit of production.
  const pool = makeHashPool({ threads: 1, queue: 40, timeLimitMs: 60_000 });
  t.teardown(() => pool.close());
  const lane = makeHashLane(pool, 30);
  const order: string[] = [];
  const hash = async (through: HashPool, name: string): Promise<void> => {
    t.deepEqual(await through.hash(input), Buffer.from(nativeScrypt(input)));
    order.push(name);
  };
  const all = Array.from({ length: 30 }, (_, index) => hash(lane, `lane ${index}`));
  await t.throwsAsync(() => lane.hash(input), { instanceOf: Overloaded });
  await Promise.all([...all, hash(pool, 'other'), hash(pool, 'another')]);
  // One hash of the lane had begun.
  t.deepEqual(order.slice(0, 4), ['lane 0', 'other', 'another', 'lane 1']);
  t.is(order.at(-1), 'lane 29');
});

test('A hash that waits too long is refused and frees its place, and one under way ends', async (t) => {
  const slow = { ...input, N: 2 ** 15, r: 8, p: 3 };
  const pool = makeHashPool({ threads: 1, queue: 2, timeLimitMs: 30 });
  const first = pool.hash(slow);
  const waiting = [pool.hash(slow), pool.hash(slow, 'low')];
  for (const one of waiting) await t.throwsAsync(() => one, { instanceOf: Overloaded });
  // Its time is over, too. Its thread lives, because a new one would cost more than the rest of the work.
  t.deepEqual(await first, Buffer.from(nativeScrypt(slow)));
  t.true(pool.hasRoom());
  t.deepEqual(await pool.hash(input), Buffer.from(nativeScrypt(input)));
  await pool.close();
  await t.throwsAsync(() => pool.hash(input), { instanceOf: Overloaded });
});

test('Parameters that scrypt refuses are a defect without the input in its message', async (t) => {
  const pool = makeHashPool({ threads: 1, timeLimitMs: 60_000 });
  t.teardown(() => pool.close());
  const error = await t.throwsAsync(pool.hash({ ...input, N: 3, password: Buffer.from('canary') }));
  t.regex(error.message, /^scrypt failed: ERR_CRYPTO/);
  t.deepEqual(await pool.hash(input), Buffer.from(nativeScrypt(input)));
});
