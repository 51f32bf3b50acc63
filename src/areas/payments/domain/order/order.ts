import { defineAggregate } from '../../../../event-sourcing/deciding/command-handler.js';
import { isDeepStrictEqual } from 'node:util';
import { movesMoney } from '../fact.js';
import type { PaymentAction, ResolutionNote } from '../payment.js';
import { type OrderEvent, orderEvents } from './events.js';
import {
  evolve,
  isDue,
  isExpiring,
  isOpen,
  type OrderPlaced,
  orderStatus,
  type OrderState,
  type PlacedOrder,
} from './fold.js';
import { rejectOrder } from './rejections.js';
import { eventsOf, mismatch, type ReportedFact } from './reported-fact.js';
import { isApplicable, knownAs, type Mismatch } from './review.js';
import { type GoneReason, unusedPayments } from './unused.js';

export { clockSkewMs, reportedFact, type ReportedFact } from './reported-fact.js';
export { type GoneReason, unusedPayments } from './unused.js';
export {
  isDue,
  isExpiring,
  isOpen,
  orderStatus,
  paymentUnderWay,
  pendingMsMax,
  refundedAmount,
  type OrderState,
  type OrderStatus,
  type PlacedOrder,
} from './fold.js';

export type OrderCommand =
  | ({ readonly type: 'Place' } & OrderPlaced)
  /** The facts of reports. The order drops those that it knows, and those for which it has no room: see `outcomeIn`. */
  | { readonly type: 'Report'; readonly reports: readonly ReportedFact[] }
  | {
      readonly type: 'ResolveReview';
      /** The name of the mismatch. */
      readonly callback: string;
      readonly action: PaymentAction;
      readonly note: ResolutionNote;
    }
  | { readonly type: 'Cancel' }
  | { readonly type: 'Expire'; readonly now: Date }
  /** The grant was given or taken back. Appends nothing if the facts say otherwise by now. */
  | { readonly type: 'MarkFulfilled' }
  | { readonly type: 'MarkRevoked' }
  /** What was paid has no recipient. */
  | { readonly type: 'MarkRecipientGone'; readonly reason: GoneReason };

/** Open orders of one user, and the life of an open order in ms (src/areas/payments/README.md#plans-and-orders). */
export const openOrdersMax = 100;
export const orderLifeMs = 86_400_000;

/** Bounds an order's stream and document: docs/decisions/orders.md#0018-500-reports. */
export const reportsMax = 500;

const initialState: OrderState = { status: 'absent' };

function decide(command: OrderCommand, state: OrderState): readonly OrderEvent[] {
  if (command.type === 'Place') return place(command, state);
  const order = placed(state);
  switch (command.type) {
    case 'Report':
      return effectsOf(order, command.reports).flatMap((effect) => (effect === 'full' ? [] : effect));
    case 'ResolveReview':
      return resolve(command, order);
    case 'Cancel':
      if (orderStatus(order) === 'canceled') return [];
      if (!isOpen(order)) rejectOrder('order_not_open', 'the order cannot be canceled any more');
      return [{ type: 'OrderCanceled', data: {} }];
    case 'Expire':
      return isExpiring(order, command.now) ? [{ type: 'OrderExpired', data: {} }] : [];
    case 'MarkFulfilled':
      return isDue(order) && !order.is_granted ? [{ type: 'OrderFulfilled', data: {} }] : [];
    case 'MarkRevoked':
      return !isDue(order) && order.is_granted ? [{ type: 'FulfilmentRevoked', data: {} }] : [];
    case 'MarkRecipientGone':
      return isRecipientOwed(order) ? [{ type: 'GrantRecipientGone', data: { reason: command.reason } }] : [];
  }
}

/** The id derives from the command, so an earlier attempt made an existing order. */
function place(order: OrderPlaced, state: OrderState): readonly OrderEvent[] {
  if (state.status === 'placed') return [];
  const { user_id, project_id, plan_id, grant, provider, amount, currency, expires_at } = order;
  const data = { user_id, project_id, plan_id, grant, provider, amount, currency, expires_at };
  return [{ type: 'OrderPlaced', data }];
}

/** What an order makes of a fact. `owed`: it has not learned the fact. `full`: it has no room for the fact. */
export type FactOutcome = 'owed' | 'full' | 'mismatch' | 'applied' | 'already_applied';

/** Derives the outcome of a fact from what the order knows (src/areas/payments/README.md#settling). */
export function outcomeIn(order: PlacedOrder, reported: ReportedFact): FactOutcome {
  return knownAs(order.seen, reported.callback) ?? outcomeOf(effectOf(order, reported));
}

/** Returns whether an event of the order has this name. */
export function isKnown(order: OrderState, name: string): boolean {
  return order.status === 'placed' && knownAs(order.seen, name) !== null;
}

/** Derives the outcomes of facts that reach the order now, one after the other. */
export function outcomesIn(order: PlacedOrder, reports: readonly ReportedFact[]): readonly FactOutcome[] {
  return effectsOf(order, reports).map(outcomeOf);
}

function outcomeOf(effect: Effect): FactOutcome {
  if (effect === 'full') return 'full';
  return effect.length > 0 ? 'owed' : 'already_applied';
}

function effectsOf(order: PlacedOrder, reports: readonly ReportedFact[]): readonly Effect[] {
  let after: OrderState = order;
  return reports.map((reported) => {
    const effect = effectOf(placed(after), reported);
    if (effect !== 'full') after = effect.reduce<OrderState>(evolve, after);
    return effect;
  });
}

type Effect = readonly OrderEvent[] | 'full';

function effectOf(order: PlacedOrder, reported: ReportedFact): Effect {
  const events = eventsOf(reported, order);
  return unlessFull(order, reported, unlessKnown(order, unlessSeen(order, events)));
}

function unlessSeen(order: PlacedOrder, events: readonly OrderEvent[]): readonly OrderEvent[] {
  const isSeen = events.some(
    ({ type, data }) => 'callback' in data && order.seen.has(`${type}/${data.callback}`),
  );
  return isSeen ? [] : events;
}

/** Drops events that change neither facts nor mismatches, because another message reported the same. */
function unlessKnown(order: PlacedOrder, events: readonly OrderEvent[]): readonly OrderEvent[] {
  const after = events.reduce<OrderState>(evolve, order);
  if (after.status === 'absent') return events;
  const isNews = !isDeepStrictEqual([after.facts, after.mismatches], [order.facts, order.mismatches]);
  return isNews ? events : [];
}

/**
 * Beyond `reportsMax`: the first further report becomes a mismatch for review. While one waits, there is no room for
 * others. There is never room for a report that moves no money.
 */
function unlessFull(order: PlacedOrder, reported: ReportedFact, events: readonly OrderEvent[]): Effect {
  if (events.length === 0 || order.seen.size < reportsMax) return events;
  if (!movesMoney(reported.fact)) return 'full';
  const excess = unlessSeen(order, mismatch(reported, 'too_many_reports', order));
  if (excess.length === 0) return [];
  return order.mismatches.length > 0 ? 'full' : excess;
}

/** A repeated decision appends nothing. A different later one is rejected. */
function resolve(
  { callback, action, note }: Extract<OrderCommand, { type: 'ResolveReview' }>,
  order: PlacedOrder,
): readonly OrderEvent[] {
  const earlier = order.resolved.get(callback);
  const unused = unusedPayments(order).find(({ id }) => id === callback);
  const isRepeated = isDeepStrictEqual(earlier, { action, note_digest: note.note_digest });
  if (isRepeated && (unused === undefined || action === 'apply')) return [];
  // A payment that was decided on may buy nothing later, or be lost in part, which is another question.
  if (earlier !== undefined && unused === undefined)
    rejectOrder('review_resolved', 'another decision on this payment stands');
  const waiting = order.mismatches.find(({ id }) => id === callback);
  if (waiting === undefined && unused === undefined)
    rejectOrder('review_not_open', 'this order has no open review with this id');
  if (action === 'apply') requireApplicable(waiting);
  return [{ type: 'ReviewResolved', data: { callback, action, ...note } }];
}

function requireApplicable(waiting: Mismatch | undefined): void {
  if (waiting === undefined) {
    rejectOrder(
      'review_not_applicable',
      'this payment counts already; give the money back at the platform, or dismiss this',
    );
  }
  if (!isApplicable(waiting)) {
    rejectOrder(
      'review_not_applicable',
      'only a payment that pays no other order can be applied; dismiss this',
    );
  }
}

/** Returns whether a payment stands that nothing was granted for, and no event says that its recipient is gone. */
export function isRecipientOwed(order: PlacedOrder): boolean {
  return isDue(order) && !order.is_granted && order.gone === null;
}

/**
 * Returns whether a payment that its buyer has approved may be taken: the order waits for one and has not expired. After a
 * declined payment the buyer may approve another one.
 */
export function canTakeMoney(order: PlacedOrder, now: Date): boolean {
  const waits = isOpen(order) || orderStatus(order) === 'failed';
  return waits && new Date(order.expires_at) > now;
}

/** Returns the order. @throws CommandRejected order_not_found */
export function placed(state: OrderState): PlacedOrder {
  return state.status === 'placed' ? state : rejectOrder('order_not_found', 'there is no such order');
}

export const orderAggregate = defineAggregate(orderEvents, { initialState, decide, evolve });
