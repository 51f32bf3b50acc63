import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { Overloaded } from '../../../src/kit/semaphore.js';
import { type HashCaller, makeHashQueue } from '../../../src/security/passwords/hash-pool.js';

/** A clock and the work that ends by it. Time passes when nothing else happens. */
function makeVirtualTime() {
  let nowMs = 0;
  const timers: { readonly atMs: number; readonly ring: () => void }[] = [];
  return {
    nowMs: () => nowMs,
    sleep: (ms: number) => new Promise<void>((resolve) => timers.push({ atMs: nowMs + ms, ring: resolve })),
    /** Lets time pass up to a moment. */
    until: async (endMs: number) => {
      for (;;) {
        await turn();
        timers.sort((one, other) => one.atMs - other.atMs);
        const next = timers[0];
        if (next === undefined || next.atMs > endMs) break;
        timers.shift();
        nowMs = next.atMs;
        next.ring();
      }
      nowMs = endMs;
    },
  };
}

const timeLimitMs = 8_000;
const caller: HashCaller = { lane: 1, client: 'a client' };

/** Lets clients sign in again and again, as the bench does, with work of a duration. Counts what came of it. */
async function signIns(clients: number, workMs: (n: number) => number, seconds = 60) {
  const time = makeVirtualTime();
  let begun = 0;
  const queue = makeHashQueue<null, null>({
    threads: 2,
    queue: 32,
    timeLimitMs,
    nowMs: time.nowMs,
    work: async () => {
      begun += 1;
      const tookMs = workMs(begun);
      await time.sleep(tookMs);
      return { output: null, tookMs };
    },
  });
  const counts = { done: 0, late: 0, refused: 0 };
  const client = async (): Promise<void> => {
    for (;;) {
      const beganMs = time.nowMs();
      try {
        await queue.run(null, caller);
        counts.done += 1;
        if (time.nowMs() - beganMs > timeLimitMs) counts.late += 1;
      } catch (error) {
        if (!(error instanceof Overloaded)) throw error;
        counts.refused += 1;
        await time.sleep(1_000);
      }
    }
  };
  for (let n = 0; n < clients; n += 1) void client();
  await time.until(seconds * 1_000);
  return { ...counts, begun };
}

test('Under overload as many sign-ins succeed as without it, and each in time', async (t) => {
  for (const workMs of [430, 600, 1_500]) {
    const most = (2 * 60_000) / workMs;
    const few = await signIns(16, () => workMs);
    const many = await signIns(200, () => workMs);
    t.true(few.done >= most * 0.95, `16 clients: ${few.done} of ${most}`);
    t.true(many.done >= most * 0.95, `200 clients: ${many.done} of ${most}`);
    t.deepEqual([few.late, many.late], [0, 0], `${workMs} ms`);
    t.true(many.refused > 0);
  }
});

test('A machine that becomes slower does no hash for a client whose time is over', async (t) => {
  // Given hashes that take four times as long from the 40th on
  const { done, late, begun } = await signIns(200, (n) => (n < 40 ? 400 : 1_600));
  // Then a hash that begins is an answer for its client, apart from those before the estimate has followed
  t.true(done >= begun - 2, `${begun} began, ${done} ended`);
  t.true(late <= 8, `${late} were late`);
  t.true(done >= 40 + ((60_000 - 8_000) * 2) / 1_600 - 2, `${done} ended`);
});

test('A thread without work takes a hash that is longer than the limit, and the next one is refused at once', async (t) => {
  const time = makeVirtualTime();
  const queue = makeHashQueue<null, string>({
    threads: 1,
    queue: 32,
    timeLimitMs,
    nowMs: time.nowMs,
    work: async () => {
      await time.sleep(20_000);
      return { output: 'hash', tookMs: 20_000 };
    },
  });
  for (const endMs of [20_000, 40_000]) {
    t.true(queue.hasRoom(caller));
    const long = queue.run(null, caller);
    if (endMs === 40_000) {
      t.false(queue.hasRoom(caller));
      await t.throwsAsync(queue.run(null, caller), { instanceOf: Overloaded });
    }
    await time.until(endMs);
    t.is(await long, 'hash');
  }
});

test('An error of the work reaches its caller, and the next work begins', async (t) => {
  const time = makeVirtualTime();
  let begun = 0;
  const queue = makeHashQueue<null, number>({
    threads: 1,
    queue: 2,
    timeLimitMs,
    nowMs: time.nowMs,
    work: async () => {
      begun += 1;
      if (begun === 1) throw new Error('scrypt failed');
      return Promise.resolve({ output: begun, tookMs: 1 });
    },
  });
  const [first, second] = [queue.run(null, caller), queue.run(null, caller)];
  await t.throwsAsync(first, { message: 'scrypt failed' });
  t.is(await second, 2);
  t.is(await queue.run(null, caller), 3);
  queue.close();
  t.false(queue.hasRoom(caller));
  await t.throwsAsync(queue.run(null, caller), { instanceOf: Overloaded });
});

test('A full queue refuses the last in its order: a later lane before an earlier one, and no client its first turn', async (t) => {
  const time = makeVirtualTime();
  const queue = makeHashQueue<string, string>({
    threads: 1,
    queue: 4,
    timeLimitMs: 60_000,
    nowMs: time.nowMs,
    work: async (input) => {
      await time.sleep(10);
      return { output: input, tookMs: 10 };
    },
  });
  const order: string[] = [];
  const run = (lane: HashCaller['lane'], client: string) =>
    queue.run(client, { lane, client }).then(
      () => order.push(client),
      (error: unknown) => order.push(`${client}: ${error instanceof Overloaded ? 'refused' : String(error)}`),
    );
  // Given a flood that has a thread and all room
  const all = Array.from({ length: 6 }, () => run(1, 'flood'));
  t.false(queue.hasRoom({ lane: 1, client: 'flood' }));
  t.false(queue.hasRoom({ lane: 2, client: 'rest' }));
  // When another client comes, and a known device
  all.push(run(1, 'other'), run(0, 'device'));
  t.deepEqual(queue.load(), { running: 1, waiting: 4 });
  await time.until(1_000);
  await Promise.all(all);
  // Then they take the places of the last ones of the flood
  const refused = 'flood: refused';
  t.deepEqual(order, [refused, refused, refused, 'flood', 'device', 'flood', 'other', 'flood']);
});
