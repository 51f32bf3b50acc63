/* Tests the line of a semaphore with a clock that only the test moves. */
import test from 'ava';
import fc from 'fast-check';

import { makeNewestFirst, makeSemaphore } from '../../src/kit/semaphore.js';

test('Work runs at once while permits are free', async (t) => {
  const { gate, begin } = given({ permits: 2 });
  const [first, second] = [begin('a'), begin('b')];
  t.is(gate.running(), 2);
  t.is(gate.waiting(), 0);
  first.end();
  second.end();
  t.deepEqual(await Promise.all([first.outcome, second.outcome]), ['done', 'done']);
  t.is(gate.running(), 0);
});

test('A free permit goes to the oldest waiter while no operation has waited for long', async (t) => {
  const { begin, began, settle, advance } = given({ permits: 1, waitMs: 100 });
  const works = ['a', 'b', 'c'].map((name) => begin(name));
  await advance(24);
  for (const work of works) {
    work.end();
    await settle();
  }
  t.deepEqual(began, ['a', 'b', 'c']);
});

test('A free permit goes to the newest waiter while the oldest has waited for a quarter of the longest wait', async (t) => {
  const { begin, began, settle, advance } = given({ permits: 1, waitMs: 100 });
  const works = ['a', 'b', 'c'].map((name) => begin(name));
  await advance(25);
  works.push(begin('d'));
  for (const index of [0, 3, 2, 1]) {
    works[index]?.end();
    await settle();
  }
  t.deepEqual(began, ['a', 'd', 'c', 'b']);
});

test('Urgent waiters pass all others, oldest first', async (t) => {
  const { begin, began, settle, advance } = given({ permits: 1, waitMs: 100 });
  const works = [begin('a'), begin('b'), begin('u1', true), begin('u2', true), begin('c')];
  await advance(25);
  for (const index of [0, 2, 3, 4, 1]) {
    works[index]?.end();
    await settle();
  }
  t.deepEqual(began, ['a', 'u1', 'u2', 'c', 'b']);
});

test('Work that has waited too long is refused and never starts', async (t) => {
  const { gate, begin, began, advance, settle } = given({ permits: 1, waitMs: 100 });
  const first = begin('a');
  const [early, urgent] = [begin('b'), begin('u', true)];
  await advance(60);
  const late = begin('c');
  await advance(40);
  t.is(await early.outcome, 'refused');
  t.is(await urgent.outcome, 'refused');
  t.is(gate.waiting(), 1);
  first.end();
  await settle();
  late.end();
  t.is(await late.outcome, 'done');
  t.deepEqual(began, ['a', 'c']);
});

test('A permit stays taken until the work ends, also when it fails', async (t) => {
  const { gate, begin, settle } = given({ permits: 1 });
  const first = begin('a');
  const second = begin('b');
  await settle();
  t.deepEqual([gate.running(), gate.waiting()], [1, 1]);
  first.fail();
  t.is(await first.outcome, 'failed');
  second.end();
  t.is(await second.outcome, 'done');
  t.deepEqual([gate.running(), gate.waiting()], [0, 0]);
});

test('Never more works run than there are permits, every work ends once, and no permit is lost', async (t) => {
  const step = fc.record({
    urgent: fc.boolean(),
    ends: fc.nat({ max: 5 }),
    fails: fc.boolean(),
    ms: fc.nat({ max: 80 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { gate, begin, advance, settle } = given({ permits: 3, waitMs: 100 });
      const works: ReturnType<typeof begin>[] = [];
      for (const { urgent, ends, fails, ms } of steps) {
        works.push(begin('w', urgent));
        const ended = works[works.length - 1 - ends];
        if (fails) ended?.fail();
        else ended?.end();
        await advance(ms);
        if (gate.running() > 3) t.fail('more works run than there are permits');
      }
      await settle();
      for (const work of works) work.end();
      const outcomes = await Promise.all(works.map(({ outcome }) => outcome));
      t.is(outcomes.length, works.length);
      t.deepEqual([gate.running(), gate.waiting()], [0, 0]);
    }),
    { numRuns: 100, seed: 5 },
  );
});

function given({ permits, waitMs = 1_000 }: { readonly permits: number; readonly waitMs?: number }) {
  const { clock, advance } = makeSteppedClock();
  const gate = makeSemaphore(
    permits,
    makeNewestFirst({ waitMs, clock, refused: () => new Error('refused') }),
  );
  const began: string[] = [];

  /** Starts work that ends when the test says so, also before it has begun. */
  function begin(name: string, urgent = false) {
    let end = (): void => undefined;
    let fail = (): void => undefined;
    const ending = new Promise<void>((resolve, reject) => {
      end = resolve;
      fail = () => reject(new Error('failed'));
    });
    ending.catch(() => undefined);
    const outcome = gate
      .run(
        async () => {
          began.push(name);
          await ending;
          return 'done';
        },
        { urgent },
      )
      .catch((error: unknown) => (error as Error).message);
    return { end, fail, outcome };
  }

  return { gate, begin, began, advance, settle };
}

/** Lets all pending promises run. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

function makeSteppedClock() {
  let nowMs = 0;
  let sleepers: { readonly untilMs: number; readonly wake: () => void }[] = [];
  return {
    clock: {
      now: () => new Date(nowMs),
      sleep: (ms: number) => new Promise<void>((wake) => sleepers.push({ untilMs: nowMs + ms, wake })),
    },
    advance: async (ms: number) => {
      nowMs += ms;
      for (const { untilMs, wake } of sleepers) if (untilMs <= nowMs) wake();
      sleepers = sleepers.filter(({ untilMs }) => untilMs > nowMs);
      await settle();
    },
  };
}
