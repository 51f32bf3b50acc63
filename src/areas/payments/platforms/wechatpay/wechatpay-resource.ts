import type { PaymentFact, PaymentNotification } from '../../domain/fact.js';
import { minorUnits } from '../money.js';
import { at, listAt, textAt, timeAt } from '../calls/parsing.js';
import { nothing, unreadable } from '../keys/verification.js';

/** The fields of the opened resource that the service uses. */
export const wechatPayFields: readonly string[] = [
  'mchid',
  'appid',
  'sp_mchid',
  'sp_appid',
  'sub_mchid',
  'out_trade_no',
  'transaction_id',
  'trade_state',
  'success_time',
  'out_refund_no',
  'refund_id',
  'refund_status',
  'amount.total',
  'amount.refund',
  'amount.currency',
  'combine_mchid',
  'combine_appid',
  'combine_out_trade_no',
];

/** The largest number of orders that one payment combines ("Combined payment"). */
const subOrdersMax = 50;

/** Our merchant. `subMchId`: the merchant that we, a service provider, act for (partner mode); null: we act for ourselves. */
export interface WechatPayMerchant {
  readonly mchId: string;
  readonly appId: string;
  readonly subMchId: string | null;
}

/** Returns whether the resource names our merchant, and our app if it names an app. Refunds name none. */
export function isOurResource(resource: unknown, { mchId, appId, subMchId }: WechatPayMerchant): boolean {
  const isCombined = at(resource, 'combine_out_trade_no') !== undefined;
  const payments = isCombined ? listAt(resource, 'sub_orders') : [resource];
  const [merchant, app] = isCombined
    ? ['combine_mchid', 'combine_appid']
    : subMchId === null
      ? ['mchid', 'appid']
      : ['sp_mchid', 'sp_appid'];
  const ofPayment = isCombined || subMchId === null ? 'mchid' : 'sp_mchid';
  return (
    (at(resource, app) ?? appId) === appId &&
    at(resource, merchant) === mchId &&
    payments.every((payment) => at(payment, ofPayment) === mchId) &&
    payments.every((payment) => at(payment, 'sub_mchid') === (subMchId ?? undefined))
  );
}

/** Reads the facts of a callback: one payment or refund, or each order that one payment combines. */
export function readResource(
  type: string,
  resource: unknown,
  createdAt: string | null,
): readonly PaymentNotification[] {
  const isCombined = type === 'TRANSACTION.SUCCESS' && at(resource, 'combine_out_trade_no') !== undefined;
  if (!isCombined) return [readOne(factOf(type, resource), resource, createdAt)];
  const orders = listAt(resource, 'sub_orders');
  if (orders.length === 0 || orders.length > subOrdersMax)
    return [readOne(unreadable('resource.sub_orders'), resource, createdAt)];
  return orders.map((order) => readOne(paid(order, 'amount.total_amount'), order, createdAt));
}

function readOne(fact: PaymentFact, resource: unknown, createdAt: string | null): PaymentNotification {
  return {
    order_number: textAt(resource, 'out_trade_no'),
    transaction_id: textAt(resource, 'transaction_id'),
    fact,
    at: timeAt(resource, 'success_time') ?? createdAt,
  };
}

function factOf(type: string, resource: unknown): PaymentFact {
  switch (type) {
    case 'TRANSACTION.SUCCESS':
      return paid(resource, 'amount.total');
    case 'REFUND.SUCCESS':
      return refund(resource, 'SUCCESS', 'succeeded');
    // The refund is stuck at the bank and may still arrive.
    case 'REFUND.ABNORMAL':
      return refund(resource, 'ABNORMAL', 'pending');
    case 'REFUND.CLOSED':
      return refund(resource, 'CLOSED', 'failed');
    default:
      return nothing;
  }
}

function paid(resource: unknown, field: string): PaymentFact {
  if (at(resource, 'trade_state') !== 'SUCCESS') return unreadable('resource.trade_state');
  const money = moneyAt(resource, field);
  return money === null ? unreadable(`resource.${field}`) : { kind: 'paid', ...money };
}

function refund(
  resource: unknown,
  expected: string,
  status: 'succeeded' | 'pending' | 'failed',
): PaymentFact {
  const refund_id = textAt(resource, 'out_refund_no');
  const money = moneyAt(resource, 'amount.refund');
  if (refund_id === null) return unreadable('resource.out_refund_no');
  if (at(resource, 'refund_status') !== expected) return unreadable('resource.refund_status');
  return money === null
    ? unreadable('resource.amount.refund')
    : { kind: 'refund', refund_id, status, ...money };
}

/** Reads an amount in fen. Refunds name no currency. */
export function moneyAt(resource: unknown, field: string) {
  return minorUnits(at(resource, field), at(resource, 'amount.currency') ?? 'CNY');
}
