import { isDeepStrictEqual } from 'node:util';
import {
  factName,
  notificationName,
  ownStreamId,
  parseOrderNumber,
  transactionStreamId,
} from '../../../../src/areas/payments/domain/payment.js';
import {
  isDue,
  orderAggregate,
  type OrderCommand,
  type OrderState,
  orderStatus,
  type PlacedOrder,
  refundedAmount,
} from '../../../../src/areas/payments/domain/order/order.js';
import { evolve } from '../../../../src/areas/payments/domain/order/fold.js';
import type { PaymentNotification } from '../../../../src/areas/payments/domain/fact.js';
import type { PaymentReport } from '../../../../src/areas/payments/domain/transaction/events.js';
import {
  applicableAt,
  evolveTransaction,
  isOfOurs,
  noReports,
  type TransactionState,
} from '../../../../src/areas/payments/domain/transaction/fold.js';
import { transactionAggregate } from '../../../../src/areas/payments/domain/transaction/transaction.js';
import { makeSeededRandom } from '../../fakes/clock.js';
import { digest, userId } from '../../examples/ids.js';
import {
  callbackOf,
  type Circumstances,
  type ExpectedOrder,
  expectedOf,
} from '../reactions/payment-expectation.js';
import { drawScene, receivedAt, type Scene, type SceneMessage } from '../reactions/payment-scene.js';

/** A transaction after so many events. */
interface Reached {
  readonly state: TransactionState;
  readonly events: number;
}

/** All streams between two deliveries. No part of it changes, so all sequences that begin alike share it. */
interface World {
  readonly transactions: ReadonlyMap<string, Reached>;
  readonly orders: ReadonlyMap<string, OrderState>;
  /** Accepted reports that no order knows yet, because a process crashed. */
  readonly untold: readonly Told[];
}

interface Told {
  readonly stream: string;
  readonly revision: number;
}

/** A report, and the stream of its transaction or of itself. */
interface Route {
  readonly stream: string;
  readonly report: PaymentReport;
}

const crashShare = 0.15;
const reactionShare = 0.3;
const noDecisions = { reports: new Map(), reviews: new Map(), found: new Set<string>() };

/**
 * Delivers the messages of a scene in every possible sequence to the deciders of transactions and orders. A process may
 * crash between the acceptance and the order, and the reaction tells the order later. Each message also comes again, which
 * must append nothing, also where the process crashes again. At the end the reaction has told all, and the orders must be as the messages say.
 * @param tally counts sequences, crashes, and callbacks: each delivery once after each different beginning
 * @returns the problem of one of the sequences, or null
 */
export function problemOfDeliveries(
  seed: number,
  size: number,
  tally: Record<string, number>,
): string | null {
  const scene = drawScene(seed, { messages: size });
  const random = makeSeededRandom(seed);
  const accepted = new Map(scene.messages.map((message) => [callbackOf(message), message]));
  const memory = new Map<string, ReadonlyMap<string, ExpectedOrder>>();
  const placed = new Map(scene.orders.map((order) => [order.id, place(order)]));
  const routes = new Map(scene.messages.map((message) => [message, routeOf(message, placed)]));
  return explore({ transactions: new Map(), orders: placed, untold: [] }, scene.messages, []);

  function explore(world: World, left: readonly SceneMessage[], path: readonly string[]): string | null {
    if (left.length === 0) return judge(world, path);
    for (const [index, message] of left.entries()) {
      count('callbacks');
      const began = random() < reactionShare ? tellAll(world) : world;
      const crashes = random() < crashShare;
      if (crashes) count('crashes');
      const after = deliver(began, message, crashes);
      const named = [...path, message.key];
      if (hasGrown(after, deliver(after, message, crashes))) return `${named.join()} again appends`;
      const problem = explore(after, left.toSpliced(index, 1), named);
      if (problem !== null) return problem;
    }
    return null;
  }

  function deliver(world: World, message: SceneMessage, crashes: boolean): World {
    const route = routes.get(message) ?? null;
    if (route === null) return world;
    const { stream, report } = route;
    const before = world.transactions.get(stream) ?? { state: noReports, events: 0 };
    const events = transactionAggregate.decider.decide({ type: 'Report', report }, before.state);
    const state = events.reduce(
      (reached, event, index) =>
        evolveTransaction(reached, { ...event, revision: BigInt(before.events + index) }),
      before.state,
    );
    const reached = { state, events: before.events + events.length };
    const accepting =
      events.length === 0
        ? world
        : { ...world, transactions: new Map(world.transactions).set(stream, reached) };
    const revision = state.reports.find(({ key }) => key === report.key)?.revision ?? -1;
    if (!crashes) return tell(accepting, { stream, revision });
    return { ...accepting, untold: [...accepting.untold, { stream, revision }] };
  }

  function tellAll(world: World): World {
    return world.untold.reduce(tell, { ...world, untold: [] });
  }

  function tell(world: World, { stream, revision }: Told): World {
    const state = world.transactions.get(stream)?.state ?? noReports;
    const due = applicableAt(state, revision);
    if (due === null) return world;
    const provider = stream.startsWith('stripe') ? 'stripe' : 'standard';
    const reports = due.reports.flatMap((report) =>
      report.notifications.map(({ fact, order_number, transaction_id: transactionId, at }, index) => ({
        ...({ callback: factName(stream, report, index), provider, transactionId, fact } as const),
        mismatch: due.isOther
          ? ('transaction_of_another_order' as const)
          : isOfOurs(state, due.orderId, report, { order_number })
            ? null
            : ('merchant' as const),
        at: new Date(at ?? report.received_at),
      })),
    );
    return withOrder(world, due.orderId, { type: 'Report', reports });
  }

  /** Returns what the orders are that are not as the messages say; null where all are. */
  function judge(world: World, path: readonly string[]): string | null {
    count('sequences');
    const end = tellAll(world);
    const links = new Map<string, string>();
    const linkedByOthers = new Set<string>();
    const keys = new Map<string, string>();
    for (const [stream, { state }] of end.transactions) {
      if (state.link !== null) links.set(stream, state.link.order_id);
      for (const report of state.reports) {
        if (report.revision === state.link?.at && !report.is_ours) linkedByOthers.add(stream);
        keys.set(factName(stream, report, 0), notificationName(report.key, 0));
      }
    }
    const expected = expectedWith({ links, linkedByOthers });
    for (const [id, state] of end.orders) {
      if (state.status === 'absent') throw new Error('the order was placed');
      const order = granted(state);
      const is = {
        ...{ status: orderStatus(order), refunded: refundedAmount(order), isDue: isDue(order) },
        isGranted: order.is_granted,
        mismatches: order.mismatches.map((one) => keys.get(one.id) ?? one.id).sort(),
      };
      const { isDue: due, ...rest } = expected.get(id) ?? { isDue: false };
      const mustBe = { ...rest, isDue: due, isGranted: due };
      if (!isDeepStrictEqual(is, mustBe))
        return `${id} is ${JSON.stringify(is)}, not ${JSON.stringify(mustBe)}, after ${path.join()}`;
    }
    return null;
  }

  /** The expectation depends on nothing but the links, so few are computed. */
  function expectedWith(
    linked: Pick<Circumstances, 'links' | 'linkedByOthers'>,
  ): ReadonlyMap<string, ExpectedOrder> {
    const key = JSON.stringify([[...linked.links].sort(), [...linked.linkedByOthers].sort()]);
    const known = memory.get(key);
    if (known !== undefined) return known;
    const ends = new Map(scene.orders.map(({ id }) => [id, []]));
    const { orders } = expectedOf(scene, { accepted, ...linked, ends, decisions: noDecisions });
    memory.set(key, orders);
    return orders;
  }

  function count(what: string): void {
    tally[what] = (tally[what] ?? 0) + 1;
  }
}

/** Where a message is reported, as `payment-reports.ts` decides; null where it changes nothing. */
function routeOf(message: SceneMessage, orders: World['orders']): Route | null {
  const told = message.told.map(notificationOf)[0];
  if (told === undefined || told.fact.kind === 'nothing') return null;
  const orderId = parseOrderNumber(told.order_number ?? '') ?? '';
  const order_id = orders.has(orderId) ? orderId : null;
  const { provider, isOurs: is_ours = true } = message;
  const { transaction_id: transaction } = told;
  const key = callbackOf(message);
  const stream =
    transaction === null ? ownStreamId(provider, key) : transactionStreamId(provider, transaction);
  const received_at = receivedAt.toISOString();
  return { stream, report: { key, digest, is_ours, notifications: [told], order_id, received_at } };
}

function notificationOf({
  number = null,
  transaction = null,
  fact,
  at = null,
}: SceneMessage['told'][number]): PaymentNotification {
  return { order_number: number, transaction_id: transaction, fact, at };
}

function withOrder(world: World, id: string, command: OrderCommand): World {
  const before = world.orders.get(id);
  if (before === undefined) throw new Error('the order was placed');
  const after = decided(before, command);
  return after === before ? world : { ...world, orders: new Map(world.orders).set(id, after) };
}

/** Marks the grant as the reaction does: when it is due, and when it is not any more. */
function granted(order: PlacedOrder): PlacedOrder {
  const marked = decided(decided(order, { type: 'MarkFulfilled' }), { type: 'MarkRevoked' });
  if (marked.status === 'absent') throw new Error('the order was placed');
  return marked;
}

/** Places an order of a scene. */
export function place({ id: _id, ...order }: Scene['orders'][number]): OrderState {
  const command = {
    type: 'Place',
    user_id: userId,
    plan_id: 'p',
    currency: 'USD',
    expires_at: receivedAt.toISOString(),
    ...order,
  } as const;
  return decided(orderAggregate.decider.initialState, command);
}

/** Returns the order after a command. */
export function decided(state: OrderState, command: OrderCommand): OrderState {
  return orderAggregate.decider.decide(command, state).reduce(evolve, state);
}

function hasGrown(before: World, after: World): boolean {
  const isMore = [...after.transactions].some(
    ([stream, { events }]) => before.transactions.get(stream)?.events !== events,
  );
  return isMore || [...after.orders].some(([id, order]) => before.orders.get(id) !== order);
}
