import type { PaymentFact } from '../../domain/fact.js';
import { readChinaTime } from './alipay-callbacks.js';
import { type AlipayClient, type AlipaySigner, signAlipayCall } from './alipay-client.js';
import { chinaTime, decimalAmount, yuan } from '../money.js';
import { type Fields, at, textAt } from '../calls/parsing.js';
import {
  type AskedForRefund,
  type MadePayment,
  type OrderQueries,
  type PaymentMaker,
  type PaymentRequest,
  PlatformError,
  type QueriedPayment,
} from '../payment-maker.js';
import { unreadableReply } from '../calls/platform-calls.js';
import { fieldsAt, unreadable, verified } from '../keys/verification.js';

/**
 * Makes payments of Alipay: a signed address for computers (page pay) or phones (WAP pay), which needs no call. Alipay
 * makes the payment when the buyer opens the address, one per order number.
 */
export function makeAlipayMaker(deps: {
  readonly signer: AlipaySigner;
  readonly client: AlipayClient;
  readonly now: () => Date;
}): PaymentMaker {
  const { signer, client, now } = deps;
  return {
    makePayment: async (request) => Promise.resolve(makePayment(request)),
    /** The key is the number of the refund (out_request_no), under which Alipay refunds once. */
    refund: async ({ orderNumber, transactionId, amount, callbackUrl, idempotencyKey: refundId }) => {
      await client({
        method: 'alipay.trade.refund',
        content: {
          out_trade_no: orderNumber,
          trade_no: transactionId,
          refund_amount: yuan(amount),
          out_request_no: refundId,
        },
        addresses: { notify_url: callbackUrl },
      });
      return refundId;
    },
  };

  function makePayment(request: PaymentRequest): MadePayment {
    const { orderNumber, price, title, expiresAt, isMobile, returnUrl, callbackUrl } = request;
    const call = {
      method: isMobile ? 'alipay.trade.wap.pay' : 'alipay.trade.page.pay',
      content: {
        out_trade_no: orderNumber,
        total_amount: yuan(price),
        subject: readableTitle(title),
        product_code: isMobile ? 'QUICK_WAP_WAY' : 'FAST_INSTANT_TRADE_PAY',
        time_expire: chinaTime(expiresAt),
      },
      addresses: { notify_url: callbackUrl, ...(returnUrl === null ? {} : { return_url: returnUrl }) },
    };
    const { url, content } = signAlipayCall(signer, call, now());
    return {
      kind: 'redirect',
      url: `${url}&biz_content=${encodeURIComponent(content)}`,
      expiresAt,
      reference: null,
    };
  }
}

/** Makes the questions about one trade and one refund. */
export function makeAlipayQueries(deps: {
  readonly client: AlipayClient;
  readonly sellerId: string;
}): OrderQueries {
  const { client, sellerId } = deps;
  return { query, queryRefund };

  function query(orderNumber: string): Promise<QueriedPayment> {
    return ask('alipay.trade.query', { out_trade_no: orderNumber }, read);
  }

  function queryRefund({ orderNumber, transactionId, refundId }: AskedForRefund): Promise<QueriedPayment> {
    const names = { out_trade_no: orderNumber, trade_no: transactionId, out_request_no: refundId };
    const content = { ...names, query_options: ['gmt_refund_pay'] };
    return ask('alipay.trade.fastpay.refund.query', content, (reply) => readRefund(reply, refundId));
  }

  async function ask(
    method: string,
    content: Fields,
    readReply: (reply: Fields) => QueriedPayment,
  ): Promise<QueriedPayment> {
    try {
      return readReply(await client({ method, content }));
    } catch (error) {
      // No buyer has opened the address.
      if (error instanceof PlatformError && error.code === 'ACQ.TRADE_NOT_EXIST') return { kind: 'unknown' };
      throw error;
    }
  }

  /** The reply names neither app nor seller: the key that signed the question decides whose order it is. */
  function read(reply: Fields): QueriedPayment {
    const facts = factsOf(reply);
    if (facts.length === 0) return { kind: 'unknown' };
    const order_number = textAt(reply, 'out_trade_no');
    const transaction_id = textAt(reply, 'trade_no');
    const seller = textAt(reply, 'seller_id');
    const time = readChinaTime(textAt(reply, 'send_pay_date'));
    const { callback: report } = verified({
      key: `query-${textAt(reply, 'trade_status') ?? ''}-${transaction_id ?? ''}`.slice(0, 256),
      isOurs: seller === null || seller === sellerId,
      notifications: facts.map((fact) => ({
        ...{ order_number, transaction_id, fact },
        // The reply has no time of a refund. That of the payment would be before each partial refund.
        at: fact.kind === 'refunded-in-total' ? null : time,
      })),
      fields: fieldsAt(reply, ['out_trade_no', 'trade_no', 'trade_status', 'total_amount', 'seller_id']),
    });
    return { kind: 'reported', report };
  }
}

/** Reads the reply about a refund, which has a status only where the money has moved ("refund_status"). */
function readRefund(reply: Fields, refundId: string): QueriedPayment {
  const money = decimalAmount(at(reply, 'refund_amount'), 'CNY');
  if ((at(reply, 'refund_status') ?? '') === '') return { kind: 'unknown' };
  const isRead = at(reply, 'refund_status') === 'REFUND_SUCCESS' && at(reply, 'out_request_no') === refundId;
  if (money === null || !isRead) return unreadableReply();
  const { callback: report } = verified({
    key: `query-refund-${refundId}`,
    isOurs: true,
    notifications: [
      {
        order_number: textAt(reply, 'out_trade_no'),
        transaction_id: textAt(reply, 'trade_no'),
        fact: { kind: 'refund', refund_id: refundId, status: 'succeeded', ...money },
        at: readChinaTime(textAt(reply, 'gmt_refund_pay')),
      },
    ],
    fields: fieldsAt(reply, ['out_trade_no', 'trade_no', 'out_request_no', 'refund_amount']),
  });
  return { kind: 'reported', report };
}

/** Reads a trade. A closed trade that was paid is refunded in full ("trade_status"). */
function factsOf(reply: Fields): readonly PaymentFact[] {
  const money = decimalAmount(at(reply, 'total_amount'), 'CNY');
  const paid: PaymentFact = money === null ? unreadable('total_amount') : { kind: 'paid', ...money };
  switch (textAt(reply, 'trade_status') ?? '') {
    case 'WAIT_BUYER_PAY':
      return [];
    case 'TRADE_SUCCESS':
    case 'TRADE_FINISHED':
      return [paid];
    case 'TRADE_CLOSED':
      if (textAt(reply, 'send_pay_date') === null) return [{ kind: 'expired' }];
      return money === null ? [paid] : [paid, { kind: 'refunded-in-total', ...money }];
    default:
      return [unreadable('trade_status')];
  }
}

/** Alipay refuses these characters in a title ("subject"). */
function readableTitle(title: string): string {
  return title.replaceAll(/[/=&]/g, ' ').slice(0, 256);
}
