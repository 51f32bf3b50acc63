import type { PaymentFact } from '../../domain/fact.js';
import { type Fields, at, textAt, timeAt } from '../calls/parsing.js';
import { unreadableReply } from '../calls/platform-calls.js';
import {
  type AskedForRefund,
  type OrderQueries,
  PlatformError,
  type QueriedPayment,
} from '../payment-maker.js';
import type { WechatPayClient } from './wechatpay-client.js';
import { fieldsAt, unreadable, verified } from '../keys/verification.js';
import { isOurResource, moneyAt, wechatPayFields, type WechatPayMerchant } from './wechatpay-resource.js';

/** The codes for an order or a refund that the platform does not have. */
const absent: readonly unknown[] = ['ORDER_NOT_EXIST', 'ORDERNOTEXIST', 'RESOURCE_NOT_EXISTS'];
export const refundsPath = '/v3/refund/domestic/refunds';

export function paymentsPath({ subMchId }: WechatPayMerchant): string {
  return subMchId === null ? '/v3/pay/transactions' : '/v3/pay/partner/transactions';
}

/** Makes the questions about one order and one refund ("Query order", "Query refund"). */
export function makeWechatPayQueries(deps: {
  readonly merchant: WechatPayMerchant;
  readonly client: WechatPayClient;
}): OrderQueries {
  const { merchant, client } = deps;
  const { mchId, subMchId } = merchant;
  return { query, queryRefund };

  function query(orderNumber: string): Promise<QueriedPayment> {
    const numbers = subMchId === null ? `mchid=${mchId}` : `sp_mchid=${mchId}&sub_mchid=${subMchId}`;
    const path = `${paymentsPath(merchant)}/out-trade-no/${encodeURIComponent(orderNumber)}?${numbers}`;
    return ask(path, (reply) => readQueriedPayment(reply, merchant));
  }

  function queryRefund({ refundId }: AskedForRefund): Promise<QueriedPayment> {
    const path = `${refundsPath}/${encodeURIComponent(refundId)}${subMchId === null ? '' : `?sub_mchid=${subMchId}`}`;
    return ask(path, (reply) => readQueriedRefund(reply, refundId));
  }

  async function ask(path: string, read: (reply: Fields) => QueriedPayment): Promise<QueriedPayment> {
    try {
      return read(await client({ method: 'GET', path }));
    } catch (error) {
      if (error instanceof PlatformError && absent.includes(error.code)) return { kind: 'unknown' };
      throw error;
    }
  }
}

/** Reads the reply about an order ("Query order"). The key names what it reports, so every query of one state is one report. */
function readQueriedPayment(reply: Fields, merchant: WechatPayMerchant): QueriedPayment {
  const facts = factsOf(reply);
  if (facts.length === 0) return { kind: 'unknown' };
  const order_number = textAt(reply, 'out_trade_no');
  const transaction_id = textAt(reply, 'transaction_id');
  const at = timeAt(reply, 'success_time');
  const { callback: report } = verified({
    key: `query-${stateOf(reply)}-${transaction_id ?? order_number ?? ''}`.slice(0, 256),
    isOurs: isOurResource(reply, merchant),
    notifications: facts.map((fact) => ({ order_number, transaction_id, fact, at })),
    fields: fieldsAt(reply, wechatPayFields),
  });
  return stateOf(reply) === 'REFUND'
    ? { kind: 'refunded', transactionId: transaction_id, report }
    : { kind: 'reported', report };
}

const refundStates: ReadonlyMap<unknown, 'pending' | 'succeeded' | 'failed'> = new Map([
  ['SUCCESS', 'succeeded'],
  // It is stuck at the bank.
  ['ABNORMAL', 'pending'],
  ['CLOSED', 'failed'],
]);

/** Reads the reply about a refund ("Query refund"), which names no merchant. It is about ours: the client signed for it. */
function readQueriedRefund(reply: Fields, refundId: string): QueriedPayment {
  if (at(reply, 'status') === 'PROCESSING') return { kind: 'unknown' };
  const status = refundStates.get(at(reply, 'status'));
  const money = moneyAt(reply, 'amount.refund');
  if (status === undefined || money === null || at(reply, 'out_refund_no') !== refundId)
    return unreadableReply();
  const { callback: report } = verified({
    key: `query-refund-${status}-${refundId}`,
    isOurs: true,
    notifications: [
      {
        order_number: textAt(reply, 'out_trade_no'),
        transaction_id: textAt(reply, 'transaction_id'),
        fact: { kind: 'refund', refund_id: refundId, status, ...money },
        at: timeAt(reply, 'success_time'),
      },
    ],
    fields: fieldsAt(reply, refundFields),
  });
  return { kind: 'reported', report };
}

const refundFields = [
  'out_trade_no',
  'transaction_id',
  'out_refund_no',
  'status',
  'amount.refund',
  'amount.currency',
];

function stateOf(reply: Fields): string {
  return textAt(reply, 'trade_state') ?? '';
}

function factsOf(reply: Fields): readonly PaymentFact[] {
  switch (stateOf(reply)) {
    case 'SUCCESS':
      return [paid(reply)];
    case 'REFUND':
      return [unreadable('refunds')];
    case 'CLOSED':
      return [{ kind: 'expired' }];
    case 'REVOKED':
      return [{ kind: 'canceled' }];
    case 'PAYERROR':
      return [{ kind: 'failed' }];
    case 'NOTPAY':
    case 'USERPAYING':
    case 'ACCEPT':
      return [];
    default:
      return [unreadable('trade_state')];
  }
}

function paid(reply: Fields): PaymentFact {
  const money = moneyAt(reply, 'amount.total');
  return money === null ? unreadable('amount.total') : { kind: 'paid', ...money };
}
