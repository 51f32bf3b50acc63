import { isDeepStrictEqual } from 'node:util';
import { setImmediate } from 'node:timers/promises';
import type { CallbackOutcome } from '../../../src/commands/receive-payment-callback.js';
import { isRejection } from '../../../src/commands/rejections.js';
import { orderAggregate } from '../../../src/domain/order/order.js';
import { projectAggregate } from '../../../src/domain/project/project.js';
import { userAggregate } from '../../../src/domain/user/user.js';
import { appendEvents } from '../../support/append-events.js';
import { makeSeededRandom } from '../../support/clock.js';
import { projectId, userId } from '../../support/examples/ids.js';
import { capacityGranted, userRegistered } from '../../support/examples/user.js';
import { givenContext } from '../../support/given-stores.js';
import { signed } from '../../support/test-payment-provider.js';
import { type PaymentEnd, readEnd } from './payment-end.js';
import { makePaymentOperator } from './payment-operator.js';
import { calm, makePaymentProcesses, type PaymentProcess, type PaymentWeather } from './payment-processes.js';
import { drawScene, pick, receivedAt, type Scene, type SceneMessage, shuffled } from './payment-scene.js';

/** How a history ended. */
export interface Told extends PaymentEnd {
  readonly crashes: number;
}

export interface HistoryOptions {
  /** Decides who waits for whom, what comes twice or late, and what crashes. */
  readonly seed: number;
  /** No mishaps, nothing twice, nothing late, neither time nor the buyer at work: the messages as they are, one by one. */
  readonly isPlain?: boolean;
  readonly trace?: ((line: string) => void) | undefined;
}

const orderLifeMs = 86_400_000;
/** Mishaps in one history, so that it ends. */
const crashesMax = 40;
const stormy: PaymentWeather = { crash: 0.12, loseAnswer: 0.06, slow: 0.1 };

/**
 * Delivers the scene's messages in their order, some of them more than once, at the same time or late, to two processes whose
 * calls wait for one another, lose answers and crash; what is not acknowledged comes again. Now and then the reactions of
 * both are at work too, the order's time passes, the buyer cancels, and an operator decides. In the end all that reactions owe is done.
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
  const context = () => givenContext((commands += 1), receivedAt);
  await setScene();
  const operator = makePaymentOperator({ scene, random, processes, somewhere, context });
  const isOperated = chance(0.35);
  processes.setWeather(chance(0.75) ? stormy : calm);
  const timePasses = chance(0.4);
  await deliverAll();
  if (timePasses) passTime();
  processes.setWeather(calm);
  // What a platform did not wait for comes to its end first.
  await setImmediate();
  await processes.react();
  if (isOperated) await operator.finish();
  await processes.react();
  const { handler } = processes.at(0);
  const end = await readEnd(scene, { store: processes.store, handler, timePassed: timePasses });
  return { ...end, problem: processes.problems[0] ?? end.problem, crashes: processes.crashes() };

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
      // What was acknowledged once is not sent again for a copy of it that was not.
      waiting.push(...some.filter((message) => !acknowledged.has(message)));
      if (timePasses && chance(0.3)) passTime();
    }
  }

  /** Some come late, and some again, behind those that come next or behind all. */
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
    const expiresAt = new Date(receivedAt.getTime() + orderLifeMs);
    for (const { id, ...order } of scene.orders) {
      await handler.handle(
        { aggregate: orderAggregate, id },
        { type: 'Place', userId, planId: 'p', currency: 'USD', expiresAt, ...order },
        context(),
      );
    }
  }

  function somewhere(): PaymentProcess {
    return processes.at(random() < 0.5 ? 0 : 1);
  }

  /** What the platform hears; null where it hears nothing. */
  async function deliver(message: SceneMessage): Promise<CallbackOutcome['kind'] | null> {
    const callback = { method: 'POST', query: '', receivedAt, ...signed(message) } as const;
    const received = somewhere().receivePaymentCallback({ name: message.provider, callback }, context());
    const outcome = await processes.deliverable(received);
    trace?.(`${message.key} was ${outcome?.kind ?? 'not answered'}`);
    return outcome?.kind ?? null;
  }

  /** The buyer gives up an order, if it can be given up. */
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
  if (!isRejection(error, 'order_not_open')) throw error;
}

/** Whether two histories of the same messages ended alike, as far as the same of them came first. */
export function endAlike(one: Told, other: Told): boolean {
  return (
    !isDeepStrictEqual(one.circumstances, other.circumstances) ||
    isDeepStrictEqual([one.orders, one.held], [other.orders, other.held])
  );
}

/**
 * Tells a scene drawn from the seed as it is, and then so often in other orders, with mishaps.
 * @returns `told`: without the first
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
