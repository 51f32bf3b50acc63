import { parentPort, workerData } from 'node:worker_threads';
import { decided, place, problemOfDeliveries } from '../support/simulation/model/deliver-permutations.js';
import { drawScene, receivedAt } from '../support/simulation/reactions/payment-scene.js';
import {
  endAlike,
  simulateHistory,
  simulatePayments,
  waysOfHistory,
  type Told,
} from '../support/simulation/reactions/simulate-payments.js';
import { type ThreadReport, threadShare } from '../support/simulation/spread-over-threads.js';
import { isDeepStrictEqual } from 'node:util';
import {
  isDue,
  type OrderState,
  orderStatus,
  refundedAmount,
  type ReportedFact,
  unusedPayments,
} from '../../src/areas/payments/domain/order/order.js';
import { ledgerOf } from '../support/simulation/reactions/payment-ledger.js';

/* A thread of `payments.test.ts`. It tries its share of histories or sets of messages and stops at the first problem. */

// Stack traces of intended errors cost more than the errors. A replay runs outside this thread and has stack traces.
Error.stackTraceLimit = 0;

const share = threadShare.parse(workerData);
const tally: Record<string, number> = {};
const tasks: Readonly<Record<string, (number: number) => Promise<string | null>>> = {
  histories: tryHistory,
  permutations: tryPermutations,
  folds: tryFolds,
  deliveries: tryDeliveries,
};

parentPort?.postMessage(await tryShare());

async function tryShare(): Promise<ThreadReport> {
  const attempt = tasks[share.task];
  if (attempt === undefined) throw new Error(`there is no task ${share.task}`);
  for (let number = share.first; number < share.end; number += share.step) {
    const problem = await attempt(number);
    if (problem !== null) return { problem, tally };
  }
  return { problem: null, tally };
}

async function tryHistory(number: number): Promise<string | null> {
  const history = (share.seed + number * 7_919) % 2 ** 31;
  const { problem, told } = await simulateHistory(history, { ways: waysOfHistory });
  for (const end of told) count(end);
  return problem === null ? null : `${problem}: repeat with DEEP_SEED=${share.seed} DEEP_HISTORY=${history}`;
}

/** Runs a set through the whole service, as production does. */
async function tryPermutations(set: number): Promise<string | null> {
  const seed = share.seed + set;
  const scene = drawScene(seed, { messages: sizeOf(set) });
  const plain = await simulatePayments(scene, { seed, isPlain: true });
  for (const messages of permutationsOf(scene.messages)) {
    const ending = await simulatePayments({ ...scene, messages }, { seed, isPlain: true });
    count(ending);
    if (ending.problem === null && endAlike(plain, ending)) continue;
    const keys = messages.map(({ key }) => key).join(', ');
    return `${ending.problem ?? 'it ends otherwise'}: DEEP_SEED=${share.seed}, set ${set}, ${keys}`;
  }
  return null;
}

/** Runs a set through the decisions of the order only. */
function tryFolds(set: number): Promise<string | null> {
  const problem = problemOfFolds(share.seed + set, sizeOf(set), tally);
  return Promise.resolve(problem === null ? null : `${problem}: DEEP_SEED=${share.seed}, set ${set}`);
}

/** Runs a set through the decisions of transactions and orders, without a store. */
function tryDeliveries(set: number): Promise<string | null> {
  const problem = problemOfDeliveries(share.seed + set, sizeOf(set), tally);
  return Promise.resolve(problem === null ? null : `${problem}: DEEP_SEED=${share.seed}, set ${set}`);
}

/** Returns the number of messages of a set, which is six for most sets. */
function sizeOf(set: number): number {
  return set % 4 === 0 ? 3 + ((set / 4) % 3) : 6;
}

function count({ orders, held, crashes, deliveries }: Told): void {
  const add = (what: string, times = 1): void => {
    tally[what] = (tally[what] ?? 0) + times;
  };
  add('sequences');
  add('crashes', crashes);
  add('deliveries', deliveries);
  add('held', held.length);
  for (const { status, isGranted } of orders) {
    add(status);
    if (isGranted) add('granted');
  }
}

/**
 * Reports the facts of a scene's messages to one order in every possible sequence, as if all were about that order.
 * After each report the grant is marked when it is due and revoked when it is not. Returns the problem of one of the
 * results, or null.
 * @param tally counts the tried sequences
 */
function problemOfFolds(seed: number, size: number, tally: Record<string, number>): string | null {
  const { orders, messages } = drawScene(seed, { messages: size });
  const [order] = orders;
  if (order === undefined) throw new Error('a scene has an order');
  const reports = messages.flatMap(({ key, told }) =>
    told.map(({ transaction = null, fact, at = null }): ReportedFact => ({
      ...{ callback: `${order.provider}-${key}`, provider: order.provider, transactionId: transaction },
      ...{ mismatch: null, fact },
      at: at === null ? receivedAt : new Date(at),
    })),
  );
  const placed = place(order);
  const priced = reports.filter(({ fact }) => {
    const isOfCurrency = fact.kind === 'dispute' || !('currency' in fact) || fact.currency === 'USD';
    return isOfCurrency && (fact.kind !== 'paid' || fact.amount === order.amount);
  });
  const ledger = ledgerOf(
    priced.map(({ callback, transactionId, fact, at }) => {
      const isNamed = transactionId !== null;
      return { transaction: transactionId ?? callback, isNamed, fact, atMs: at.getTime() };
    }),
    { price: order.amount, ends: [] },
  );
  const waiting = reports.filter((report) => !priced.includes(report)).map(({ callback }) => callback);
  const expected = {
    ...ledger,
    status: waiting.length > 0 ? 'review' : ledger.status,
    isGranted: ledger.isDue,
    mismatches: waiting.sort(),
  };
  let unused: number | null = null;
  return fold(placed, reports, []);

  function fold(state: OrderState, left: readonly ReportedFact[], path: readonly string[]): string | null {
    if (left.length === 0) return judge(state, path);
    for (const [index, report] of left.entries()) {
      const command = { type: 'Report', reports: [report] } as const;
      const told = decided(decided(state, command), command);
      const marked = decided(decided(told, { type: 'MarkFulfilled' }), { type: 'MarkRevoked' });
      const problem = fold(marked, left.toSpliced(index, 1), [...path, report.callback]);
      if (problem !== null) return problem;
    }
    return null;
  }

  function judge(state: OrderState, path: readonly string[]): string | null {
    tally['sequences'] = (tally['sequences'] ?? 0) + 1;
    if (state.status === 'absent') throw new Error('the order was placed');
    const is = {
      ...{ status: orderStatus(state), refunded: refundedAmount(state), isDue: isDue(state) },
      ...{ isGranted: state.is_granted, mismatches: state.mismatches.map(({ id }) => id).sort() },
    };
    const count = unusedPayments(state).length;
    unused ??= count;
    if (count !== unused) return `${count} unused payments instead of ${unused} after ${path.join(', ')}`;
    if (isDeepStrictEqual(is, expected)) return null;
    return `${JSON.stringify(is)} instead of ${JSON.stringify(expected)} after ${path.join(', ')}`;
  }
}

/** Yields the items in every order; the given order comes first. */
function* permutationsOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  if (items.length === 0) yield [];
  for (const [index, item] of items.entries()) {
    for (const rest of permutationsOf(items.toSpliced(index, 1))) yield [item, ...rest];
  }
}
