import { type KeyObject, sign, verify } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { type SentCallback, signWechatPay } from '../clients/sign-callbacks.js';
import {
  givenPlatformServer,
  type PlatformServer,
  type ReceivedRequest,
  type ServerReply,
} from './platform-server.js';

interface Refund {
  readonly request: string;
  readonly refund: number;
  status: 'PROCESSING' | 'SUCCESS' | 'ABNORMAL' | 'CLOSED';
}

interface Order {
  readonly request: string;
  readonly path: string;
  readonly json: JsonObject & {
    readonly out_trade_no: string;
    readonly notify_url: string;
    readonly time_expire: string;
    readonly amount: { readonly total: number };
  };
  state: 'NOTPAY' | 'SUCCESS' | 'CLOSED' | 'REFUND' | 'PAYERROR';
  readonly refunds: Map<string, Refund>;
}

interface FakeWechatPay extends PlatformServer {
  /** The orders and refunds that it made. */
  orders(): readonly string[];
  refundsOf(number: string): readonly string[];
  /** The buyer pays; returns the callback. */
  pay(number: string): SentCallback;
  /** The order ends without a payment. WeChat Pay sends no callback. */
  end(number: string, state: 'CLOSED' | 'PAYERROR'): void;
  /** The shop refunds in the console, and the callback is lost. */
  refundInConsole(number: string): void;
  /** A refund that was asked for ends, or is stuck. */
  endRefund(number: string, refundNumber: string, status: Refund['status']): void;
  /** Returns the callback of a refund that was asked for. */
  reportRefund(number: string, refundNumber: string): SentCallback;
}

interface FakeWechatPayOptions {
  readonly mchId: string;
  readonly appId: string;
  readonly subMchId: string | null;
  /** Of the merchant, whose requests it verifies. */
  readonly merchantKey: KeyObject;
  readonly merchantSerial: string;
  /** Of the platform, which signs replies and callbacks. */
  readonly platformKey: KeyObject;
  readonly platformSerial: string;
  readonly apiV3Key: string;
  readonly now: () => Date;
}

const authorizationShape =
  /^WECHATPAY2-SHA256-RSA2048 mchid="(?<mchid>\d+)",serial_no="(?<serial>[0-9A-F]+)",timestamp="(?<time>\d+)",nonce_str="(?<nonce>[0-9A-Za-z]{1,32})",signature="(?<signature>[A-Za-z0-9+/=]+)"$/;

/** Starts WeChat Pay API v3 over TLS. It refuses each request whose signature, merchant or fields are not exactly right. */
export async function givenFakeWechatPay(
  t: ExecutionContext,
  options: FakeWechatPayOptions,
): Promise<FakeWechatPay> {
  const { mchId, appId, subMchId, now } = options;
  const prefix = subMchId === null ? '/v3/pay/transactions' : '/v3/pay/partner/transactions';
  const merchant = subMchId === null ? { mchid: mchId } : { sp_mchid: mchId, sub_mchid: subMchId };
  const payee = subMchId === null ? { appid: appId, mchid: mchId } : { sp_appid: appId, ...merchant };
  const orders = new Map<string, Order>();
  let sent = 0;

  const server = await givenPlatformServer(t, (request) => {
    if (!isSigned(request)) return reply(401, { code: 'SIGN_ERROR', message: '签名错误' });
    const { path, method } = request;
    if (path === `${prefix}/native` || path === `${prefix}/h5`) return place(request);
    if (path === '/v3/refund/domestic/refunds') return refund(request);
    return (method === 'GET' ? find(path) : null) ?? reply(404, { code: 'NO_CALL', message: 'no such call' });
  });

  /** Answers a query; null for a path that is none. */
  function find(path: string): ServerReply | null {
    const subMerchant = subMchId === null ? '' : `?sub_mchid=${subMchId}`;
    const refundNumber = /^\/v3\/refund\/domestic\/refunds\/([0-9A-Za-z_-]{1,64})(.*)$/.exec(path);
    if (refundNumber?.[2] === subMerchant) return showRefund(refundNumber[1] ?? '');
    const number = new RegExp(`^${prefix}/out-trade-no/([0-9A-Za-z]{6,32})\\?(.*)$`).exec(path);
    return number?.[2] === new URLSearchParams(merchant).toString() ? show(number[1] ?? '') : null;
  }

  function isSigned({ method, path, headers, body }: ReceivedRequest): boolean {
    const { mchid, serial, time, nonce, signature } =
      authorizationShape.exec(headers.authorization ?? '')?.groups ?? {};
    if (mchid !== mchId || serial !== options.merchantSerial) return false;
    if (headers.accept !== 'application/json' || headers['user-agent'] === undefined) return false;
    if (Math.abs(now().getTime() / 1_000 - Number(time)) > 300) return false;
    const text = `${method}\n${path}\n${time}\n${nonce}\n${body}\n`;
    return verify('sha256', Buffer.from(text), options.merchantKey, Buffer.from(signature ?? '', 'base64'));
  }

  function place({ path, body }: ReceivedRequest): ServerReply {
    const json = JSON.parse(body) as Order['json'];
    const problem = problemOf(path, json);
    if (problem !== null) return reply(400, { code: 'PARAM_ERROR', message: problem });
    const known = orders.get(json.out_trade_no);
    // One number is one payment, and a repeated request must be the same.
    if (known !== undefined && (known.request !== body || known.path !== path)) {
      return reply(400, { code: 'INVALID_REQUEST', message: '201 商户订单号重复' });
    }
    if (known === undefined) {
      orders.set(json.out_trade_no, { request: body, path, json, state: 'NOTPAY', refunds: new Map() });
    } else if (known.state !== 'NOTPAY') {
      return reply(400, { code: known.state === 'CLOSED' ? 'ORDER_CLOSED' : 'ORDERPAID', message: '' });
    }
    return path.endsWith('/native')
      ? reply(200, { code_url: `weixin://wxpay/bizpayurl?pr=${json.out_trade_no.slice(-8)}` })
      : reply(200, {
          h5_url: `https://wx.tenpay.com/cgi-bin/mmpayweb-bin/checkmweb?prepay_id=${json.out_trade_no}`,
        });
  }

  function problemOf(path: string, json: Order['json']): string | null {
    const names = [
      'amount',
      'description',
      'notify_url',
      'out_trade_no',
      'time_expire',
      ...Object.keys(payee),
    ];
    const expected = [...names, ...(path.endsWith('/h5') ? ['scene_info'] : [])].sort().join();
    if (Object.keys(json).sort().join() !== expected) return 'fields';
    if (!Object.entries(payee).every(([name, value]) => json[name] === value)) return 'payee';
    if (!/^[0-9A-Za-z]{6,32}$/.test(json.out_trade_no)) return 'out_trade_no';
    if (!/^https?:\/\/[^?]+$/.test(json.notify_url)) return 'notify_url';
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/.test(json.time_expire)) return 'time_expire';
    if (Date.parse(json.time_expire) < now().getTime() + 60_000) return 'time_expire';
    return Number.isSafeInteger(json.amount.total) && json.amount.total > 0 ? null : 'amount.total';
  }

  function refund({ body }: ReceivedRequest): ServerReply {
    const json = JSON.parse(body) as {
      readonly transaction_id: string;
      readonly out_refund_no: string;
      readonly sub_mchid?: string;
      readonly amount: { readonly refund: number; readonly total: number; readonly currency: string };
    };
    const order = [...orders.values()].find(
      ({ json: { out_trade_no } }) => transactionOf(out_trade_no) === json.transaction_id,
    );
    if (order === undefined || order.state === 'NOTPAY') {
      return reply(404, { code: 'RESOURCE_NOT_EXISTS', message: '订单不存在' });
    }
    const { refund: amount, total, currency } = json.amount;
    if ((json.sub_mchid ?? null) !== subMchId || currency !== 'CNY' || total !== order.json.amount.total) {
      return reply(400, { code: 'PARAM_ERROR', message: 'amount' });
    }
    const known = order.refunds.get(json.out_refund_no);
    if (known !== undefined && known.request !== body)
      return reply(400, { code: 'INVALID_REQUEST', message: 'refund' });
    const before = [...order.refunds.values()].reduce((sum, one) => sum + one.refund, 0);
    if (known === undefined && before + amount > total)
      return reply(403, { code: 'NOT_ENOUGH', message: '余额' });
    order.refunds.set(json.out_refund_no, { request: body, refund: amount, status: 'PROCESSING' });
    order.state = 'REFUND';
    return reply(200, {
      out_refund_no: json.out_refund_no,
      refund_id: `50${json.out_refund_no}`,
      status: 'PROCESSING',
    });
  }

  function showRefund(refundNumber: string): ServerReply {
    const order = [...orders.values()].find(({ refunds }) => refunds.has(refundNumber));
    const refund = order?.refunds.get(refundNumber);
    if (order === undefined || refund === undefined) {
      return reply(404, { code: 'RESOURCE_NOT_EXISTS', message: '退款单不存在' });
    }
    const { out_trade_no, amount } = order.json;
    return reply(200, {
      ...{ refund_id: `50${refundNumber}`, out_refund_no: refundNumber, status: refund.status },
      ...{ out_trade_no, transaction_id: transactionOf(out_trade_no), channel: 'ORIGINAL' },
      ...(refund.status === 'SUCCESS' ? { success_time: '2026-01-02T12:04:05+08:00' } : {}),
      amount: { total: amount.total, refund: refund.refund, currency: 'CNY' },
    });
  }

  function show(number: string): ServerReply {
    const order = orders.get(number);
    if (order === undefined) return reply(404, { code: 'ORDER_NOT_EXIST', message: '订单不存在' });
    const isPaid = order.state === 'SUCCESS' || order.state === 'REFUND';
    return reply(200, {
      ...payee,
      out_trade_no: number,
      trade_state: order.state,
      ...(isPaid ? paymentOf(order) : {}),
    });
  }

  function paymentOf({ json }: Order): JsonObject {
    return {
      transaction_id: transactionOf(json.out_trade_no),
      success_time: '2026-01-02T11:04:05+08:00',
      amount: { total: json.amount.total, currency: 'CNY' },
    };
  }

  function reply(status: number, json: JsonObject): ServerReply {
    const body = JSON.stringify(json);
    const time = String(Math.floor(now().getTime() / 1_000));
    const nonce = `reply${(sent += 1)}`;
    const signature = sign('sha256', Buffer.from(`${time}\n${nonce}\n${body}\n`), options.platformKey);
    return {
      status,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'wechatpay-timestamp': time,
        'wechatpay-nonce': nonce,
        'wechatpay-serial': options.platformSerial,
        'wechatpay-signature': signature.toString('base64'),
      },
      body,
    };
  }

  function callback(type: string, id: string, resource: JsonObject): SentCallback {
    sent += 1;
    const message = {
      id,
      create_time: '2026-01-02T11:04:06+08:00',
      resource_type: 'encrypt-resource',
      event_type: type,
    };
    return signWechatPay(message, resource, {
      apiV3Key: options.apiV3Key,
      privateKey: options.platformKey,
      serial: options.platformSerial,
      nonce: String(sent).padStart(12, '0'),
      at: now(),
    });
  }

  function orderOf(number: string): Order {
    const order = orders.get(number);
    if (order === undefined) throw new Error(`WeChat Pay has no order ${number}`);
    return order;
  }

  return {
    ...server,
    orders: () => [...orders.keys()],
    refundsOf: (number) => [...orderOf(number).refunds.keys()],
    pay: (number) => {
      const order = orderOf(number);
      if (order.state !== 'NOTPAY') throw new Error(`the order ${number} is ${order.state}`);
      order.state = 'SUCCESS';
      const resource = { ...payee, out_trade_no: number, trade_state: 'SUCCESS', ...paymentOf(order) };
      return callback('TRANSACTION.SUCCESS', `EV-${number}`, resource);
    },
    end: (number, state) => {
      orderOf(number).state = state;
    },
    refundInConsole: (number) => {
      orderOf(number).state = 'REFUND';
    },
    endRefund: (number, refundNumber, status) => {
      const refund = orderOf(number).refunds.get(refundNumber);
      if (refund === undefined) throw new Error(`WeChat Pay has no refund ${refundNumber}`);
      refund.status = status;
    },
    reportRefund: (number, refundNumber) => {
      const order = orderOf(number);
      const amount = { total: order.json.amount.total, refund: order.refunds.get(refundNumber)?.refund ?? 0 };
      return callback('REFUND.SUCCESS', `EV-${refundNumber}`, {
        ...merchant,
        ...{ out_trade_no: number, transaction_id: transactionOf(number) },
        ...{ out_refund_no: refundNumber, refund_id: `50${refundNumber}`, refund_status: 'SUCCESS' },
        amount,
      });
    },
  };
}

/** Returns the platform's id of the payment of an order. */
function transactionOf(number: string): string {
  return `42000000${number}`;
}
