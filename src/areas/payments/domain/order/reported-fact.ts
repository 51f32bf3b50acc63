import { movesMoney, type PaymentFact, type PaymentNotification } from '../fact.js';
import type { PaymentProviderName } from '../payment.js';
import type { OrderEvent } from './events.js';
import { isCharged, isCovered, type Mismatch, transactionKey } from './review.js';
import type { PlacedOrder } from './fold.js';

/** A fact of a report. */
export interface ReportedFact {
  /** The name: the report and the index of the fact. A name counts once. */
  readonly callback: string;
  /** The platform of the report. */
  readonly provider: PaymentProviderName;
  /** Why it is a mismatch in any case; null where the order decides. */
  readonly mismatch: 'merchant' | 'another_payment' | 'transaction_of_another_order' | null;
  readonly transactionId: string | null;
  readonly fact: PaymentFact;
  readonly at: Date;
}

/**
 * How far the clocks of a platform or an operator and of this process may differ. The order keeps the latest figure of a
 * platform, so a later time would hide every report after it.
 */
export const clockSkewMs = 300_000;

/**
 * Makes the fact of a notification.
 * @param receivedAt counts where the platform names no time
 */
export function reportedFact(
  { transaction_id: transactionId, fact, at }: PaymentNotification,
  receivedAt: string,
  of: Pick<ReportedFact, 'callback' | 'provider' | 'mismatch'>,
): ReportedFact {
  return { ...of, transactionId, fact, at: new Date(at ?? receivedAt) };
}

/** Returns what a fact means for an order, whether the order knows it already or not. */
export function eventsOf(reported: ReportedFact, order: PlacedOrder): readonly OrderEvent[] {
  const reason = reported.mismatch ?? (reported.provider === order.provider ? null : 'merchant');
  if (reason === null) return report(reported, order);
  // Of a payment of another account or order, only money is an operator's business.
  if (!movesMoney(reported.fact)) return [];
  const isDecidedOn = reason === 'merchant' && isDecided(order, reported);
  return isDecidedOn && reported.fact.kind !== 'paid'
    ? report(reported, order)
    : mismatch(reported, reason, order);
}

function report(reported: ReportedFact, order: PlacedOrder): readonly OrderEvent[] {
  const { callback, transactionId, fact } = reported;
  const at = reported.at.toISOString();
  switch (fact.kind) {
    case 'approved':
    case 'nothing':
    case 'unreadable':
      return [];
    case 'pending':
    case 'unpaid': {
      const unpaid = fact.kind === 'unpaid' ? { is_unpaid: true as const } : {};
      return [{ type: 'PaymentPending', data: { callback, transaction_id: transactionId, ...unpaid, at } }];
    }
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
      if (fact.currency !== order.currency && !isDecided(order, reported))
        return mismatch(reported, 'currency', order);
      const refund =
        fact.kind === 'refund' ? { refund_id: fact.refund_id, status: fact.status } : ('in-total' as const);
      const { amount, currency } = fact;
      const transaction_id = transactionOf(reported);
      return [{ type: 'RefundReported', data: { callback, transaction_id, refund, amount, currency, at } }];
    }
    case 'dispute':
      return [disputeEvent(reported, fact)];
  }
}

function disputeEvent(
  reported: ReportedFact,
  { kind: _kind, status, ...disputed }: Extract<PaymentFact, { kind: 'dispute' }>,
): OrderEvent {
  const { callback, at } = reported;
  const data = { callback, transaction_id: transactionOf(reported), ...disputed, at: at.toISOString() };
  if (status === 'open') return { type: 'DisputeOpened', data };
  return { type: 'DisputeClosed', data: { ...data, outcome: status } };
}

function capture(
  reported: ReportedFact,
  { kind: _kind, ...money }: Extract<PaymentFact, { kind: 'paid' }>,
  order: PlacedOrder,
): readonly OrderEvent[] {
  const { amount, currency } = money;
  if (currency !== order.currency) return mismatch(reported, 'currency', order);
  if (amount !== order.amount) return mismatch(reported, 'amount', order);
  const { callback } = reported;
  const transaction_id = transactionOf(reported);
  const at = reported.at.toISOString();
  return [{ type: 'PaymentCaptured', data: { callback, transaction_id, ...money, at } }];
}

/** Returns the mismatch of a fact; nothing where a decision covers it. */
export function mismatch(
  { callback, provider, transactionId, fact, at }: ReportedFact,
  reason: Mismatch['reason'],
  order: PlacedOrder,
): readonly OrderEvent[] {
  const found = { id: callback, provider, reason, transaction_id: transactionId, fact };
  if (isCovered(order, found) || isCharged(order.facts, found)) return [];
  return [
    {
      type: 'PaymentMismatchFound',
      data: { callback, provider, reason, transaction_id: transactionId, fact, at: at.toISOString() },
    },
  ];
}

/** Names the transaction in events. A report without a transaction id is a separate transaction. */
function transactionOf({ callback, transactionId }: ReportedFact): string {
  return transactionId ?? callback;
}

function isDecided({ decided }: PlacedOrder, { callback, provider, transactionId }: ReportedFact): boolean {
  const key = transactionKey(provider, callback, transactionId);
  return decided.some(({ transaction }) => transaction === key);
}
