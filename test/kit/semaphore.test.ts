import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { makeSemaphore } from '../../src/kit/semaphore.js';

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
  const gone = semaphore.acquire(impatient.signal);
  const next = semaphore.acquire();
  impatient.abort(new Error('too long'));
  await t.throwsAsync(() => gone, { message: 'too long' });
  await t.throwsAsync(() => semaphore.acquire(impatient.signal), { message: 'too long' });
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
