import test from 'ava';
import { Overloaded } from '../../src/event-sourcing/errors.js';
import { makeKeyedQueue } from '../../src/event-sourcing/stream-queue.js';

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
