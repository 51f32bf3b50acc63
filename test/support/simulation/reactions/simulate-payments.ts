import type { OrderRejection } from '../../../../src/areas/payments/domain/order/rejections.js';
import { isDeepStrictEqual } from 'node:util';
import { setImmediate } from 'node:timers/promises';
import type { CallbackOutcome } from '../../../../src/areas/payments/commands/callbacks/callbacks.js';
import { isRejection } from '../../../../src/areas/shared/rejections.js';
import { orderAggregate } from '../../../../src/areas/payments/domain/order/order.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { appendEvents } from '../../given/append-events.js';
import { pick, makeSeededRandom } from '../../fakes/clock.js';
import { projectId, userId } from '../../examples/ids.js';
import { capacityGranted, userRegistered } from '../../examples/user.js';
import { givenContext } from '../../given/given-stores.js';
import { signed } from '../../fakes/test-payment-provider.js';
import { type PaymentEnd, readEnd } from './payment-end.js';
import {
  calm,
  makePaymentProcesses,
  type PaymentProcess,
  type PaymentWeather,
  type PaymentProcesses,
} from './payment-processes.js';
import { drawScene, receivedAt, type Scene, type SceneMessage, shuffled } from './payment-scene.js';
import type { Rejection } from '../../../../src/areas/rejections.js';
import { notificationName, reportName } from '../../../../src/areas/payments/domain/payment.js';
import type { ResolvePaymentInput } from '../../../../src/areas/payments/commands/deciding/resolving.js';
import type { CommandContext } from '../../../../src/event-sourcing/ports/command-context.js';
import type { Random } from '../../../../src/kit/time/clock.js';
import { forwardedKey } from '../../given/forwarded-key.js';
import { callbackOf } from './payment-expectation.js';
import { textAt } from './payment-invariants.js';

/** The end of a history. */
export interface Told extends PaymentEnd {
  readonly crashes: number;
  /** Deliveries of messages, repetitions included. */
  readonly deliveries: number;
}

interface HistoryOptions {
  /** Determines the delays, repetitions, late messages and crashes. */
  readonly seed: number;
  /** Whether the messages come one by one, without faults, repetitions, delays, expiry or cancellation. */
  readonly isPlain?: boolean;
  readonly trace?: ((line: string) => void) | undefined;
}

const orderLifeMs = 86_400_000;
/** The number of runs of one scene in a history. Each run has another order and other faults. */
export const waysOfHistory = 4;
/** The limit of faults in one history, so that it ends. */
const crashesMax = 40;
const stormy: PaymentWeather = { crash: 0.12, loseAnswer: 0.06, slow: 0.1 };

/**
 * Delivers the messages of the scene in their order to two processes, some of them repeatedly, concurrently or late.
 * The calls of the processes wait for each other, lose answers and crash. An unacknowledged message comes again. At
 * times the reactions of both run too, orders expire, the buyer cancels, and an operator decides. At the end no
 * reaction is due.
 */
export async function simulatePayments(
  scene: Scene,
  { seed, isPlain = false, trace }: HistoryOptions,
): Promise<Told> {
  const random = makeSeededRandom(seed);
  const chance = (probability: number): boolean => !isPlain && random() < probability;
  let time = receivedAt;
  const processes = makePaymentProcesses({ random, now: () => time, trace });
  let commands = 0;
  let deliveries = 0;
  const context = () => givenContext((commands += 1), receivedAt);
  await setScene();
  const operator = makePaymentOperator({ scene, random, processes, somewhere, context });
  const isOperated = chance(0.35);
  processes.setWeather(chance(0.75) ? stormy : calm);
  const timePasses = chance(0.4);
  await deliverAll();
  if (timePasses) passTime();
  processes.setWeather(calm);
  // Requests whose platform did not wait end first.
  await setImmediate();
  await processes.react();
  if (isOperated) await operator.finish();
  await processes.react();
  const { handler } = processes.at(0);
  const end = await readEnd(scene, { store: processes.store, handler, timePassed: timePasses });
  return { ...end, problem: processes.problems[0] ?? end.problem, crashes: processes.crashes(), deliveries };

  async function deliverAll(): Promise<void> {
    const { late, waiting } = plan();
    const acknowledged = new Set<SceneMessage>();
    while (waiting.length + late.length > 0) {
      if (waiting.length === 0) waiting.push(...late.splice(0));
      if (processes.crashes() > crashesMax) processes.setWeather(calm);
      const some = waiting.splice(0, isPlain ? 1 : 1 + Math.floor(random() * 3));
      const beside = [...(chance(0.3) ? [processes.react()] : []), ...(chance(0.04) ? [cancel()] : [])];
      if (isOperated && chance(0.3)) beside.push(operator.decide());
      const answers = await Promise.all(some.map(deliver));
      await Promise.all(beside);
      some.forEach((message, n) => answers[n] === 'acknowledged' && acknowledged.add(message));
      // A message with one acknowledged copy is not sent again for an unacknowledged copy.
      waiting.push(...some.filter((message) => !acknowledged.has(message)));
      if (timePasses && chance(0.3)) passTime();
    }
  }

  /** Draws the late and the repeated messages, which come behind the next ones or behind all. */
  function plan(): { readonly waiting: SceneMessage[]; readonly late: SceneMessage[] } {
    const [late, waiting]: [SceneMessage[], SceneMessage[]] = [[], []];
    for (const message of scene.messages) {
      (chance(0.12) ? late : waiting).push(message);
      if (chance(0.25)) (chance(0.5) ? late : waiting).push(message);
    }
    return { late, waiting };
  }

  function passTime(): void {
    time = new Date(receivedAt.getTime() + orderLifeMs);
  }

  async function setScene(): Promise<void> {
    const { handler } = processes.at(0);
    const user = { aggregate: userAggregate, id: userId };
    await appendEvents(handler, user, [userRegistered, capacityGranted], receivedAt);
    const project = { aggregate: projectAggregate, id: projectId };
    await handler.handle(project, { type: 'Create', name: 'Rivers', ownerId: userId }, context());
    const expires_at = new Date(receivedAt.getTime() + orderLifeMs).toISOString();
    for (const { id, ...order } of scene.orders) {
      await handler.handle(
        { aggregate: orderAggregate, id },
        { type: 'Place', user_id: userId, plan_id: 'p', currency: 'USD', expires_at, ...order },
        context(),
      );
    }
  }

  function somewhere(): PaymentProcess {
    return processes.at(random() < 0.5 ? 0 : 1);
  }

  /** Returns the answer to the platform, or null if it gets none. */
  async function deliver(message: SceneMessage): Promise<CallbackOutcome['kind'] | null> {
    deliveries += 1;
    const callback = { method: 'POST', query: '', receivedAt, ...signed(message) } as const;
    const received = somewhere().receivePaymentCallback(
      { name: message.provider, callback, client: '192.0.2.1' },
      context(),
    );
    const outcome = await processes.deliverable(received);
    trace?.(`${message.key} was ${outcome?.kind ?? 'not answered'}`);
    return outcome?.kind ?? null;
  }

  /** Cancels an order of the buyer, if it can be canceled. */
  async function cancel(): Promise<void> {
    const { handler } = somewhere();
    const { id } = pick(random, scene.orders);
    const { state } = (await processes.deliverable(handler.load(orderAggregate, id))) ?? {};
    if (state?.status !== 'placed') return;
    await processes.deliverable(
      handler.handle({ aggregate: orderAggregate, id }, { type: 'Cancel' }, context()).catch(unlessNotOpen),
    );
  }
}

function unlessNotOpen(error: unknown): void {
  if (!isRejection<OrderRejection>(error, 'order_not_open')) throw error;
}

/** Returns whether two histories of the same messages ended alike. Different circumstances are not compared. */
export function endAlike(one: Told, other: Told): boolean {
  return (
    !isDeepStrictEqual(one.circumstances, other.circumstances) ||
    isDeepStrictEqual([one.orders, one.held], [other.orders, other.held])
  );
}

/**
 * Runs a scene from the seed as it is, and then the given number of times in other orders, with faults.
 * @returns `told`: the ends without the first one
 */
export async function simulateHistory(
  seed: number,
  { ways, trace }: { readonly ways: number; readonly trace?: (line: string) => void },
): Promise<{ readonly problem: string | null; readonly told: readonly Told[] }> {
  const scene = drawScene(seed);
  const random = makeSeededRandom(seed);
  trace?.(JSON.stringify(scene, null, 1));
  const plain = await simulatePayments(scene, { seed, isPlain: true, trace });
  const told: Told[] = [];
  for (let way = 1; way <= ways; way += 1) {
    trace?.(`way ${way}`);
    const messages = shuffled(random, scene.messages);
    const end = await simulatePayments({ ...scene, messages }, { seed: seed + way, trace });
    told.push(end);
    const problem = end.problem ?? (endAlike(plain, end) ? null : 'it ends otherwise than as it was');
    if (problem !== null) return { problem: `way ${way}: ${problem}`, told };
  }
  return { problem: plain.problem, told };
}

/** The refusals that an operator may get, because the operator decides at random. */
const refusals: readonly Rejection[] = [
  ...(['payment_callback_not_found', 'payment_callback_not_held', 'payment_callback_unreadable'] as const),
  ...(['payment_callback_resolved'] as const),
  ...(['review_not_open', 'review_not_applicable', 'transaction_of_another_order'] as const),
];

/**
 * Makes an operator who decides on payments at any time, also on those that are not held. The operator repeats an
 * unanswered decision unchanged.
 */
function makePaymentOperator({
  scene: { messages, orders },
  ...deps
}: {
  readonly scene: Scene;
  readonly random: Random;
  readonly processes: PaymentProcesses;
  readonly somewhere: () => PaymentProcess;
  readonly context: () => CommandContext;
}) {
  const { random, processes, somewhere, context } = deps;
  const decisions = new Map<string, ResolvePaymentInput>();

  return {
    /** Decides on a random report or notification. */
    decide: async () => {
      const names = await namesOf(pick(random, messages));
      if (names.length > 0) await tell(decisionOn(pick(random, names)));
    },
    /** Decides on some undecided ones, and repeats all decisions. */
    finish: async () => {
      for (const message of messages) {
        for (const id of await namesOf(message)) if (random() < 0.4) decisionOn(id);
      }
      for (const decision of decisions.values()) await tell(decision);
    },
  };

  /** Returns the names of the accepted reports of a message, and of each of its facts. */
  async function namesOf(message: SceneMessage): Promise<readonly string[]> {
    const { events } = await processes.store.readAll({ after: null, limit: 100_000 });
    const id = callbackOf(message);
    const facts = message.told.map((_, index) => forwardedKey(id, index));
    const reports = events.filter(
      ({ type, data }) => type === 'PaymentReported' && [id, ...facts].includes(textAt(data, 'key')),
    );
    const names = reports.flatMap(({ stream, revision, data }) => {
      const name = reportName(stream.slice('transaction-'.length), Number(revision));
      return textAt(data, 'key') === id ? [name, ...facts.map((_, n) => notificationName(name, n))] : [name];
    });
    return [...names, ...facts];
  }

  function decisionOn(id: string): ResolvePaymentInput {
    const isWhole = !id.includes('.');
    const action = random() < 0.6 ? 'apply' : 'dismiss';
    const order_id = isWhole && action === 'apply' ? pick(random, orders).id : null;
    const decision = decisions.get(id) ?? { id, action, order_id, note: 'why' };
    decisions.set(id, decision);
    return decision;
  }

  async function tell(decision: ResolvePaymentInput): Promise<void> {
    const told = somewhere().resolvePayment(decision, context());
    await processes.deliverable(told.catch(unlessRefused));
  }
}

function unlessRefused(error: unknown): void {
  if (!refusals.some((code) => isRejection<Rejection>(error, code))) throw error;
}
