import type { CheckoutEvent } from '../../../src/areas/payments/domain/checkout/events.js';
import type { OrderEvent, OrderGrant } from '../../../src/areas/payments/domain/order/events.js';
import type { TransactionEvent } from '../../../src/areas/payments/domain/transaction/events.js';
import { factInWords, inQuotes, listInWords, moneyInWords, type Phrases } from './phrases.js';

function grantInWords(grant: OrderGrant): string {
  return 'entitlement' in grant
    ? `the entitlement ${grant.entitlement}`
    : `a capacity of ${grant.capacity_bytes} bytes`;
}

function transactionInWords(transaction: string | null): string {
  return transaction === null ? 'no transaction' : `transaction ${inQuotes(transaction)}`;
}

function chargedInWords(charged: number | undefined, currency: string): string {
  return charged === undefined ? '' : `and ${moneyInWords(charged, currency)} charged `;
}

function partInWords({ amount, currency }: { readonly amount?: number; readonly currency?: string }): string {
  return amount === undefined || currency === undefined ? '' : `${moneyInWords(amount, currency)} of `;
}

const decisions = { apply: 'to apply', dismiss: 'to dismiss' } as const;

/** The events of an order. */
export const orderWords: Phrases<OrderEvent> = {
  OrderPlaced: ({ user_id, project_id, plan_id, grant, provider, amount, currency, expires_at }, id) =>
    `placed order ${id} for user ${user_id}${project_id === null ? '' : ` and project ${project_id}`}: ` +
    `plan ${inQuotes(plan_id)}, ${grantInWords(grant)} for ${moneyInWords(amount, currency)} by ${provider}, ` +
    `to be paid until ${expires_at}`,
  PaymentPending: ({ callback, transaction_id, at }, id) =>
    `recorded that the payment of order ${id} waits at the platform (${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
  PaymentCaptured: ({ callback, transaction_id, amount, charged, currency, at }, id) =>
    `recorded that order ${id} was paid with ${moneyInWords(amount, currency)} ${chargedInWords(charged, currency)}` +
    `(${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
  PaymentFailed: ({ callback, reason, transaction_id, at }, id) =>
    `recorded that the payment of order ${id} is ${reason} (${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
  OrderExpired: (_, id) => `ended order ${id}, because no payment came in time`,
  OrderCanceled: (_, id) => `canceled order ${id}`,
  RefundReported: ({ callback, transaction_id, refund, amount, currency, at }, id) =>
    `recorded ${
      refund === 'in-total' ? 'refunds' : `refund ${inQuotes(refund.refund_id)} (${refund.status})`
    } of ${moneyInWords(amount, currency)}${refund === 'in-total' ? ' in total' : ''} for order ${id} ` +
    `(${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
  DisputeOpened: ({ callback, transaction_id, dispute_id, at, ...disputed }, id) =>
    `recorded that dispute ${inQuotes(dispute_id)} about ${partInWords(disputed)}order ${id} began ` +
    `(${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
  DisputeClosed: ({ callback, transaction_id, dispute_id, outcome, at, ...disputed }, id) =>
    `recorded that dispute ${inQuotes(dispute_id)} about ${partInWords(disputed)}order ${id} was ${outcome} ` +
    `(${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
  PaymentMismatchFound: ({ callback, provider, reason, transaction_id, fact, at }, id) =>
    `found that a report of ${provider} differs from order ${id} (${reason}): ${factInWords(fact)} ` +
    `(${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
  ReviewResolved: ({ callback, action }, id) =>
    `decided ${decisions[action]} report ${callback} of order ${id}; the note is sealed`,
  GrantRecipientGone: ({ reason }, id) =>
    `found that no recipient takes the grant of order ${id} (${reason})`,
  OrderFulfilled: (_, id) => `gave the buyer the grant of order ${id}`,
  FulfilmentRevoked: (_, id) => `took back the grant of order ${id}`,
};

/** The events of what the service asked the platform of an order to do. */
export const checkoutWords: Phrases<CheckoutEvent> = {
  PaymentMade: ({ provider, kind, reference, expires_at }, id) =>
    `recorded a payment (${kind}) that ${provider} made for order ${id}, to be paid until ${expires_at}` +
    `${reference === null ? '' : ` (${inQuotes(reference)})`}; its address is sealed`,
  PaymentApproved: ({ provider, reference }, id) =>
    `recorded that the buyer approved the payment ${inQuotes(reference)} at ${provider} for order ${id}`,
  CaptureAccepted: ({ reference }, id) =>
    `recorded that the platform captures the payment ${inQuotes(reference)} of order ${id}`,
  CaptureRefused: ({ reference, code }, id) =>
    `recorded that the platform refused to capture the payment ${inQuotes(reference)} of order ${id}` +
    (code === null ? '' : ` (${inQuotes(code)})`),
  RefundAsked: ({ refund, provider, transaction_id, amount, currency }, id) =>
    `decided refund ${refund} of ${moneyInWords(amount, currency)} for order ${id} at ${provider} ` +
    `(${transactionInWords(transaction_id)}); the note is sealed`,
  RefundAccepted: ({ refund, refund_id }, id) =>
    `recorded that the platform took on refund ${refund} of order ${id} (${inQuotes(refund_id)})`,
  RefundRefused: ({ refund, code }, id) =>
    `recorded that the platform refused refund ${refund} of order ${id}${code === null ? '' : ` (${inQuotes(code)})`}`,
};

/** The events of a transaction at a payment platform. */
export const transactionWords: Phrases<TransactionEvent> = {
  PaymentReported: ({ key, is_ours, notifications, order_id, is_excess, recorded }, id) =>
    `${recorded === undefined ? 'accepted' : 'recorded by hand'} report ${key} in ${id}${is_ours ? '' : ', of another account'}` +
    `${order_id === null ? '' : ` for order ${order_id}`}${is_excess === true ? ', which its transaction has no room for' : ''}: ` +
    (notifications.length === 0
      ? 'nothing for this service'
      : listInWords(notifications.map(({ fact }) => factInWords(fact)))),
  PaymentConflicted: ({ key }, id) =>
    `refused report ${key} of transaction ${id}, which came again with other content`,
  PaymentReportHeld: ({ report }, id) => `held report ${report} of transaction ${id} (order_full)`,
  PaymentReportResolved: ({ report, action, order_id }, id) =>
    `decided ${decisions[action]} report ${report} of transaction ${id}` +
    `${order_id === null ? '' : ` for order ${order_id}`}; the note is sealed`,
};
