import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { makeKeyedSemaphore } from '../../src/kit/keyed-semaphore.js';
import { Overloaded } from '../../src/kit/overloaded.js';

test('A keyed semaphore bounds the callers of each key, and serves the waiting ones in call order', async (t) => {
  const semaphore = makeKeyedSemaphore({ permits: 2, waitingMax: 3 });
  const begun: number[] = [];
  const held = [await semaphore.acquire('a'), await semaphore.acquire('a')];
  const queued = [0, 1, 2].map(async (index) => {
    const release = await semaphore.acquire('a');
    begun.push(index);
    return release;
  });
  await setImmediate();
  t.deepEqual(begun, []);
  // The places of another key are free.
  (await semaphore.acquire('b'))();
  t.throws(() => semaphore.acquire('a'), { instanceOf: Overloaded });
  for (const [ended, waiting] of queued.entries()) {
    held.shift()?.();
    held.push(await waiting);
    t.is(begun.length, ended + 1);
  }
  t.deepEqual(begun, [0, 1, 2]);
});

test('A caller that leaves the line of a key makes room for another, and a free key has all its places', async (t) => {
  const semaphore = makeKeyedSemaphore({ permits: 1, waitingMax: 1 });
  const release = await semaphore.acquire('a', () => {
    throw new Error('a caller that does not wait needs no signal');
  });
  const impatient = new AbortController();
  const gone = semaphore.acquire('a', () => impatient.signal);
  impatient.abort(new Error('gone'));
  await t.throwsAsync(async () => gone, { message: 'gone' });
  const next = semaphore.acquire('a');
  t.throws(() => semaphore.acquire('a'), { instanceOf: Overloaded });
  release();
  (await next)();
  (await semaphore.acquire('a'))();
});

test('A caller that finds a free permit waits for no promise', (t) => {
  const semaphore = makeKeyedSemaphore({ permits: 1, waitingMax: 1 });
  const release = semaphore.acquire('a');
  t.is(typeof release, 'function');
  t.true(semaphore.acquire('a') instanceof Promise);
});
