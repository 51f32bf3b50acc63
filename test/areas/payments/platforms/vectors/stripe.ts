import { verifyStripe } from '../../../../../src/areas/payments/platforms/stripe/stripe.js';
import type { JsonObject } from '../../../../../src/event-sourcing/ports/domain-event.js';
import { signStripe } from '../../../../support/clients/sign-callbacks.js';
import { secrets } from '../messages/messages.js';
import { stripeMessages } from '../messages/messages-stripe.js';
import { ok, type PlatformUnderTest } from './under-test.js';

const stripe: PlatformUnderTest = {
  messages: stripeMessages,
  digest: '0f1d520ab9d05cbba1ce3108aa5e5c4cbc16b565d6f085ee9eb6990fa44bf1f9',
  acknowledgement: ok,
  lateMs: 600_000,
  environment: () => ({
    PAYMENT_STRIPE_WEBHOOK_SECRETS: ` ${secrets.stripe.join(' , ')} `,
    PAYMENT_STRIPE_LIVEMODE: 'true',
  }),
  // Further signatures and schemes beside a valid one do not count.
  meaningOf: ({ headers, body }) =>
    `${/(?:^|,)t=(\d+)/.exec(headers['stripe-signature'] ?? '')?.[1] ?? ''} ${body.toString('hex')}`,
  sign: (name) => {
    const secret = `whsec_TestOnly${name.padStart(16, '0')}`;
    return {
      verify: verifyStripe({ secrets: [secret], livemode: true }),
      pay: ({ orderNumber, transaction, amount, currency }, at) => {
        const session: JsonObject = {
          ...{ id: `cs_${transaction}`, object: 'checkout.session', client_reference_id: orderNumber },
          ...{ amount_total: amount, currency: currency.toLowerCase(), payment_intent: `pi_${transaction}` },
          ...{ payment_status: 'paid', status: 'complete' },
        };
        const type = 'checkout.session.completed';
        const event = { id: `evt_${transaction}`, object: 'event', type, livemode: true };
        return signStripe({ ...event, created: 1_767_323_000, data: { object: session } }, { secret, at });
      },
    };
  },
};
export default stripe;
