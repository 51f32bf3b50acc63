import test from 'ava';
import { Overloaded } from '../../src/event-sourcing/errors.js';
import { makeHashLane } from '../../src/security/hash-lane.js';
import { makeHashPool } from '../../src/security/hash-pool.js';
import { makeTurns } from '../../src/security/hash-turns.js';
import { nativeScrypt } from '../../src/security/scrypt.js';

const input = { password: Buffer.from('a'), salt: Buffer.alloc(16), N: 2, r: 1, p: 1, length: 32 };
const never = new AbortController().signal;

test('the eager have their turn before the patient, each kind in the order it came', async (t) => {
  const turns = makeTurns(2);
  const order: string[] = [];
  const ends = [await turns.take('patient', never), await turns.take('eager', never)];
  const queued = (['patient', 'patient', 'eager', 'patient', 'eager'] as const).map(async (kind, index) => {
    const end = await turns.take(kind, never);
    order.push(`${kind} ${index}`);
    return end;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(order, []);
  // When one after the other ends
  for (let ended = 0; ended < queued.length; ended += 1) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
    t.is(order.length, ended + 1);
    ends.push(await Promise.race(queued.filter((_, index) => order.at(-1)?.endsWith(` ${index}`) === true)));
  }
  t.deepEqual(order, ['eager 2', 'eager 4', 'patient 0', 'patient 1', 'patient 3']);
});

test('whoever gives up waiting takes no turn, and a turn that has ended is free', async (t) => {
  const turns = makeTurns(1);
  const end = await turns.take('eager', never);
  const impatient = new AbortController();
  const gone = turns.take('eager', impatient.signal);
  const next = turns.take('patient', never);
  impatient.abort(new Error('too long'));
  await t.throwsAsync(() => gone, { message: 'too long' });
  await t.throwsAsync(() => turns.take('eager', impatient.signal), { message: 'too long' });
  end();
  (await next)();
  await t.notThrowsAsync(() => turns.take('eager', never));
});

test('of a pool with many who wait in a lane, others are hashed first', async (t) => {
  const pool = makeHashPool({ threads: 1, queue: 40 });
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
  // One of the lane had begun.
  t.deepEqual(order.slice(0, 4), ['lane 0', 'other', 'another', 'lane 1']);
  t.is(order.at(-1), 'lane 29');
});

test('what waits for too long is refused, and leaves its place', async (t) => {
  const slow = { ...input, N: 2 ** 15, r: 8, p: 3 };
  const pool = makeHashPool({ threads: 1, queue: 2, timeLimitMs: 30 });
  const waiting = [pool.hash(slow), pool.hash(slow), pool.hash(slow, 'patient')];
  for (const one of waiting) await t.throwsAsync(() => one, { instanceOf: Overloaded });
  t.true(pool.hasRoom());
  await pool.close();
  await t.throwsAsync(() => pool.hash(input), { instanceOf: Overloaded });
});

test('a hash that is handed to a thread which is just being ended, for another took too long, is made all the same', async (t) => {
  const pool = makeHashPool({ threads: 1, queue: 2, timeLimitMs: 3_000 });
  t.teardown(() => pool.close());
  // Given a thread that runs
  let warm = false;
  while (!warm)
    warm = await pool.hash(input).then(
      () => true,
      () => false,
    );
  // When the process hears of the end of a hash's time, and then that it is done, at the same moment: what is held up now goes
  // on with the timers
  await new Promise((resolve) => setImmediate(resolve));
  const late = pool.hash(input).catch((error: unknown) => error);
  await Promise.resolve();
  holdUp(2_500);
  const next = pool.hash(input);
  await Promise.resolve();
  holdUp(550);
  // Then the one gave up, and the other, which has time left, is not lost with its thread
  t.true((await late) instanceof Overloaded);
  t.deepEqual(await next, Buffer.from(nativeScrypt(input)));
});

/** Lets nothing else happen in this thread for so many milliseconds. */
function holdUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
