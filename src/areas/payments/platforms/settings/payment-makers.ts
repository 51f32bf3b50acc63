import type { PaymentProviderName } from '../../domain/payment.js';
import type { OutgoingHttp } from '../../../../outgoing/outgoing-http.js';
import type { PaymentMaker } from '../payment-maker.js';
import type { PaymentSettings } from './payment-settings.js';
import { makeCallPlatform, type MakerSurroundings } from '../platform-calls.js';
import { makePayPalClient, paypalUrlOf } from '../paypal/paypal-client.js';
import { makePayPalList } from '../paypal/paypal-list.js';
import { makePayPalMaker } from '../paypal/paypal-maker.js';
import { makeStripeClient } from '../stripe/stripe-client.js';
import { makeStripeLists } from '../stripe/stripe-lists.js';
import { makeStripeMaker } from '../stripe/stripe-maker.js';
import { openAlipayMaker, openEpayMaker, openWechatPayMaker } from './payment-makers-china.js';

export type PaymentMakers = ReadonlyMap<PaymentProviderName, PaymentMaker>;

/**
 * Makes the platforms that the service can ask for payments: those with credentials of their API.
 * @param urls other bases of addresses, for tests
 * @throws KeyDirectoryProblem for an unusable directory of keys
 */
export function makePaymentMakers(
  { stripe, wechatpay, alipay, paypal, epay }: PaymentSettings,
  {
    http,
    now,
    sleep,
    urls = {},
    report,
  }: Pick<MakerSurroundings, 'now'> & {
    readonly http: OutgoingHttp;
    readonly sleep: (ms: number) => Promise<void>;
    readonly urls?: Partial<Readonly<Record<PaymentProviderName, string>>>;
    /** Receives the problem of a directory of keys that has become unusable. */
    readonly report: (problem: string) => void;
  },
): PaymentMakers {
  const makers: PaymentMaker[] = [];
  if (stripe !== null && stripe.api !== null) {
    const client = makeStripeClient(stripe.api, surroundingsOf('stripe'));
    const lists = makeStripeLists({ client, livemode: stripe.livemode, now });
    makers.push({ ...makeStripeMaker(client, now), ...lists });
  }
  if (paypal !== null && paypal.api !== null) {
    const { call, baseUrl = paypalUrlOf(paypal.environment) } = surroundingsOf('paypal');
    const client = makePayPalClient({ baseUrl, api: paypal.api, call, now });
    makers.push({ ...makePayPalMaker({ client, now }), ...makePayPalList(client) });
  }
  makers.push(
    ...openWechatPayMaker(wechatpay, { ...surroundingsOf('wechatpay'), report }),
    ...openAlipayMaker(alipay, surroundingsOf('alipay')),
    ...openEpayMaker(epay),
  );
  return new Map(makers.map((maker) => [maker.provider, maker]));

  /** Each platform has its own queue, so that one that hangs holds up no other. */
  function surroundingsOf(provider: PaymentProviderName): MakerSurroundings {
    const baseUrl = urls[provider];
    return { call: makeCallPlatform({ http, sleep }), now, ...(baseUrl === undefined ? {} : { baseUrl }) };
  }
}
