import test from 'ava';
import { Overloaded, StoreUnavailable } from '../../src/event-sourcing/errors.js';
import { makeKeyedQueue } from '../../src/event-sourcing/stream-queue.js';
import { makeKeyedBatches } from '../../src/event-sourcing/keyed-batches.js';
import { makeSharedLimit } from '../../src/event-sourcing/shared-limit.js';
import { makeTestClock } from '../support/clock.js';

/** Work that the test lets go on. */
function makeGate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test('work on one key runs one after the other in the order asked', async (t) => {
  const queued = makeKeyedQueue({ waitingMax: 100 });
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

test('work on another key does not wait', async (t) => {
  const queued = makeKeyedQueue({ waitingMax: 100 });
  const gate = makeGate();
  const first = queued('a', () => gate.opened);
  t.is(await queued('b', () => Promise.resolve('b is done')), 'b is done');
  gate.open();
  await first;
});

test('work that fails fails for its caller and not for the next', async (t) => {
  const queued = makeKeyedQueue({ waitingMax: 100 });
  const failed = queued('a', () => Promise.reject(new Error('no')));
  const next = queued('a', () => Promise.resolve('yes'));
  await t.throwsAsync(failed, { message: 'no' });
  t.is(await next, 'yes');
});

test('more than may wait are Overloaded at once, and places become free again', async (t) => {
  const queued = makeKeyedQueue({ waitingMax: 3 });
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

/** Batches that end when the test says so. */
function givenBatches(waitingMax = 100) {
  const running: { readonly name: string; readonly end: () => void; readonly fail: () => void }[] = [];
  const batched = makeKeyedBatches<number, string>({
    waitingMax,
    run: (key, items) =>
      new Promise((resolve, reject) => {
        const name = `${key}: ${items.join()}`;
        running.push({
          name,
          end: () => {
            resolve(name);
          },
          fail: () => {
            reject(new Error(name));
          },
        });
      }),
  });
  const names = () => running.map(({ name }) => name);
  /** Lets everything happen that waits for no batch to end. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { batched, running, names, settle };
}

test('what is asked for at once, or while a batch is under way, is done together and in order', async (t) => {
  const { batched, running, names, settle } = givenBatches();
  const first = [batched('a', 1), batched('a', 2)];
  await settle();
  const second = [batched('a', 3), batched('a', 4)];
  await settle();
  t.deepEqual(names(), ['a: 1,2'], 'the second waits for the first');

  running[0]?.end();
  t.deepEqual(await Promise.all(first), ['a: 1,2', 'a: 1,2']);
  await settle();
  running[1]?.end();
  t.deepEqual(await Promise.all(second), ['a: 3,4', 'a: 3,4']);

  const third = batched('a', 5);
  await settle();
  running[2]?.end();
  t.is(await third, 'a: 5');
});

test('another key does not wait', async (t) => {
  const { batched, names, settle } = givenBatches();
  void batched('a', 1);
  void batched('b', 2);
  await settle();
  t.deepEqual(names(), ['a: 1', 'b: 2']);
});

test('a batch that fails fails for its callers and not for the next', async (t) => {
  const { batched, running, settle } = givenBatches();
  const failing = [batched('a', 1), batched('a', 2)];
  await settle();
  const next = batched('a', 3);
  running[0]?.fail();
  for (const one of failing) await t.throwsAsync(one, { message: 'a: 1,2' });
  await settle();
  running[1]?.end();
  t.is(await next, 'a: 3');
});

test('more than may wait are Overloaded at once, and there is room again', async (t) => {
  const { batched, running, settle } = givenBatches(2);
  void batched('a', 1);
  await settle();
  const waiting = [batched('a', 2), batched('a', 3)];
  await t.throwsAsync(batched('a', 4), { instanceOf: Overloaded });
  running[0]?.end();
  await settle();
  const last = batched('a', 5);
  running[1]?.end();
  t.deepEqual(await Promise.all(waiting), ['a: 2,3', 'a: 2,3']);
  await settle();
  running[2]?.end();
  t.is(await last, 'a: 5');
});

function given() {
  const clock = makeTestClock();
  /** What ends each timer that was begun, and whether it was given up. */
  const timers: {
    readonly ms: number;
    readonly ring: () => void;
    readonly signal: AbortSignal | undefined;
  }[] = [];
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      timers.push({ ms, ring: resolve, signal });
      signal?.addEventListener('abort', () => {
        reject(new Error('aborted'));
      });
    });
  const within = makeSharedLimit({ clock: { ...clock, sleep }, limitMs: 2_000, problem: 'too long' });
  return { clock, timers, within };
}

test('work that ends in time is waited for, and ends the timer', async (t) => {
  const { timers, within } = given();
  t.is(await within(Promise.resolve(7)), 7);
  await t.throwsAsync(within(Promise.reject(new Error('its own'))), { message: 'its own' });
  t.deepEqual(
    timers.map(({ ms, signal }) => [ms, signal?.aborted]),
    [
      [2_000, true],
      [2_000, true],
    ],
  );
});

test('what begins within 100 ms shares a timer, which cuts off all of it; what begins later has its own', async (t) => {
  // Given two that hang under one timer, and a third under another
  const { clock, timers, within } = given();
  const hanging = new Promise<never>(() => undefined);
  const first = within(hanging);
  clock.advance(100);
  const second = within(hanging);
  clock.advance(1);
  let ended = false;
  const third = within(hanging).finally(() => {
    ended = true;
  });
  t.is(timers.length, 2);

  // When the first timer rings
  timers[0]?.ring();

  // Then only its two are cut off
  await t.throwsAsync(first, { instanceOf: StoreUnavailable, message: 'too long' });
  await t.throwsAsync(second, { instanceOf: StoreUnavailable, message: 'too long' });
  t.false(ended);
  timers[1]?.ring();
  await t.throwsAsync(third, { instanceOf: StoreUnavailable });
});

test('one of several that ends leaves the timer to the others', async (t) => {
  const { timers, within } = given();
  const hanging = within(new Promise<never>(() => undefined));
  t.is(await within(Promise.resolve('done')), 'done');
  t.false(timers[0]?.signal?.aborted);
  timers[0]?.ring();
  await t.throwsAsync(hanging, { instanceOf: StoreUnavailable });
});
