import { isDeepStrictEqual } from 'node:util';
import type { Aggregate } from '../../event-sourcing/decider.js';
import type { PaymentProviderName, RecordedFact } from '../payment.js';
import { orderCodec, type OrderEvent, type OrderGrant } from './events.js';
import { rejectOrder } from './rejections.js';
import { evolve, isDue, isOpen, isUnpaid, type OrderState, type PlacedOrder } from './state.js';
import { orderCategory } from './stream.js';

export {
  isDue,
  isOpen,
  isUnpaid,
  orderStatus,
  refundedAmount,
  type OrderState,
  type OrderStatus,
  type PlacedOrder,
} from './state.js';

/** A fact that a callback has brought. */
export interface ReportedFact {
  /** Names the callback, and which of its notifications this is; the same one counts once. */
  readonly callback: string;
  readonly transactionId: string | null;
  readonly fact: RecordedFact;
  readonly at: Date;
}

export type OrderCommand =
  | {
      readonly type: 'Place';
      readonly userId: string;
      readonly projectId: string | null;
      readonly planId: string;
      readonly grant: OrderGrant;
      readonly provider: PaymentProviderName;
      /** Minor units. */
      readonly amount: number;
      readonly currency: string;
      readonly expiresAt: Date;
    }
  | { readonly type: 'Report'; readonly report: ReportedFact }
  /** Genuine, but of another merchant's account, or of a transaction that has paid another order. */
  | {
      readonly type: 'ReportMismatch';
      readonly report: ReportedFact;
      readonly reason: 'merchant' | 'transaction_of_another_order';
    }
  | {
      readonly type: 'ResolveReview';
      readonly callback: string;
      readonly action: 'apply' | 'dismiss';
      readonly noteDigest: string | null;
    }
  | { readonly type: 'Cancel' }
  | { readonly type: 'Expire'; readonly now: Date }
  /** What was bought has been granted, or taken back; decides nothing where the facts say otherwise by now. */
  | { readonly type: 'MarkFulfilled' }
  | { readonly type: 'MarkRevoked' };

/** DESIGN 4.5: open orders of one user, and how long an order stays open, in milliseconds. */
export const openOrdersMax = 100;
export const orderLifeMs = 86_400_000;

const initialState: OrderState = { status: 'absent' };

function decide(command: OrderCommand, state: OrderState): readonly OrderEvent[] {
  if (command.type === 'Place') return place(command, state);
  const order = placed(state);
  switch (command.type) {
    case 'Report':
      return unlessKnown(order, unlessSeen(order, report(command.report, order)));
    case 'ReportMismatch':
      return unlessSeen(order, mismatch(command.report, command.reason));
    case 'ResolveReview':
      return resolve(command, order);
    case 'Cancel':
      if (order.facts.ends.has('canceled')) return [];
      if (!isOpen(order)) rejectOrder('order_not_open', 'the order cannot be canceled any more');
      return [{ type: 'OrderCanceled', data: {} }];
    case 'Expire':
      return isUnpaid(order) && order.expiresAt <= command.now ? [{ type: 'OrderExpired', data: {} }] : [];
    case 'MarkFulfilled':
      return isDue(order) && !order.isGranted ? [{ type: 'OrderFulfilled', data: {} }] : [];
    case 'MarkRevoked':
      return !isDue(order) && order.isGranted ? [{ type: 'FulfilmentRevoked', data: {} }] : [];
  }
}

function place(command: Extract<OrderCommand, { type: 'Place' }>, state: OrderState): readonly OrderEvent[] {
  // An order's id is made from the command that places it, so one that exists is what an earlier try has made.
  if (state.status === 'placed') return [];
  return [
    {
      type: 'OrderPlaced',
      data: {
        user_id: command.userId,
        project_id: command.projectId,
        plan_id: command.planId,
        grant: command.grant,
        provider: command.provider,
        amount: command.amount,
        currency: command.currency,
        expires_at: command.expiresAt.toISOString(),
      },
    },
  ];
}

function report(reported: ReportedFact, order: PlacedOrder): readonly OrderEvent[] {
  const { callback, transactionId, fact } = reported;
  const at = reported.at.toISOString();
  switch (fact.kind) {
    case 'nothing':
    case 'unreadable':
      return [];
    case 'pending':
      return [{ type: 'PaymentPending', data: { callback, transaction_id: transactionId, at } }];
    case 'failed':
    case 'expired':
    case 'canceled':
      return [
        { type: 'PaymentFailed', data: { callback, reason: fact.kind, transaction_id: transactionId, at } },
      ];
    case 'paid':
      return capture(reported, fact, order);
    case 'refund':
    case 'refunded-in-total': {
      if (fact.currency !== order.currency) return mismatch(reported, 'currency');
      const refund =
        fact.kind === 'refund' ? { refund_id: fact.refund_id, status: fact.status } : ('in-total' as const);
      const { amount, currency } = fact;
      const transaction_id = transactionOf(reported);
      return [{ type: 'RefundReported', data: { callback, transaction_id, refund, amount, currency, at } }];
    }
    case 'dispute': {
      const data = { callback, transaction_id: transactionOf(reported), dispute_id: fact.dispute_id, at };
      if (fact.status === 'open') return [{ type: 'DisputeOpened', data }];
      return [{ type: 'DisputeClosed', data: { ...data, outcome: fact.status } }];
    }
  }
}

function capture(
  reported: ReportedFact,
  { amount, currency }: Extract<RecordedFact, { kind: 'paid' }>,
  order: PlacedOrder,
): readonly OrderEvent[] {
  if (currency !== order.currency) return mismatch(reported, 'currency');
  if (amount !== order.amount) return mismatch(reported, 'amount');
  const { callback } = reported;
  const transaction_id = transactionOf(reported);
  const at = reported.at.toISOString();
  return [{ type: 'PaymentCaptured', data: { callback, transaction_id, amount, currency, at } }];
}

function mismatch(
  { callback, transactionId, fact, at }: ReportedFact,
  reason: Extract<OrderEvent, { type: 'PaymentMismatchFound' }>['data']['reason'],
): readonly OrderEvent[] {
  const { amount, currency } = 'amount' in fact ? fact : { amount: null, currency: null };
  return [
    {
      type: 'PaymentMismatchFound',
      data: { callback, reason, transaction_id: transactionId, amount, currency, at: at.toISOString() },
    },
  ];
}

/** A platform that names no transaction has one message for each. */
function transactionOf({ callback, transactionId }: ReportedFact): string {
  return transactionId ?? callback;
}

function unlessSeen(order: PlacedOrder, events: readonly OrderEvent[]): readonly OrderEvent[] {
  const isSeen = events.some(
    ({ type, data }) => 'callback' in data && order.seen.has(`${type}/${data.callback}`),
  );
  return isSeen ? [] : events;
}

/** What another message has told before changes nothing, and is not written down again. */
function unlessKnown(order: PlacedOrder, events: readonly OrderEvent[]): readonly OrderEvent[] {
  const after = events.reduce<OrderState>(evolve, order);
  if (after.status === 'absent') return events;
  const isNews = !isDeepStrictEqual([after.facts, after.mismatches], [order.facts, order.mismatches]);
  return isNews ? events : [];
}

function resolve(
  { callback, action, noteDigest }: Extract<OrderCommand, { type: 'ResolveReview' }>,
  order: PlacedOrder,
): readonly OrderEvent[] {
  if (order.seen.has(`ReviewResolved/${callback}`)) return [];
  if (!order.mismatches.has(callback)) {
    rejectOrder('review_not_open', 'nothing of this order waits for a decision under this name');
  }
  return [{ type: 'ReviewResolved', data: { callback, action, note_digest: noteDigest } }];
}

function placed(state: OrderState): PlacedOrder {
  return state.status === 'placed' ? state : rejectOrder('order_not_found', 'there is no such order');
}

export const orderAggregate: Aggregate<OrderState, OrderCommand, OrderEvent> = {
  category: orderCategory,
  codec: orderCodec,
  decider: { initialState, decide, evolve },
};
