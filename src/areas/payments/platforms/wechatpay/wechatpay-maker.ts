import type { MadePayment, MadeRefund, PaymentRequest, RefundRequest } from '../payment-maker.js';
import { PlatformError } from '../payment-maker.js';
import { chinaTime, checkCny } from '../settings/china.js';
import { type Fields, textAt } from '../parsing.js';
import { httpsUrlOf, unreadableReply } from '../platform-replies.js';
import type { AskedForRefund, QueriedPayment, QueryingMaker } from '../queried-payment.js';
import { readQueriedPayment, readQueriedRefund } from './wechatpay-query.js';
import type { WechatPayClient } from './wechatpay-client.js';
import type { WechatPayMerchant } from './wechatpay-resource.js';

/** A QR code's text works for 2 hours ("Native order"), and a link for phones for 5 minutes ("H5 order"). */
const qrMs = 7_200_000;
const linkMs = 300_000;
const refunds = '/v3/refund/domestic/refunds';
/** The codes for an order or a refund that the platform does not have. */
const absent: readonly unknown[] = ['ORDER_NOT_EXIST', 'ORDERNOTEXIST', 'RESOURCE_NOT_EXISTS'];
/** The platform takes 127 characters. */
const descriptionMax = 100;

/**
 * Makes payments of WeChat Pay API v3: a QR code (Native), or a link for phones (H5). With a sub-merchant, the calls are
 * those of partner mode. The platform makes one payment per order number, so a repeated call is the same payment.
 */
export function makeWechatPayMaker({
  merchant,
  client,
  now,
}: {
  readonly merchant: WechatPayMerchant;
  readonly client: WechatPayClient;
  readonly now: () => Date;
}): QueryingMaker {
  const { mchId, appId, subMchId } = merchant;
  const prefix = subMchId === null ? '/v3/pay/transactions' : '/v3/pay/partner/transactions';
  const payee =
    subMchId === null
      ? { appid: appId, mchid: mchId }
      : { sp_appid: appId, sp_mchid: mchId, sub_mchid: subMchId };

  return {
    provider: 'wechatpay',
    makePayment: async (request) => {
      checkCny(request.price);
      return request.isMobile ? makeLink(request) : makeCode(request);
    },
    refund: makeRefund,
    query,
    queryRefund,
  };

  async function makeCode(request: PaymentRequest): Promise<MadePayment> {
    const reply = await client({ method: 'POST', path: `${prefix}/native`, json: orderOf(request) });
    const url = textAt(reply, 'code_url', 1_024) ?? unreadableReply();
    return { kind: 'qr', url, expiresAt: earlier(request.expiresAt, qrMs), reference: null };
  }

  async function makeLink(request: PaymentRequest): Promise<MadePayment> {
    const scene_info = { payer_client_ip: request.clientIp, h5_info: { type: 'Wap' } };
    const json = { ...orderOf(request), scene_info };
    const reply = await client({ method: 'POST', path: `${prefix}/h5`, json });
    const link = httpsUrlOf(textAt(reply, 'h5_url', 2_048));
    const { returnUrl } = request;
    const url = returnUrl === null ? link : `${link}&redirect_url=${encodeURIComponent(returnUrl)}`;
    return { kind: 'redirect', url, expiresAt: earlier(request.expiresAt, linkMs), reference: null };
  }

  function orderOf({ title, orderNumber, expiresAt, callbackUrl, price }: PaymentRequest): Fields {
    return {
      ...payee,
      description: title.slice(0, descriptionMax),
      out_trade_no: orderNumber,
      time_expire: `${chinaTime(expiresAt).replace(' ', 'T')}+08:00`,
      notify_url: callbackUrl,
      amount: { total: price.amount, currency: price.currency },
    };
  }

  /** The key is the number of the refund (out_refund_no), by which the platform and the callbacks know the refund. */
  async function makeRefund(request: RefundRequest): Promise<MadeRefund> {
    const { amount, paid, idempotencyKey: refundId } = request;
    checkCny(amount);
    checkCny(paid);
    const json = {
      ...(subMchId === null ? {} : { sub_mchid: subMchId }),
      transaction_id: request.transactionId,
      out_refund_no: refundId,
      notify_url: request.callbackUrl,
      amount: { refund: amount.amount, total: paid.amount, currency: amount.currency },
    };
    const reply = await client({ method: 'POST', path: refunds, json });
    switch (textAt(reply, 'status') ?? '') {
      case 'SUCCESS':
        return { refundId, status: 'succeeded' };
      // ABNORMAL: it is stuck at the bank, and the merchant decides in the console where the money goes.
      case 'PROCESSING':
      case 'ABNORMAL':
        return { refundId, status: 'pending' };
      case 'CLOSED':
        throw new PlatformError('refused', 'CLOSED');
      default:
        return unreadableReply();
    }
  }

  function query(orderNumber: string): Promise<QueriedPayment> {
    const numbers = subMchId === null ? `mchid=${mchId}` : `sp_mchid=${mchId}&sub_mchid=${subMchId}`;
    const path = `${prefix}/out-trade-no/${encodeURIComponent(orderNumber)}?${numbers}`;
    return ask(path, (reply) => readQueriedPayment(reply, merchant));
  }

  function queryRefund({ refundId }: AskedForRefund): Promise<QueriedPayment> {
    const path = `${refunds}/${encodeURIComponent(refundId)}${subMchId === null ? '' : `?sub_mchid=${subMchId}`}`;
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

  function earlier(expiresAt: Date, ms: number): Date {
    return new Date(Math.min(expiresAt.getTime(), now().getTime() + ms));
  }
}
