import { constants, setPriority } from 'node:os';
import test from 'ava';
import { simulateHistory, waysOfHistory } from '../support/simulation/reactions/simulate-payments.js';
import { spreadOverThreads } from '../support/simulation/spread-over-threads.js';

/*
 * Platforms report on orders in any order, repeatedly, late and concurrently, while buyers cancel, time passes and
 * operators decide, with crashes between any two steps of two processes. Each counted sequence runs the use cases from
 * end to end: a signed message is verified, accepted and settled, and its order fulfilled, by the code and reactions of
 * production. All sequences use the log in memory, which passes the contract suite of its port, and no files or
 * servers. The deliveries are an exception: they use only the deciders. `payment-kill.test.ts` kills a whole service on real stores. No views are written, because no part of the
 * test reads them. `payment-expectation.ts` computes the expected end from the messages, independently of the code.
 *
 * DEEP_SEED=<printed> DEEP_HISTORY=<named in the failure> replays one history with a trace. DEEP_BUDGET multiplies the
 * number of histories.
 */
// The test keeps every core busy for minutes. Tests beside it wait for real effects in real time, so it gives way.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const only = process.env['DEEP_HISTORY'];
const thread = new URL('./payments-thread.js', import.meta.url);
const limitMs = 30 * 60_000 * Math.max(1, budget);

const histories = Math.ceil((100_000 / waysOfHistory) * budget);
const wholeSets = Math.ceil(16 * budget);
const foldedSets = Math.ceil(1_500 * budget);
const deliveredSets = Math.ceil(600 * budget);

if (only !== undefined) {
  test('One history ends as expected', async (t) => {
    const { problem } = await simulateHistory(Number(only), { ways: waysOfHistory, trace: t.log });
    t.is(problem, null);
  });
} else {
  test.serial(
    `${histories * waysOfHistory} sequences end alike for the same messages under all orders, repetitions and crashes`,
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

  for (const [title, task, sets] of [
    ['Every order of up to six messages ends alike through the whole service', 'permutations', wholeSets],
    ['Every order of up to six messages leads to the same order', 'folds', foldedSets],
    [
      'Every sequence of up to six callbacks ends as the messages say, with crashes',
      'deliveries',
      deliveredSets,
    ],
  ] as const) {
    test.serial(title, async (t) => {
      t.timeout(limitMs);
      const { problem, tally } = await spreadOverThreads(thread, { task, count: sets, seed });
      t.log(`DEEP_SEED=${seed}, ${sets} sets`, tally);
      t.is(problem, null);
      if (task === 'deliveries' && sets >= 100) t.true((tally['callbacks'] ?? 0) > 1_000 * sets);
    });
  }
}
