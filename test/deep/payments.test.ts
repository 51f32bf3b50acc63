import { constants, setPriority } from 'node:os';
import test from 'ava';
import { simulateHistory } from '../reactions/support/simulate-payments.js';
import { spreadOverThreads } from '../support/spread-over-threads.js';
import { waysOfHistory } from './payments-ways.js';

/*
 * What platforms say of orders, in any order, more often than once, late and at the same time, while buyers cancel, time passes and
 * operators decide, with crashes between any two steps of two processes. Each sequence counted is a run of the use cases from end to
 * end: a signed message is verified, accepted and settled, and its order fulfilled, by the code and the reactions of production. All of
 * them run over the log in memory, which passes the port's contract suite as the others do, and none over files or servers: a whole
 * service on real stores is killed under callbacks in `payment-kill.test.ts`. Views are not written, for nothing of this reads them. What must
 * come of a scene is worked out from the messages by other means than the code's (`payment-expectation.ts`).
 *
 * DEEP_SEED=<printed> DEEP_HISTORY=<named in the failure> replays one history and tells what happens in it; DEEP_BUDGET multiplies
 * how many there are.
 */
// It keeps every core busy for minutes, and what runs beside it waits for real things in real time.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const only = process.env['DEEP_HISTORY'];
const thread = new URL('./payments-thread.js', import.meta.url);
const limitMs = 30 * 60_000 * Math.max(1, budget);

const histories = Math.ceil((100_000 / waysOfHistory) * budget);
const wholeSets = Math.ceil(16 * budget);
const foldedSets = Math.ceil(1_500 * budget);

if (only !== undefined) {
  test('one history', async (t) => {
    const { problem } = await simulateHistory(Number(only), { ways: waysOfHistory, trace: t.log });
    t.is(problem, null);
  });
} else {
  test.serial(
    `${histories * waysOfHistory} sequences: whatever the order, however often and whatever crashes, the same messages end alike`,
    async (t) => {
      t.timeout(limitMs);
      t.log(`DEEP_SEED=${seed}`);
      const { problem, tally } = await spreadOverThreads(thread, {
        task: 'histories',
        count: histories,
        seed,
      });
      t.log(tally);
      t.is(problem, null);
      t.is(tally['sequences'], histories * waysOfHistory);
      if (histories < 1_000) return;
      const met = ['created', 'pending', 'fulfilled', 'partially_refunded', 'refunded', 'disputed', 'review'];
      for (const what of [...met, 'failed', 'expired', 'canceled', 'granted', 'held', 'crashes']) {
        t.true((tally[what] ?? 0) > histories / 100, `the histories hardly ever met: ${what}`);
      }
    },
  );

  test.serial('every order of up to six messages ends alike, through everything', async (t) => {
    t.timeout(limitMs);
    const { problem, tally } = await spreadOverThreads(thread, {
      task: 'permutations',
      count: wholeSets,
      seed,
    });
    t.log(`${wholeSets} sets`, tally);
    t.is(problem, null);
  });

  test.serial('every order of up to six messages makes the same order', async (t) => {
    t.timeout(limitMs);
    const { problem, tally } = await spreadOverThreads(thread, { task: 'folds', count: foldedSets, seed });
    t.log(`${foldedSets} sets`, tally);
    t.is(problem, null);
  });
}
