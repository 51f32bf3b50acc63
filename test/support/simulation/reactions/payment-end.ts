import { isDeepStrictEqual } from 'node:util';
import {
  notificationName,
  reportName,
  transactionStreamId,
} from '../../../../src/areas/payments/domain/payment.js';
import {
  isOpen,
  orderAggregate,
  orderStatus,
  paymentUnderWay,
  refundedAmount,
} from '../../../../src/areas/payments/domain/order/order.js';
import { whyPending } from '../../../../src/areas/payments/domain/transaction/fold.js';
import { transactionAggregate } from '../../../../src/areas/payments/domain/transaction/transaction.js';
import { holds, projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import type { CommandHandler } from '../../../../src/event-sourcing/deciding/command-handler.js';
import type { LogEvent } from '../../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { projectId, userId } from '../../examples/ids.js';
import { capacityBytes } from '../../examples/user.js';
import { outcomeOfReport } from '../../given/report-outcome.js';
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
  const { events: stored } = await store.readAll({ after: null, limit: 100_000 });
  const names = namesOf(stored);
  const events = stored.map((event) => renamed(event, names));
  const circumstances = circumstancesOf(scene, events);
  const expectation = expectedOf(scene, circumstances);
  const ended = await Promise.all(
    scene.orders.map((order) => readOrder(handler, order, { names, expectation })),
  );
  const held: string[] = [];
  const problems = [...problemsOfLog(stored), ...problemsOfLinks(scene, expectation, circumstances)];
  problems.push(
    ...ended.flatMap((order) => order.problems),
    ...(await problemsOfGrants(handler, scene, expectation)),
  );
  for (const { id } of scene.orders) {
    const { state } = await handler.load(orderAggregate, id);
    const waits = state.status === 'placed' && isOpen(state) && paymentUnderWay(state) === null;
    if (timePassed && waits) problems.push('an order never expired');
  }
  for (const message of scene.messages) {
    const id = callbackOf(message);
    const ends = await endsOf(handler, id, stored);
    if (ends.some(({ reason }) => reason !== null)) held.push(message.key);
    problems.push(...problemsOfCallback({ id, ends }, expectation.callbacks.get(id), events));
  }
  const orders = ended.map(({ problems: _problems, ...order }) => order);
  return { problem: problems[0] ?? null, orders, held: [...new Set(held)].sort(), circumstances };
}

function circumstancesOf({ orders, messages }: Scene, events: readonly LogEvent[]): Circumstances {
  const accepted = new Map<string, SceneMessage>();
  const ends = new Map<string, ('expired' | 'canceled')[]>(orders.map(({ id }) => [id, []]));
  for (const { type, stream, data } of events) {
    const id = stream.slice(stream.indexOf('-') + 1);
    if (type === 'OrderExpired') ends.get(id)?.push('expired');
    if (type === 'OrderCanceled') ends.get(id)?.push('canceled');
    if (type !== 'PaymentReported') continue;
    const message = messages.find((one) => fieldsDigestOf(one) === data['digest']);
    if (message !== undefined) accepted.set(callbackOf(message), message);
  }
  return { accepted, ...linksOf(events), ends, decisions: decisionsOf(events) };
}

/** Returns the first order of each transaction, and the transactions that have it from a report of another account. */
function linksOf(events: readonly LogEvent[]): Pick<Circumstances, 'links' | 'linkedByOthers'> {
  const links = new Map<string, string>();
  const linkedByOthers = new Set<string>();
  for (const { stream, data } of events) {
    const orderId = data['order_id'];
    if (!stream.startsWith('transaction-') || typeof orderId !== 'string') continue;
    const id = stream.slice(stream.indexOf('-') + 1);
    if (links.has(id)) continue;
    links.set(id, orderId);
    if (data['is_ours'] === false) linkedByOthers.add(id);
  }
  return { links, linkedByOthers };
}

function decisionsOf(events: readonly LogEvent[]): Decisions {
  const reports = new Map<string, string | null>();
  const keys = keysOf(events);
  const reviews = new Map<string, 'apply' | 'dismiss'>();
  const found = new Set<string>();
  for (const { type, stream, data } of events) {
    const id = stream.slice(stream.indexOf('-') + 1);
    const { order_id: orderId = null } = data;
    if (type === 'PaymentReportResolved') {
      const key = keys.get(reportName(id, Number(data['report'])));
      reports.set(key ?? '', typeof orderId === 'string' ? orderId : null);
    }
    if (type === 'PaymentMismatchFound') found.add(textAt(data, 'callback'));
    if (type !== 'ReviewResolved') continue;
    reviews.set(textAt(data, 'callback'), data['action'] === 'apply' ? 'apply' : 'dismiss');
  }
  return { reports, reviews, found };
}

/** Returns the key of each report by its name; of a forwarded one the key of its callback and the index. */
function keysOf(events: readonly LogEvent[]): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const { type, stream, revision, data } of events) {
    if (type !== 'PaymentReported') continue;
    const [forwardedBy = '', index] = textAt(data, 'key').split('.');
    const key =
      index === undefined ? forwardedBy : notificationName(keys.get(forwardedBy) ?? '', Number(index));
    keys.set(reportName(stream.slice('transaction-'.length), Number(revision)), key);
  }
  return keys;
}

/** Returns the name of each fact by its callback in any order of arrival. */
function namesOf(events: readonly LogEvent[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, key] of keysOf(events)) {
    for (const index of [0, 1, 2]) names.set(notificationName(name, index), notificationName(key, index));
  }
  return names;
}

function renamed(event: LogEvent, names: ReadonlyMap<string, string>): LogEvent {
  const name = names.get(textAt(event.data, 'callback'));
  return name === undefined ? event : { ...event, data: { ...event.data, callback: name } };
}

/** What has become of one report. `reason`: why it waits. */
interface ReportEnd {
  readonly reason: string | null;
  readonly disposition: string | null;
  readonly orderId: string | null;
}

async function endsOf(
  handler: CommandHandler,
  callback: string,
  events: readonly LogEvent[],
): Promise<readonly ReportEnd[]> {
  const ends: ReportEnd[] = [];
  for (const [name, key] of keysOf(events)) {
    if (key.split('.')[0] !== callback) continue;
    const [stream = '', revision] = name.split('@');
    const { state } = await handler.load(transactionAggregate, stream);
    const report = state.reports.find((one) => one.revision === Number(revision));
    if (report === undefined) throw new Error('a report is in its stream');
    if (report.is_forwarded === true) continue;
    const reason = whyPending(state, report);
    ends.push({ reason, ...(await outcomeOfReport(handler, stream, report.revision)) });
  }
  return ends;
}

async function readOrder(
  handler: CommandHandler,
  { id }: SceneOrder,
  {
    names,
    expectation: { orders },
  }: { readonly names: ReadonlyMap<string, string>; readonly expectation: Expectation },
): Promise<OrderEnd & { readonly problems: readonly string[] }> {
  const { state } = await handler.load(orderAggregate, id);
  const expected = orders.get(id);
  if (state.status === 'absent' || expected === undefined) throw new Error('the order was not placed');
  const is = {
    status: orderStatus(state),
    refunded: refundedAmount(state),
    isGranted: state.is_granted,
    mismatches: state.mismatches.map(({ id: name }) => names.get(name) ?? name).sort(),
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

const rank = ['mismatch', 'applied', 'already_applied', 'ignored'];

/** Checks for the expected disposition, or for a report that waits with an expected reason. */
function problemsOfCallback(
  { id, ends }: { readonly id: string; readonly ends: readonly ReportEnd[] },
  expected: ExpectedCallback | undefined,
  events: readonly LogEvent[],
): readonly string[] {
  if (expected === undefined) return [`${id} was accepted as nothing that was sent`];
  // A callback without a report changes nothing, or its order alone has it.
  if (ends.length === 0 && (expected.kind === 'held' || expected.as === 'mismatch'))
    return [`${id} was not accepted`];
  if (ends.length === 0) return [];
  const held = ends.find(({ reason }) => reason !== null);
  const settled = [...ends].sort(
    (one, other) => rank.indexOf(one.disposition ?? '') - rank.indexOf(other.disposition ?? ''),
  )[0];
  const is = held === undefined ? `${settled?.disposition} of ${settled?.orderId}` : `held: ${held.reason}`;
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
