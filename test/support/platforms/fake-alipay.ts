import { type KeyObject, sign, verify } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { type SentCallback, signAlipay } from '../clients/sign-callbacks.js';
import {
  givenPlatformServer,
  type PlatformServer,
  type ReceivedRequest,
  type ServerReply,
} from './platform-server.js';

interface Trade {
  readonly number: string;
  readonly amount: string;
  status: 'WAIT_BUYER_PAY' | 'TRADE_SUCCESS' | 'TRADE_CLOSED';
  isPaid: boolean;
  /** Fen by the number of the refund. */
  readonly refunds: Map<string, number>;
}

interface FakeAlipay extends PlatformServer {
  trades(): readonly string[];
  /** Fen by the number of each refund of an order. */
  refundsOf(number: string): Readonly<Record<string, number>>;
  /** The buyer pays; returns the notification. */
  pay(number: string): SentCallback;
  /** The trade ends without a payment; returns the notification. */
  close(number: string): SentCallback;
  /** The shop refunds all that is left in the console, and the notification is lost. */
  refundInConsole(number: string, refundNumber: string): void;
  /** Returns the notification after a refund. */
  reportRefund(number: string): SentCallback;
}

interface FakeAlipayOptions {
  readonly appId: string;
  readonly sellerId: string;
  /** The public key of the app, which signs requests. */
  readonly appKey: KeyObject;
  /** Alipay's key, which signs replies and notifications. */
  readonly alipayKey: KeyObject;
  readonly now: () => Date;
}

const pageNames = 'app_id,biz_content,charset,method,notify_url,return_url,sign,sign_type,timestamp,version';
const products = {
  'alipay.trade.page.pay': 'FAST_INSTANT_TRADE_PAY',
  'alipay.trade.wap.pay': 'QUICK_WAP_WAY',
} as const;

/** Starts Alipay's gateway over TLS. It refuses each request whose signature, app or fields are not exactly right. */
export async function givenFakeAlipay(t: ExecutionContext, options: FakeAlipayOptions): Promise<FakeAlipay> {
  const { appId, sellerId, now } = options;
  const trades = new Map<string, Trade>();
  let sent = 0;

  const server = await givenPlatformServer(t, (request) => {
    const fields = fieldsOf(request);
    const method = fields.get('method') ?? '';
    const problem = problemOf(request, fields);
    if (problem !== null) {
      return reply(method, { code: '40002', msg: 'Invalid Arguments', sub_code: problem });
    }
    const content = JSON.parse(fields.get('biz_content') ?? '{}') as Readonly<Record<string, string>>;
    if (method === 'alipay.trade.refund') return refund(content);
    if (method === 'alipay.trade.query') return show(content);
    if (method === 'alipay.trade.fastpay.refund.query') return showRefund(content);
    return openPage(fields, content);
  });

  function fieldsOf({ path, body }: ReceivedRequest): ReadonlyMap<string, string> {
    const url = new URL(path, 'https://openapi.alipay.com');
    return new Map([...url.searchParams, ...new URLSearchParams(body)]);
  }

  /** Returns what is wrong with a request; null if nothing is. */
  function problemOf(
    { method, path, body }: ReceivedRequest,
    fields: ReadonlyMap<string, string>,
  ): string | null {
    if (!path.startsWith('/gateway.do?')) return 'isv.invalid-path';
    if (fields.get('app_id') !== appId) return 'isv.invalid-app-id';
    if (fields.get('sign_type') !== 'RSA2' || fields.get('charset') !== 'utf-8')
      return 'isv.invalid-arguments';
    const time = Date.parse(`${(fields.get('timestamp') ?? '').replace(' ', 'T')}+08:00`);
    if (!(Math.abs(now().getTime() - time) < 900_000)) return 'isv.invalid-timestamp';
    const signed = [...fields]
      .filter(([name]) => name !== 'sign')
      .sort(([one], [other]) => (one < other ? -1 : 1));
    const text = signed.map(([name, value]) => `${name}=${value}`).join('&');
    const signature = Buffer.from(fields.get('sign') ?? '', 'base64');
    if (!verify('sha256', Buffer.from(text), options.appKey, signature)) return 'isv.invalid-signature';
    const isPage = (fields.get('method') ?? '').endsWith('.pay');
    return (method === 'GET') === isPage && (method === 'GET') === (body === '')
      ? null
      : 'isv.invalid-method';
  }

  /** The buyer's browser opens the address: the trade begins. */
  function openPage(
    fields: ReadonlyMap<string, string>,
    content: Readonly<Record<string, string>>,
  ): ServerReply {
    const { out_trade_no: number = '', total_amount: amount = '' } = content;
    if (!isWhole(fields, content)) return page('INVALID_PARAMETER');
    const known = trades.get(number);
    if (known !== undefined && known.amount !== amount) return page('CONTEXT_INCONSISTENT');
    if (known !== undefined && known.status !== 'WAIT_BUYER_PAY') return page('TRADE_HAS_SUCCESS');
    const status = 'WAIT_BUYER_PAY';
    trades.set(number, known ?? { number, amount, status, isPaid: false, refunds: new Map() });
    return page(`pay ${amount}`);
  }

  function isWhole(
    fields: ReadonlyMap<string, string>,
    content: Readonly<Record<string, string | undefined>>,
  ): boolean {
    const names = [...new Set([...fields.keys(), 'return_url'])].sort().join();
    const expiresAt = Date.parse(`${content['time_expire']?.replace(' ', 'T')}+08:00`);
    return (
      names === pageNames &&
      content['product_code'] === products[fields.get('method') as keyof typeof products] &&
      /^[0-9A-Za-z_]{1,64}$/.test(content['out_trade_no'] ?? '') &&
      /^(?:0|[1-9]\d*)\.\d\d$/.test(content['total_amount'] ?? '') &&
      /^[^/=&]+$/.test(content['subject'] ?? '') &&
      expiresAt > now().getTime()
    );
  }

  function refund(content: Readonly<Record<string, string>>): ServerReply {
    const { out_trade_no = '', trade_no, refund_amount = '', out_request_no = '' } = content;
    const name = 'alipay.trade.refund';
    const trade = trades.get(out_trade_no);
    if (trade === undefined || trade_no !== tradeNumberOf(out_trade_no) || !trade.isPaid) {
      return reply(name, { code: '40004', msg: 'Business Failed', sub_code: 'ACQ.TRADE_NOT_EXIST' });
    }
    const isNew = !trade.refunds.has(out_request_no);
    const fen = fenOf(refund_amount);
    if (isNew && refundedOf(trade) + fen > fenOf(trade.amount)) {
      return reply(name, {
        code: '40004',
        msg: 'Business Failed',
        sub_code: 'ACQ.REFUND_AMT_NOT_EQUAL_TOTAL',
      });
    }
    if (isNew) trade.refunds.set(out_request_no, fen);
    if (refundedOf(trade) === fenOf(trade.amount)) trade.status = 'TRADE_CLOSED';
    const refund_fee = yuanOf(refundedOf(trade));
    return reply(name, { ...succeeded, out_trade_no, trade_no, refund_fee, fund_change: isNew ? 'Y' : 'N' });
  }

  function showRefund(content: Readonly<Record<string, string>>): ServerReply {
    const { out_trade_no = '', trade_no, out_request_no = '' } = content;
    const trade = trades.get(out_trade_no);
    const name = 'alipay.trade.fastpay.refund.query';
    if (trade === undefined || trade_no !== tradeNumberOf(out_trade_no)) {
      return reply(name, { code: '40004', msg: 'Business Failed', sub_code: 'ACQ.TRADE_NOT_EXIST' });
    }
    const fen = trade.refunds.get(out_request_no);
    // A refund that was not made is a success without fields.
    if (fen === undefined) return reply(name, succeeded);
    return reply(name, {
      ...succeeded,
      ...{ out_trade_no, trade_no, out_request_no, total_amount: trade.amount },
      ...{ refund_amount: yuanOf(fen), refund_status: 'REFUND_SUCCESS' },
      gmt_refund_pay: '2026-01-02 12:04:05',
    });
  }

  function show({ out_trade_no = '' }: Readonly<Record<string, string>>): ServerReply {
    const trade = trades.get(out_trade_no);
    const name = 'alipay.trade.query';
    if (trade === undefined) {
      return reply(name, { code: '40004', msg: 'Business Failed', sub_code: 'ACQ.TRADE_NOT_EXIST' });
    }
    return reply(name, {
      ...succeeded,
      ...{ out_trade_no, trade_no: tradeNumberOf(out_trade_no), trade_status: trade.status },
      ...{ total_amount: trade.amount, buyer_logon_id: 'a{}"}***@example.org' },
      ...(trade.isPaid ? { send_pay_date: '2026-01-02 11:04:05' } : {}),
    });
  }

  function reply(method: string, json: Readonly<Record<string, string>>): ServerReply {
    const name = `${method.replaceAll('.', '_')}_response`;
    const text = JSON.stringify(json);
    const signature = sign('sha256', Buffer.from(text), options.alipayKey).toString('base64');
    return {
      status: 200,
      headers: { 'content-type': 'application/json;charset=utf-8' },
      body: `{"${name}":${text},"sign":"${signature}"}`,
    };
  }

  function notify(trade: Trade, further: Readonly<Record<string, string>>): SentCallback {
    sent += 1;
    const { number, status, amount } = trade;
    const fields = {
      ...{ notify_id: `notify${sent}`, notify_type: 'trade_status_sync', app_id: appId, seller_id: sellerId },
      ...{
        out_trade_no: number,
        trade_no: tradeNumberOf(number),
        trade_status: status,
        total_amount: amount,
      },
      ...{ charset: 'utf-8', version: '1.0', ...further },
    };
    return signAlipay(fields, { privateKey: options.alipayKey });
  }

  function tradeOf(number: string): Trade {
    const trade = trades.get(number);
    if (trade === undefined) throw new Error(`Alipay has no trade ${number}`);
    return trade;
  }

  return {
    ...server,
    trades: () => [...trades.keys()],
    refundsOf: (number) => Object.fromEntries(tradeOf(number).refunds),
    pay: (number) => {
      const trade = tradeOf(number);
      if (trade.status !== 'WAIT_BUYER_PAY') throw new Error(`the trade ${number} is ${trade.status}`);
      trade.status = 'TRADE_SUCCESS';
      trade.isPaid = true;
      return notify(trade, { gmt_payment: '2026-01-02 11:04:05' });
    },
    close: (number) => {
      const trade = tradeOf(number);
      trade.status = 'TRADE_CLOSED';
      return notify(trade, { gmt_close: '2026-01-02 11:04:05' });
    },
    refundInConsole: (number, refundNumber) => {
      const trade = tradeOf(number);
      trade.refunds.set(refundNumber, fenOf(trade.amount) - refundedOf(trade));
      trade.status = 'TRADE_CLOSED';
    },
    reportRefund: (number) => {
      const trade = tradeOf(number);
      const times = { gmt_payment: '2026-01-02 11:04:05', gmt_refund: '2026-01-02 12:04:05.123' };
      return notify(trade, { ...times, refund_fee: yuanOf(refundedOf(trade)) });
    },
  };
}

const succeeded = { code: '10000', msg: 'Success' };

function page(text: string): ServerReply {
  return { status: 200, headers: { 'content-type': 'text/html;charset=utf-8' }, body: text };
}

function refundedOf({ refunds }: Trade): number {
  return [...refunds.values()].reduce((sum, one) => sum + one, 0);
}

function fenOf(yuan: string): number {
  return Number(yuan.replace('.', ''));
}

function yuanOf(fen: number): string {
  return (fen / 100).toFixed(2);
}

/** Returns Alipay's number of the trade of an order. */
function tradeNumberOf(number: string): string {
  return `2026010222${number}`;
}
