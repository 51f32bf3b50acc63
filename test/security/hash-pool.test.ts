import test from 'ava';
import { Overloaded } from '../../src/concurrency/overloaded.js';
import { makeHashLane } from '../../src/security/hash-lane.js';
import { makeHashPool } from '../../src/security/hash-pool.js';
import { nativeScrypt } from '../../src/security/scrypt.js';

const input = { password: Buffer.from('a'), salt: Buffer.alloc(16), N: 2, r: 1, p: 1, length: 32 };

test('Work outside a busy lane of the pool is hashed first', async (t) => {
  // On a machine under load the thread may take longer to start than the time limit of production.
  const pool = makeHashPool({ threads: 1, queue: 40, timeLimitMs: 60_000 });
  t.teardown(() => pool.close());
  const lane = makeHashLane(pool, 30);
  const order: string[] = [];
  const hash = async (through: typeof pool, name: string): Promise<void> => {
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

test('A hash that waits too long is refused and frees its place', async (t) => {
  const slow = { ...input, N: 2 ** 15, r: 8, p: 3 };
  const pool = makeHashPool({ threads: 1, queue: 2, timeLimitMs: 30 });
  const waiting = [pool.hash(slow), pool.hash(slow), pool.hash(slow, 'low')];
  for (const one of waiting) await t.throwsAsync(() => one, { instanceOf: Overloaded });
  t.true(pool.hasRoom());
  await pool.close();
  await t.throwsAsync(() => pool.hash(input), { instanceOf: Overloaded });
});

test('A hash that is given to a thread at its termination is computed by another thread', async (t) => {
  const pool = makeHashPool({ threads: 1, queue: 2, timeLimitMs: 3_000 });
  t.teardown(() => pool.close());
  // Given a running thread
  let warm = false;
  while (!warm)
    warm = await pool.hash(input).then(
      () => true,
      () => false,
    );
  // When the process learns at the same moment that the time of a hash is over and that the hash is done. The event
  // loop handles the timers first after a block.
  await new Promise((resolve) => setImmediate(resolve));
  const late = pool.hash(input).catch((error: unknown) => error);
  await Promise.resolve();
  holdUp(2_500);
  const next = pool.hash(input);
  await Promise.resolve();
  holdUp(550);
  // Then the first hash has timed out, and the second one, which has time left, is not lost with its thread
  t.true((await late) instanceof Overloaded);
  t.deepEqual(await next, Buffer.from(nativeScrypt(input)));
});

/** Blocks this thread for a number of milliseconds. */
function holdUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
