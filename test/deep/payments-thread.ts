import { parentPort, workerData } from 'node:worker_threads';
import { problemOfFolds } from '../support/given/fold-permutations.js';
import { problemOfDeliveries } from '../support/simulation/model/deliver-permutations.js';
import { drawScene } from '../support/simulation/reactions/payment-scene.js';
import {
  endAlike,
  simulateHistory,
  simulatePayments,
  type Told,
} from '../support/simulation/reactions/simulate-payments.js';
import { permutationsOf } from '../support/examples/permutations.js';
import { type ThreadReport, threadShare } from '../support/simulation/spread-over-threads.js';
import { waysOfHistory } from './payments-ways.js';

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
