import test from 'ava';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { Overloaded, makeKeyedMutex } from '../../src/kit/semaphore.js';
import { withTimeLimit } from '../../src/kit/time/time-limit.js';

/** Returns a gate that blocks work until the test opens it. */
function makeGate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test('Work on one key runs one after the other in the order of the calls', async (t) => {
  const queued = makeKeyedMutex({ waitingMax: 100 });
  const log: string[] = [];
  await Promise.all(
    [0, 1, 2, 3].map((n) =>
      queued('a', async () => {
        log.push(`${n} begins`);
        await Promise.resolve();
        log.push(`${n} ends`);
      }),
    ),
  );
  t.deepEqual(
    log,
    [0, 1, 2, 3].flatMap((n) => [`${n} begins`, `${n} ends`]),
  );
});

test('Work on another key does not wait', async (t) => {
  const queued = makeKeyedMutex({ waitingMax: 100 });
  const gate = makeGate();
  const first = queued('a', () => gate.opened);
  t.is(await queued('b', () => Promise.resolve('b is done')), 'b is done');
  gate.open();
  await first;
});

test('A failure reaches its caller and not the next one', async (t) => {
  const queued = makeKeyedMutex({ waitingMax: 100 });
  const failed = queued('a', () => Promise.reject(new Error('no')));
  const next = queued('a', () => Promise.resolve('yes'));
  await t.throwsAsync(failed, { message: 'no' });
  t.is(await next, 'yes');
});

test('A call beyond the bound is Overloaded at once, and room becomes free again', async (t) => {
  const queued = makeKeyedMutex({ waitingMax: 3 });
  const gates = [makeGate(), makeGate(), makeGate()];
  const running = gates.map((gate) => queued('a', () => gate.opened));
  await t.throwsAsync(
    queued('a', () => Promise.resolve()),
    { instanceOf: Overloaded },
  );
  await queued('b', () => Promise.resolve());

  gates[0]?.open();
  await running[0];
  const fourth = queued('a', () => Promise.resolve('fourth'));
  await t.throwsAsync(
    queued('a', () => Promise.resolve()),
    { instanceOf: Overloaded },
  );
  for (const gate of gates) gate.open();
  t.is(await fourth, 'fourth');
  await Promise.all([1, 2, 3].map(() => queued('a', () => Promise.resolve())));
});

function given() {
  /** What ends each timer that began, and the signal that gives it up. */
  const timers: { readonly ms: number; readonly ring: () => void; readonly signal: AbortSignal }[] = [];
  const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      timers.push({ ms, ring: resolve, signal });
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  const exceeded = (): Error => new StoreUnavailable('too long');
  const within = <Result>(work: Promise<Result>): Promise<Result> =>
    withTimeLimit(work, { ms: 2_000, clock: { sleep }, exceeded });
  return { timers, within };
}

test('Work that ends in time is awaited and cancels its timer', async (t) => {
  const { timers, within } = given();
  t.is(await within(Promise.resolve(7)), 7);
  await t.throwsAsync(within(Promise.reject(new Error('the work failed'))), { message: 'the work failed' });
  t.deepEqual(
    timers.map(({ ms, signal }) => [ms, signal.aborted]),
    [
      [2_000, true],
      [2_000, true],
    ],
  );
});

test('Work that takes longer than its limit is cut off, and other work is not', async (t) => {
  const { timers, within } = given();
  const hanging = new Promise<never>(() => undefined);
  const first = within(hanging);
  let isOver = false;
  const second = within(hanging).finally(() => {
    isOver = true;
  });
  timers[0]?.ring();
  await t.throwsAsync(first, { instanceOf: StoreUnavailable, message: 'too long' });
  t.false(isOver);
  timers[1]?.ring();
  await t.throwsAsync(second, { instanceOf: StoreUnavailable });
});
