import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { limitedSignal } from '../../src/kit/time/time-limit.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the name of the error with which the signal aborts. Nothing but its listener refers to it. */
function abortOf(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve((signal.reason as Error).name));
  });
}

test('A time limit aborts after garbage collections', async (t) => {
  const outer = new AbortController();
  const aborted = abortOf(limitedSignal(outer.signal, 300));
  const collecting = setInterval(collectGarbage, 90);
  t.teardown(() => clearInterval(collecting));
  t.is(await Promise.race([aborted, wait(60_000, 'nothing aborted', { ref: false })]), 'TimeoutError');
});

test('The outer signal aborts before the time', async (t) => {
  const outer = new AbortController();
  const aborted = abortOf(limitedSignal(outer.signal, 600_000));
  collectGarbage();
  outer.abort(new DOMException('the service stops', 'AbortError'));
  t.is(await aborted, 'AbortError');
});
