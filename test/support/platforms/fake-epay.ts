import { createHash } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { type SentCallback, signEpay } from '../clients/sign-callbacks.js';
import { givenPlatformServer, type PlatformServer, type ServerReply } from './platform-server.js';

interface FakeEpay extends PlatformServer {
  orders(): readonly string[];
  /** The buyer pays; returns the notification. */
  pay(number: string): SentCallback;
}

const names = 'money,name,notify_url,out_trade_no,pid,return_url,sign,sign_type';

/** Starts an epay gateway over TLS. It refuses each form whose signature, merchant or fields are not exactly right. */
export async function givenFakeEpay(
  t: ExecutionContext,
  { pid, key }: { readonly pid: string; readonly key: string },
): Promise<FakeEpay> {
  const orders = new Map<string, Readonly<Record<string, string>>>();
  const server = await givenPlatformServer(t, ({ method, path, headers, body }) => {
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
    if (method !== 'POST' || path !== '/submit.php' || !isForm) return page(404, 'not found');
    const fields = Object.fromEntries(new URLSearchParams(body));
    const { money = '', out_trade_no = '' } = fields;
    const problem = problemOf(fields);
    if (problem !== null) return page(200, problem);
    orders.set(out_trade_no, fields);
    return page(200, `pay ${money}`);
  });

  /** Returns what is wrong with a form; null if nothing is. */
  function problemOf(fields: Readonly<Record<string, string>>): string | null {
    if (Object.keys(fields).sort().join() !== names) return 'parameters';
    if (fields['sign_type'] !== 'MD5' || fields['pid'] !== pid) return 'parameters';
    const signed = Object.entries(fields).filter(([name, value]) => !name.startsWith('sign') && value !== '');
    const text = signed
      .map(([name, value]) => `${name}=${value}`)
      .sort()
      .join('&');
    if (fields['sign'] !== createHash('md5').update(`${text}${key}`).digest('hex')) return 'signature';
    return /^\d+\.\d\d$/.test(fields['money'] ?? '') ? null : 'money';
  }

  return {
    ...server,
    orders: () => [...orders.keys()],
    pay: (number) => {
      const order = orders.get(number);
      if (order === undefined) throw new Error(`the gateway has no order ${number}`);
      const { money = '', name = '' } = order;
      const trade = { trade_no: `2026${number}`, out_trade_no: number, trade_status: 'TRADE_SUCCESS' };
      return signEpay({ pid, ...trade, type: 'alipay', name, money }, { key });
    },
  };
}

function page(status: number, body: string): ServerReply {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}
