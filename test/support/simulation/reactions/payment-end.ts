import { isDeepStrictEqual } from 'node:util';
import { transactionStreamId } from '../../../../src/commands/orders/payment-ids.js';
import { orderAggregate, orderStatus, refundedAmount } from '../../../../src/domain/order/order.js';
import { paymentCallbackAggregate } from '../../../../src/domain/payment-callback/payment-callback.js';
import { holds, projectAggregate } from '../../../../src/domain/project/project.js';
import { userAggregate } from '../../../../src/domain/user/user.js';
import type { CommandHandler } from '../../../../src/event-sourcing/deciding/command-handler.js';
import type { LogEvent } from '../../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { projectId, userId } from '../../examples/ids.js';
import { capacityBytes } from '../../examples/user.js';
import { fieldsDigestOf } from '../../fakes/test-payment-provider.js';
import {
  callbackOf,
  type Circumstances,
  type Decisions,
  type Expectation,
  type ExpectedCallback,
  expectedOf,
} from './payment-expectation.js';
import { problemsOfLog, textAt } from './payment-invariants.js';
import type { Scene, SceneMessage, SceneOrder } from './payment-scene.js';

/** The end of a history. */
export interface PaymentEnd {
  /** The problem, or null. */
  readonly problem: string | null;
  readonly orders: readonly OrderEnd[];
  /** Keys of the messages that wait for a decision of an operator. */
  readonly held: readonly string[];
  readonly circumstances: Circumstances;
}

interface OrderEnd {
  readonly status: string;
  readonly refunded: number;
  readonly isGranted: boolean;
  readonly mismatches: readonly string[];
}

/** Reads the end of the log and compares it with the expectation from the messages. */
export async function readEnd(
  scene: Scene,
  {
    store,
    handler,
    timePassed,
  }: { readonly store: EventStore; readonly handler: CommandHandler; readonly timePassed: boolean },
): Promise<PaymentEnd> {
  const { events } = await store.readAll({ after: null, limit: 100_000 });
  const circumstances = circumstancesOf(scene, events);
  const expectation = expectedOf(scene, circumstances);
  const ended = await Promise.all(scene.orders.map((order) => readOrder(handler, order, expectation)));
  const held: string[] = [];
  const problems = [...problemsOfLog(events), ...problemsOfLinks(scene, expectation, circumstances)];
  problems.push(
    ...ended.flatMap((order) => order.problems),
    ...(await problemsOfGrants(handler, scene, expectation)),
  );
  if (timePassed && ended.some(({ status }) => status === 'created' || status === 'pending')) {
    problems.push('an order never expired');
  }
  for (const message of scene.messages) {
    const id = callbackOf(message);
    const { state } = await handler.load(paymentCallbackAggregate, id);
    if (state.status === 'absent') problems.push(`${message.key} was not accepted`);
    else if (state.held !== null) held.push(message.key);
    problems.push(...problemsOfCallback(id, expectation.callbacks.get(id), events));
  }
  const orders = ended.map(({ problems: _problems, ...order }) => order);
  return { problem: problems[0] ?? null, orders, held: [...new Set(held)].sort(), circumstances };
}

function circumstancesOf({ orders, messages }: Scene, events: readonly LogEvent[]): Circumstances {
  const accepted = new Map<string, SceneMessage>();
  const links = new Map<string, string>();
  const ends = new Map<string, ('expired' | 'canceled')[]>(orders.map(({ id }) => [id, []]));
  for (const { type, stream, data } of events) {
    const id = stream.slice(stream.indexOf('-') + 1);
    if (type === 'TransactionLinked') links.set(id, textAt(data, 'order_id'));
    if (type === 'OrderExpired') ends.get(id)?.push('expired');
    if (type === 'OrderCanceled') ends.get(id)?.push('canceled');
    if (type !== 'PaymentCallbackReceived') continue;
    const message = messages.find(
      (one) => callbackOf(one) === id && fieldsDigestOf(one) === data['fields_digest'],
    );
    if (message !== undefined) accepted.set(id, message);
  }
  return { accepted, links, ends, decisions: decisionsOf(events) };
}

function decisionsOf(events: readonly LogEvent[]): Decisions {
  const callbacks = new Map<string, string | null>();
  const unparked = new Set<string>();
  const reviews = new Map<string, 'apply' | 'dismiss'>();
  const found = new Set<string>();
  for (const { type, stream, data } of events) {
    const id = stream.slice(stream.indexOf('-') + 1);
    const { order_id: orderId = null } = data;
    if (type === 'PaymentCallbackResolved') callbacks.set(id, typeof orderId === 'string' ? orderId : null);
    if (type === 'CallbackUnparked') unparked.add(`${id}/${textAt(data, 'callback')}`);
    if (type === 'PaymentMismatchFound') found.add(textAt(data, 'callback'));
    if (type !== 'ReviewResolved') continue;
    reviews.set(textAt(data, 'callback'), data['action'] === 'apply' ? 'apply' : 'dismiss');
  }
  return { callbacks, unparked, reviews, found };
}

async function readOrder(
  handler: CommandHandler,
  { id }: SceneOrder,
  { orders }: Expectation,
): Promise<OrderEnd & { readonly problems: readonly string[] }> {
  const { state } = await handler.load(orderAggregate, id);
  const expected = orders.get(id);
  if (state.status === 'absent' || expected === undefined) throw new Error('the order was not placed');
  const is = {
    status: orderStatus(state),
    refunded: refundedAmount(state),
    isGranted: state.is_granted,
    mismatches: state.mismatches.map(({ id }) => id).sort(),
  };
  const { isDue, ...rest } = expected;
  const mustBe = { ...rest, isGranted: isDue };
  const problems = isDeepStrictEqual(is, mustBe) ? [] : [`${id} is ${show(is)}, not ${show(mustBe)}`];
  return { ...is, problems };
}

/** Checks that the grants of the user and the project are those of the paid orders. */
async function problemsOfGrants(
  handler: CommandHandler,
  scene: Scene,
  { orders }: Expectation,
): Promise<readonly string[]> {
  const { state: user } = await handler.load(userAggregate, userId);
  const { state: project } = await handler.load(projectAggregate, projectId);
  if (user.status !== 'registered' || project.status !== 'existing') throw new Error('no recipient');
  const capacity = new Map<string, number>([['registration', capacityBytes]]);
  const entitling: string[] = [];
  for (const { id, grant } of scene.orders) {
    if (orders.get(id)?.isDue !== true) continue;
    if ('capacity_bytes' in grant) capacity.set(id, grant.capacity_bytes);
    else if (holds(project, { ...grant, source: id })) entitling.push(id);
    else return [`the project lacks what ${id} gives`];
  }
  return [
    ...(isDeepStrictEqual(new Map(user.capacity.map(({ source, bytes }) => [source, bytes])), capacity)
      ? []
      : ['the user has not the capacity that was paid for']),
    ...(project.entitlements.length === entitling.length ? [] : ['the project has more than was paid for']),
  ];
}

/** Checks that a transaction belongs to one of the existing orders that its messages name, if there is one. */
function problemsOfLinks(
  { messages }: Scene,
  { claims }: Expectation,
  { links }: Circumstances,
): readonly string[] {
  const streams = messages.flatMap(({ provider, told }) =>
    told.flatMap(({ transaction = null }) =>
      transaction === null ? [] : [transactionStreamId(provider, transaction)],
    ),
  );
  return streams.flatMap((stream) => {
    const linked = links.get(stream);
    const claimed = claims.get(stream);
    const isRight = linked === undefined ? claimed === undefined : claimed?.has(linked) === true;
    return isRight ? [] : [`${stream} belongs to ${linked ?? 'no order'}`];
  });
}

/** Checks for exactly one disposition, which is the expected one, or for a hold with an expected reason. */
function problemsOfCallback(
  id: string,
  expected: ExpectedCallback | undefined,
  events: readonly LogEvent[],
): readonly string[] {
  if (expected === undefined) return [`${id} was accepted as nothing that was sent`];
  const own = events.filter(({ stream }) => stream === `payment-${id}`);
  const settled = own.find(({ type }) => type === 'PaymentCallbackSettled')?.data;
  const held = own.findLast(({ type }) => type === 'PaymentCallbackHeld')?.data;
  const is =
    settled === undefined
      ? `held: ${textAt(held ?? {}, 'reason')}`
      : `${textAt(settled, 'disposition')} of ${textAt(settled, 'order_id')}`;
  const mayBe =
    expected.kind === 'held'
      ? expected.reasons.map((reason) => `held: ${reason}`)
      : settledAs(id, expected, events);
  return mayBe.includes(is) ? [] : [`${id} is ${is}, not ${mayBe.join(' or ')}`];
}

function settledAs(
  id: string,
  { as, orderIds }: Extract<ExpectedCallback, { kind: 'settled' }>,
  events: readonly LogEvent[],
): readonly string[] {
  // A message without a new fact has appended nothing to its order.
  const hasTold = events.some(
    ({ stream, data }) => stream.startsWith('order-') && textAt(data, 'callback').startsWith(id),
  );
  const disposition = as === 'applied' && !hasTold ? 'already_applied' : as;
  return (orderIds.length === 0 ? ['null'] : orderIds).map((orderId) => `${disposition} of ${orderId}`);
}

function show(value: unknown): string {
  return JSON.stringify(value);
}
