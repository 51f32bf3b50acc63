import { alipay } from './alipay/alipay.js';
import { epay } from './epay/epay.js';
import { paypal } from './paypal/paypal.js';
import type { PaymentPlatform } from './platform.js';
import { standard } from './standard/standard.js';
import { stripe } from './stripe/stripe.js';
import { wechatpay } from './wechatpay/wechatpay.js';

/** The payment platforms, in the order of documents. A new one is a folder, and a line here. */
const all = [stripe, wechatpay, alipay, paypal, standard, epay] as const;

export type PlatformName = (typeof all)[number]['name'];
export const platforms: ReadonlyMap<PlatformName, PaymentPlatform> = new Map(
  all.map((one) => [one.name, one]),
);
