import type { PaymentFact } from '../../domain/payment.js';
import { minorUnits } from './money.js';
import { at, type Fields, textAt, timeAt } from './parsing.js';
import type { QueriedPayment } from './queried-payment.js';
import { fieldsAt, unreadable, verified } from './verification.js';
import { isOurResource, wechatPayFields, type WechatPayMerchant } from './wechatpay-resource.js';

/** Reads the reply about an order ("Query order"). The key names what it reports, so every query of one state is one report. */
export function readQueriedPayment(reply: Fields, merchant: WechatPayMerchant): QueriedPayment {
  const facts = factsOf(reply);
  if (facts.length === 0) return { kind: 'unknown' };
  const order_number = textAt(reply, 'out_trade_no');
  const transaction_id = textAt(reply, 'transaction_id');
  const verification = verified({
    key: `query-${String(at(reply, 'trade_state'))}-${transaction_id ?? order_number ?? ''}`.slice(0, 256),
    isOurs: isOurResource(reply, merchant),
    notifications: facts.map((fact) => ({
      order_number,
      transaction_id,
      fact,
      at: timeAt(reply, 'success_time'),
    })),
    fields: fieldsAt(reply, wechatPayFields),
  });
  return { kind: 'reported', report: verification.callback };
}

function factsOf(reply: Fields): readonly PaymentFact[] {
  switch (at(reply, 'trade_state')) {
    case 'SUCCESS':
      return [paid(reply)];
    // The reply names no refund. The payment alone would grant what may have been paid back, so an operator decides.
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
  const money = minorUnits(at(reply, 'amount.total'), at(reply, 'amount.currency') ?? 'CNY');
  return money === null ? unreadable('amount.total') : { kind: 'paid', ...money };
}
