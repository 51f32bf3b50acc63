import { randomBytes } from 'node:crypto';
import { makeAlipayClient } from '../alipay/alipay-client.js';
import { makeAlipayMaker } from '../alipay/alipay-maker.js';
import { makeEpayMaker } from '../epay/epay-maker.js';
import type { PaymentMaker } from '../payment-maker.js';
import type { PaymentSettings } from './payment-settings.js';
import type { MakerSurroundings } from '../platform-calls.js';
import type { QueryingMaker } from '../queried-payment.js';
import { makeWechatPayClient } from '../wechatpay/wechatpay-client.js';
import { makeWechatPayKeys } from '../wechatpay/wechatpay-keys.js';
import { makeWechatPayMaker } from '../wechatpay/wechatpay-maker.js';

const wechatPayUrl = 'https://api.mch.weixin.qq.com';
const alipayUrl = 'https://openapi.alipay.com';

/** @throws KeyDirectoryProblem */
export function openWechatPayMaker(
  settings: PaymentSettings['wechatpay'],
  {
    call,
    now,
    report,
    baseUrl = wechatPayUrl,
  }: MakerSurroundings & { readonly report: (problem: string) => void },
): readonly QueryingMaker[] {
  if (settings === null || settings.api === null) return [];
  const { api, keysDirectory, ...merchant } = settings;
  const client = makeWechatPayClient({
    baseUrl,
    signer: { ...api, mchId: merchant.mchId },
    keys: makeWechatPayKeys(keysDirectory, report),
    call,
    now,
    makeNonce: () => randomBytes(16).toString('hex'),
  });
  return [makeWechatPayMaker({ merchant, client, now })];
}

export function openAlipayMaker(
  settings: PaymentSettings['alipay'],
  { call, now, baseUrl = alipayUrl }: MakerSurroundings,
): readonly QueryingMaker[] {
  if (settings === null || settings.api === null) return [];
  const { appId, sellerId, publicKeys, api } = settings;
  const signer = { ...api, appId, gateway: `${baseUrl}/gateway.do` };
  return [
    makeAlipayMaker({ signer, sellerId, client: makeAlipayClient({ signer, publicKeys, call, now }), now }),
  ];
}

export function openEpayMaker(settings: PaymentSettings['epay']): readonly PaymentMaker[] {
  const [key] = settings?.keys ?? [];
  if (settings === null || settings.api === null || key === undefined) return [];
  return [makeEpayMaker({ ...settings.api, pid: settings.pid, key })];
}
