import type { PaymentProviderName } from '../../domain/payment.js';
import type { OutgoingHttp } from '../../../../outgoing/outgoing-http.js';
import { makeAlipay } from '../alipay/alipay.js';
import { makeEpay } from '../epay/epay.js';
import { KeyDirectoryProblem } from './key-directory.js';
import type { PaymentProvider } from '../payment-provider.js';
import type { PaymentSettings } from './payment-settings.js';
import {
  makeFetchedCertificates,
  makePinnedCertificates,
  type PayPalCertificates,
} from '../paypal/paypal-certificates.js';
import { makePayPal } from '../paypal/paypal.js';
import { makeStandard } from '../standard.js';
import { makeStripe } from '../stripe/stripe.js';
import { makeWechatPayKeys } from '../wechatpay/wechatpay-keys.js';
import { makeWechatPay } from '../wechatpay/wechatpay.js';

export type PaymentProviders = ReadonlyMap<PaymentProviderName, PaymentProvider>;

interface Surroundings {
  readonly http: OutgoingHttp;
  /** Receives the problem of a directory of keys that has become unusable. The current keys stay in use. */
  readonly report: (problem: string) => void;
}

/** @throws KeyDirectoryProblem for an unusable directory of keys, see `keyDirectoryProblems` */
export function makePaymentProviders(
  settings: PaymentSettings,
  surroundings: Surroundings,
): PaymentProviders {
  const { stripe, wechatpay, alipay, paypal, standard, epay } = settings;
  const providers = new Map<PaymentProviderName, PaymentProvider>();
  if (stripe !== null) providers.set('stripe', makeStripe(stripe));
  if (wechatpay !== null) {
    const { keysDirectory, ...merchant } = wechatpay;
    const keys = makeWechatPayKeys(keysDirectory, surroundings.report);
    providers.set('wechatpay', makeWechatPay({ ...merchant, keys }));
  }
  if (alipay !== null) providers.set('alipay', makeAlipay(alipay));
  if (paypal !== null) {
    const { webhookId } = paypal;
    providers.set('paypal', makePayPal({ webhookId, certificates: certificatesOf(paypal, surroundings) }));
  }
  if (standard !== null) providers.set('standard', makeStandard(standard));
  if (epay !== null) providers.set('epay', makeEpay(epay));
  return providers;
}

function certificatesOf(
  { environment, certificatesDirectory: path }: NonNullable<PaymentSettings['paypal']>,
  { http, report }: Surroundings,
): PayPalCertificates {
  if (path === undefined) return makeFetchedCertificates({ environment, http });
  return makePinnedCertificates({ path, environment, report });
}

/** Returns the problems of the directories of keys, one sentence each. */
export function keyDirectoryProblems({ wechatpay, paypal }: PaymentSettings): readonly string[] {
  const report = (): void => undefined;
  const path = paypal?.certificatesDirectory;
  return [
    ...problemOf('PAYMENT_WECHATPAY_KEYS_DIR', () => {
      if (wechatpay !== null) makeWechatPayKeys(wechatpay.keysDirectory, report);
    }),
    ...problemOf('PAYMENT_PAYPAL_CERTIFICATES_DIR', () => {
      if (paypal !== null && path !== undefined) makePinnedCertificates({ ...paypal, path, report });
    }),
  ];
}

function problemOf(variable: string, read: () => void): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof KeyDirectoryProblem)) throw error;
    return [`${variable}: ${error.message}`];
  }
}
