import { type MadePayment, type PaymentMaker, type PaymentRequest, PlatformError } from '../payment-maker.js';
import { checkCny, chinaTime } from '../money.js';
import { type Fields, textAt } from '../calls/parsing.js';
import { httpsUrlOf, unreadableReply } from '../calls/platform-calls.js';
import { paymentsPath, refundsPath } from './wechatpay-query.js';
import type { WechatPayClient } from './wechatpay-client.js';
import type { WechatPayMerchant } from './wechatpay-resource.js';

/** A QR code's text works for 2 hours ("Native order"), and a link for phones for 5 minutes ("H5 order"). */
const qrMs = 7_200_000;
const linkMs = 300_000;
/** The platform takes 127 characters. */
const descriptionMax = 100;
/** ABNORMAL: the refund is stuck at the bank, and the merchant decides in the console where the money goes. */
const takenOn: readonly string[] = ['SUCCESS', 'PROCESSING', 'ABNORMAL'];
/** A 403 that is not about our credentials ("Refund", error codes): the refund has failed, and a repetition fails too. */
const failedForGood: readonly unknown[] = ['USER_ACCOUNT_ABNORMAL'];

/**
 * Makes payments of WeChat Pay API v3: a QR code (Native), or a link for phones (H5). With a sub-merchant, the calls are
 * those of partner mode. The platform makes one payment per order number, so a repeated call is the same payment.
 */
export function makeWechatPayMaker(deps: {
  readonly merchant: WechatPayMerchant;
  readonly client: WechatPayClient;
  readonly now: () => Date;
}): PaymentMaker {
  const { merchant, client, now } = deps;
  const { mchId, appId, subMchId } = merchant;
  const prefix = paymentsPath(merchant);
  const payee =
    subMchId === null
      ? { appid: appId, mchid: mchId }
      : { sp_appid: appId, sp_mchid: mchId, sub_mchid: subMchId };
  return {
    makePayment: async (request) => {
      checkCny(request.price);
      return request.isMobile ? makeLink(request) : makeCode(request);
    },
    /** The key is the number of the refund (out_refund_no), by which the platform and the callbacks know the refund. */
    refund: async (request) => {
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
      const reply = await client({ method: 'POST', path: refundsPath, json }).catch(refuseFailed);
      const status = textAt(reply, 'status') ?? '';
      if (status === 'CLOSED') throw new PlatformError('refused', status);
      return takenOn.includes(status) ? refundId : unreadableReply();
    },
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

  function earlier(expiresAt: Date, ms: number): Date {
    return new Date(Math.min(expiresAt.getTime(), now().getTime() + ms));
  }
}

function refuseFailed(error: unknown): never {
  const isFailed = error instanceof PlatformError && failedForGood.includes(error.code);
  throw isFailed ? new PlatformError('refused', error.code) : error;
}
