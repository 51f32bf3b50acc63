import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { merchant } from '../areas/payments/platforms/messages/messages.js';

/** A payment at its platform. */
export interface Payment {
  /** The number that the service gives to the platform. */
  readonly orderNumber: string;
  /** The id of the payment at the platform. */
  readonly transaction: string;
  /** In minor units. */
  readonly amount: number;
  readonly currency: string;
}

/** A step in the life of a payment. */
export type Step =
  | { readonly kind: 'pending' | 'paid' | 'failed' | 'expired' | 'canceled' | 'noise' }
  /** Amounts are in minor units. `total` is the sum of all refunds so far. A failed refund moves no money. */
  | {
      readonly kind: 'refund';
      readonly id: string;
      readonly amount: number;
      readonly total: number;
      readonly fails: boolean;
    }
  | { readonly kind: 'dispute'; readonly status: 'open' | 'won' | 'lost' };

/** Returns the type of a step in the contract of `standard`. */
export function standardType(step: Step): string {
  if (step.kind === 'refund') return 'payment.refunded';
  if (step.kind === 'dispute') return step.status === 'open' ? 'payment.disputed' : `dispute.${step.status}`;
  return step.kind === 'noise' ? 'invoice.sent' : `payment.${step.kind}`;
}

/** Makes a session, its intent, charge, refunds and dispute. Only the session names the order. */
export function stripeEvents(
  { orderNumber, transaction, amount, currency }: Payment,
  step: Step,
): readonly (readonly [string, JsonObject])[] {
  const session = {
    ...{ id: `cs_${transaction}`, client_reference_id: orderNumber, payment_intent: transaction },
    ...{ amount_total: amount, currency: currency.toLowerCase() },
  };
  const money = {
    currency: currency.toLowerCase(),
    payment_intent: transaction,
    charge: `ch_${transaction}`,
  };
  switch (step.kind) {
    case 'pending':
      return [['checkout.session.completed', { ...session, payment_status: 'unpaid' }]];
    case 'failed':
      return [['checkout.session.async_payment_failed', { ...session, payment_status: 'unpaid' }]];
    case 'expired':
      return [['checkout.session.expired', { ...session, payment_intent: null, payment_status: 'unpaid' }]];
    case 'paid':
      return [
        ['checkout.session.completed', { ...session, payment_status: 'paid' }],
        ['payment_intent.succeeded', { id: transaction, amount_received: amount, currency: money.currency }],
      ];
    case 'refund': {
      const refund = { ...money, id: `re_${step.id}`, amount: step.amount };
      return [
        ['refund.created', { ...refund, status: 'pending' }],
        ['charge.refunded', { ...money, id: money.charge, amount_refunded: step.total }],
        ['refund.updated', { ...refund, status: 'succeeded' }],
      ];
    }
    case 'dispute': {
      const dispute = { ...money, id: `du_${transaction}`, amount };
      return step.status === 'open'
        ? [['charge.dispute.created', { ...dispute, status: 'needs_response' }]]
        : [['charge.dispute.closed', { ...dispute, status: step.status }]];
    }
    case 'canceled':
    case 'noise':
      return [['charge.succeeded', { ...money, id: money.charge, amount }]];
  }
}

/** Makes a capture, its refunds and its dispute by `event_type` and `resource_type`. The others name the capture. */
export function paypalEvents(
  { orderNumber, transaction, amount, currency }: Payment,
  step: Step,
): readonly (readonly [type: string, resourceType: string, resource: JsonObject])[] {
  const money = (minor: number): JsonObject => ({ value: inDecimals(minor), currency_code: currency });
  const capture = { id: transaction, custom_id: orderNumber, amount: money(amount) };
  const order = { purchase_units: [{ custom_id: orderNumber }] };
  switch (step.kind) {
    case 'pending':
      return [['PAYMENT.CAPTURE.PENDING', 'capture', { ...capture, status: 'PENDING' }]];
    case 'paid':
      return [['PAYMENT.CAPTURE.COMPLETED', 'capture', { ...capture, status: 'COMPLETED' }]];
    case 'failed':
      return [['PAYMENT.CAPTURE.DENIED', 'capture', { ...capture, status: 'DECLINED' }]];
    case 'canceled':
      return [['CHECKOUT.PAYMENT-APPROVAL.REVERSED', 'checkout-order', order]];
    case 'refund': {
      const href = `https://api.paypal.com/v2/payments/captures/${transaction}`;
      const refund = { id: step.id, amount: money(step.amount), links: [{ rel: 'up', href, method: 'GET' }] };
      if (step.fails) return [['PAYMENT.CAPTURE.REFUNDED', 'refund', { ...refund, status: 'FAILED' }]];
      const total = { seller_payable_breakdown: { total_refunded_amount: money(step.total) } };
      return [
        ['PAYMENT.CAPTURE.REFUNDED', 'refund', { ...refund, status: 'PENDING' }],
        ['PAYMENT.CAPTURE.REFUNDED', 'refund', { ...refund, ...total, status: 'COMPLETED' }],
      ];
    }
    case 'dispute': {
      const about = [{ seller_transaction_id: transaction }];
      const dispute = { dispute_id: `PP-D-${transaction}`, disputed_transactions: about };
      if (step.status === 'open')
        return [['CUSTOMER.DISPUTE.CREATED', 'dispute', { ...dispute, status: 'OPEN' }]];
      const outcome_code = step.status === 'won' ? 'RESOLVED_SELLER_FAVOUR' : 'RESOLVED_BUYER_FAVOUR';
      return [
        [
          'CUSTOMER.DISPUTE.RESOLVED',
          'dispute',
          { ...dispute, status: 'RESOLVED', dispute_outcome: { outcome_code } },
        ],
      ];
    }
    case 'expired':
    case 'noise':
      return [['CHECKOUT.ORDER.APPROVED', 'checkout-order', order]];
  }
}

/** Makes callbacks by their types, before they are sealed. */
export function wechatResources(
  { orderNumber, transaction, amount, currency }: Payment,
  step: Step,
  time: string,
): readonly (readonly [string, JsonObject])[] {
  const trade = {
    ...{ mchid: merchant.wechatpay.mchId, out_trade_no: orderNumber, transaction_id: transaction },
    success_time: time,
  };
  if (step.kind === 'paid') {
    const { appId: appid } = merchant.wechatpay;
    const paid = { ...trade, appid, trade_state: 'SUCCESS', amount: { total: amount, currency } };
    return [['TRANSACTION.SUCCESS', paid]];
  }
  if (step.kind !== 'refund') return [['COUPON.USE', { mchid: trade.mchid, coupon_id: transaction }]];
  const refund = { ...trade, out_refund_no: step.id, amount: { total: amount, refund: step.amount } };
  const end = step.fails ? 'CLOSED' : 'SUCCESS';
  return [
    ['REFUND.ABNORMAL', { ...refund, refund_status: 'ABNORMAL' }],
    [`REFUND.${end}`, { ...refund, refund_status: end }],
  ];
}

/** Makes the fields of a notification without its id and send time. */
export function alipayFields(
  { orderNumber, transaction, amount }: Payment,
  step: Step,
  at: Date,
): Readonly<Record<string, string>> {
  const { appId, sellerId } = merchant.alipay;
  const trade = {
    ...{ app_id: appId, seller_id: sellerId, charset: 'utf-8', subject: '100% & more' },
    ...{ notify_type: 'trade_status_sync', out_trade_no: orderNumber, trade_no: transaction },
    ...{ total_amount: inDecimals(amount), gmt_create: alipayTime(at), trade_status: 'TRADE_SUCCESS' },
  };
  const paidAt = { gmt_payment: alipayTime(at) };
  switch (step.kind) {
    case 'pending':
      return { ...trade, trade_status: 'WAIT_BUYER_PAY' };
    case 'paid':
      return { ...trade, ...paidAt };
    case 'refund': {
      const refund = { refund_fee: inDecimals(step.total), gmt_refund: alipayTime(at), out_biz_no: step.id };
      const closed = step.total === amount ? { trade_status: 'TRADE_CLOSED' } : {};
      return { ...trade, ...paidAt, ...refund, ...closed };
    }
    case 'expired':
      return { ...trade, trade_status: 'TRADE_CLOSED', gmt_close: alipayTime(at) };
    case 'failed':
    case 'canceled':
    case 'dispute':
    case 'noise':
      return { ...trade, notify_type: 'open_app_auth_notify' };
  }
}

/** Formats cents of a dollar or fen of a yuan as platforms write them. */
export function inDecimals(minor: number): string {
  return (minor / 100).toFixed(2);
}

/** Formats a time in UTC+8 as RFC 3339. */
export function chinaTime(at: Date): string {
  return `${new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 19)}+08:00`;
}

/** Formats a time in UTC+8 as Alipay writes it. */
export function alipayTime(at: Date): string {
  return chinaTime(at).slice(0, 19).replace('T', ' ');
}
