import type { PaymentFact } from '../../domain/fact.js';
import { readChinaTime } from './alipay-callbacks.js';
import { chinaTime, decimalAmount, yuan } from '../money.js';
import { type Fields, at, textAt, decodeBase64, readJsonObject } from '../calls/parsing.js';
import {
  type AskedForRefund,
  type MadePayment,
  type OrderQueries,
  type PaymentMaker,
  type PaymentRequest,
  PlatformError,
  type QueriedPayment,
} from '../payment-maker.js';
import { unreadableReply, type CallPlatform, platformCode } from '../calls/platform-calls.js';
import { fieldsAt, unreadable, verified, firstThat, holdsRsaSha256 } from '../keys/verification.js';
import { type KeyObject, sign } from 'node:crypto';

/** What signs the requests of an app. */
export interface AlipaySigner {
  readonly appId: string;
  readonly privateKey: KeyObject;
  /** `https://openapi.alipay.com/gateway.do`, or that of the sandbox. */
  readonly gateway: string;
}

/** A call: its method, its `biz_content`, and the addresses of a payment. */
export interface AlipayCall {
  readonly method: string;
  readonly content: Fields;
  readonly addresses?: { readonly notify_url: string; readonly return_url?: string };
}

/**
 * Signs a call ("Sign a request", RSA2): SHA256withRSA over the sorted parameters `name=value&…`, unescaped, by the
 * app's key. The URL has all parameters except `biz_content`.
 */
export function signAlipayCall(
  { appId, privateKey, gateway }: AlipaySigner,
  { method, content, addresses }: AlipayCall,
  at: Date,
): { readonly url: string; readonly content: string } {
  const common: Readonly<Record<string, string>> = {
    ...{ method, app_id: appId, charset: 'utf-8', version: '1.0', sign_type: 'RSA2' },
    ...{ timestamp: chinaTime(at), ...addresses },
  };
  const json = JSON.stringify(content);
  const named = Object.entries({ ...common, biz_content: json }).sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const text = named.map(([name, value]) => `${name}=${value}`).join('&');
  const signature = sign('sha256', Buffer.from(text), privateKey).toString('base64');
  return {
    url: `${gateway}?${new URLSearchParams({ ...common, sign: signature }).toString()}`,
    content: json,
  };
}

/** Sends a call, and returns the verified reply with the code 10000 (success). @throws PlatformError */
export type AlipayClient = ReturnType<typeof makeAlipayClient>;

/** Makes the client of Alipay's gateway. The reply is signed over the bytes of `<method>_response`. */
export function makeAlipayClient(deps: {
  readonly signer: AlipaySigner;
  /** Alipay's keys, as for callbacks. */
  readonly publicKeys: readonly KeyObject[];
  readonly call: CallPlatform;
  readonly now: () => Date;
}) {
  const { signer, publicKeys, call, now } = deps;
  return async (asked: AlipayCall) => {
    const { url, content } = signAlipayCall(signer, asked, now());
    const reply = await call({
      method: 'POST',
      url,
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(new URLSearchParams({ biz_content: content }).toString()),
    });
    // The gateway answers 200 with a code, also to what it refuses.
    if (reply.status !== 200) throw new PlatformError('refused', `status_${reply.status}`);
    return open(reply.body, `${asked.method.replaceAll('.', '_')}_response`);
  };

  async function open(body: Buffer, name: string): Promise<Fields> {
    const message = await readJsonObject(body);
    const answer = at(message, name) ?? at(message, 'error_response');
    const code = textAt(answer, 'code');
    if (code === null) return unreadableReply();
    if (code !== '10000') throw failureOf(code, textAt(answer, 'sub_code'));
    const signature = decodeBase64(textAt(message, 'sign', 1_024) ?? '');
    const signed = signedPart(body.toString('latin1'), name);
    // Without a genuine signature, nothing that the reply says counts.
    if (signature === null || signed === null || !(await isSigned(signed, signature)))
      throw new PlatformError('outcome_unknown', 'reply_not_genuine');
    return (await readJsonObject(signed)) ?? unreadableReply();
  }

  async function isSigned(content: Buffer, signature: Buffer): Promise<boolean> {
    return (await firstThat(publicKeys, (key) => holdsRsaSha256(content, key, signature))) !== undefined;
  }
}

/** Errors of Alipay's that say nothing about the outcome ("Public error codes", and the codes of each method). */
function failureOf(code: string, subCode: string | null): PlatformError {
  const told = platformCode(subCode) ?? platformCode(code);
  if (code === '20000' || /SYSTEM_ERROR|REFUND_ROLL_BACK_FAIL/.test(subCode ?? ''))
    return new PlatformError('outcome_unknown', told);
  const isLimited = /call-limited|CALL_LIMITED|TRADE_SYNCHRONIZING/i.test(subCode ?? '');
  return new PlatformError(isLimited ? 'unavailable' : 'refused', told);
}

/** Returns the bytes of the object with this name, which must be the first field of the message. */
function signedPart(body: string, name: string): Buffer | null {
  const begin = new RegExp(`^\\s*\\{\\s*"${name}"\\s*:\\s*(?=\\{)`).exec(body)?.[0].length;
  if (begin === undefined) return null;
  let depth = 0;
  let isText = false;
  for (let index = begin; index < body.length; index += 1) {
    const character = body.charAt(index);
    if (isText && character === '\\') index += 1;
    else if (character === '"') isText = !isText;
    else if (!isText && character === '{') depth += 1;
    else if (!isText && character === '}') depth -= 1;
    if (depth === 0) return Buffer.from(body.slice(begin, index + 1), 'latin1');
  }
  return null;
}

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
