import test from 'ava';
import { withTimeLimit } from '../../src/kit/time/time-limit.js';

/** A clock whose time is over when the test says so, and which counts the waits that were ended before. */
function givenClock(kind: 'sleep' | 'timer') {
  const waits: (() => void)[] = [];
  const ended: number[] = [];
  const sleep = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      waits.push(resolve);
      signal.addEventListener('abort', () => {
        ended.push(ms);
        reject(new Error('aborted'));
      });
    });
  const timer = (ms: number, work: () => void) => {
    waits.push(work);
    return () => void ended.push(ms);
  };
  const clock = kind === 'timer' ? { sleep, timer } : { sleep };
  const end = (): void => {
    for (const over of waits) over();
  };
  return { clock, ended, end };
}

const exceeded = (): Error => new Error('too late');

for (const kind of ['sleep', 'timer'] as const) {
  test(`Work within its limit ends the wait of a clock with ${kind}`, async (t) => {
    const { clock, ended } = givenClock(kind);
    const limit = { ms: 7, clock, exceeded };
    t.is(await withTimeLimit(Promise.resolve('done'), limit), 'done');
    await t.throwsAsync(withTimeLimit(Promise.reject(new Error('broken')), limit), { message: 'broken' });
    t.deepEqual(ended, [7, 7]);
  });

  test(`Work beyond its limit goes on without its caller, by a clock with ${kind}`, async (t) => {
    const { clock, end } = givenClock(kind);
    let finish = (): void => undefined;
    const work = new Promise<void>((resolve) => (finish = resolve));
    const limited = withTimeLimit(work, { ms: 7, clock, exceeded });
    end();
    await t.throwsAsync(limited, { message: 'too late' });
    finish();
    await t.notThrowsAsync(work);
  });
}
