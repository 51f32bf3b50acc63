import test from 'ava';
import { Overloaded } from '../../src/event-sourcing/errors.js';
import { makeKeyedBatches } from '../../src/event-sourcing/keyed-batches.js';

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
