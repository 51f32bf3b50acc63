import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { Overloaded, makeKeyedSemaphore, makeSemaphore } from '../../src/kit/semaphore.js';

test('A semaphore serves waiting callers in the order of their calls', async (t) => {
  const semaphore = makeSemaphore(2);
  const order: number[] = [];
  const held = [await semaphore.acquire(), await semaphore.acquire()];
  const queued = [0, 1, 2, 3].map(async (index) => {
    const release = await semaphore.acquire();
    order.push(index);
    return release;
  });
  await setImmediate();
  t.deepEqual(order, []);
  // When one after the other ends
  for (let ended = 0; ended < queued.length; ended += 1) {
    held.shift()?.();
    const release = await queued[ended];
    t.is(order.length, ended + 1);
    if (release !== undefined) held.push(release);
  }
  t.deepEqual(order, [0, 1, 2, 3]);
});

test('A caller that gives up takes no permit, and a permit that was given back is free', async (t) => {
  const semaphore = makeSemaphore(1);
  const release = await semaphore.acquire();
  const impatient = new AbortController();
  const gone = semaphore.acquire({ signal: impatient.signal });
  const next = semaphore.acquire();
  impatient.abort(new Error('too long'));
  await t.throwsAsync(() => gone, { message: 'too long' });
  await t.throwsAsync(() => semaphore.acquire({ signal: impatient.signal }), { message: 'too long' });
  release();
  (await next)();
  await t.notThrowsAsync(() => semaphore.acquire());
});

test('A semaphore runs as much work at once as it has permits, also after work that fails', async (t) => {
  const semaphore = makeSemaphore(2);
  let [running, most] = [0, 0];
  const work = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await setImmediate();
    running -= 1;
    throw new Error('no');
  };
  const all = Array.from({ length: 9 }, () => semaphore.run(work));
  for (const one of all) await t.throwsAsync(one, { message: 'no' });
  t.is(most, 2);
  t.is(await semaphore.run(() => Promise.resolve('yes')), 'yes');
});

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
  // The permits of another key are free.
  (await semaphore.acquire('b'))();
  await t.throwsAsync(semaphore.acquire('a'), { instanceOf: Overloaded });
  for (const [ended, waiting] of queued.entries()) {
    held.shift()?.();
    held.push(await waiting);
    t.is(begun.length, ended + 1);
  }
  t.deepEqual(begun, [0, 1, 2]);
});

test('A caller that leaves the line of a key makes room for another, and a free key has all its permits', async (t) => {
  const semaphore = makeKeyedSemaphore({ permits: 1, waitingMax: 1 });
  const impatient = new AbortController();
  const release = await semaphore.acquire('a', impatient.signal);
  const gone = semaphore.acquire('a', impatient.signal);
  impatient.abort(new Error('gone'));
  await t.throwsAsync(gone, { message: 'gone' });
  const next = semaphore.acquire('a');
  await t.throwsAsync(semaphore.acquire('a'), { instanceOf: Overloaded });
  release();
  (await next)();
  (await semaphore.acquire('a'))();
});
