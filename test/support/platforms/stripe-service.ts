import type { ExecutionContext } from 'ava';
import { givenStripe, stripeKey, stripeSecret } from './fake-stripe.js';
import { givenPayingService } from './paying-services.js';

/** A service that pays at Stripe. @param options.timeMs the time limit of a call @param options.pageMax items of a page of Stripe's lists */
export async function givenStripeService(
  t: ExecutionContext,
  {
    timeMs,
    secretKey = stripeKey,
    pageMax = 100,
  }: { readonly timeMs?: number; readonly secretKey?: string; readonly pageMax?: number } = {},
) {
  const stripe = await givenStripe(t, { pageMax });
  const service = await givenPayingService(t, {
    ...{ provider: 'stripe', url: stripe.url },
    environment: { PAYMENT_STRIPE_WEBHOOK_SECRETS: stripeSecret, PAYMENT_STRIPE_SECRET_KEY: secretKey },
    ...(timeMs === undefined ? {} : { timeMs }),
  });
  /** Makes an order with its session at Stripe. */
  const placeWithSession = async () => {
    const order = await service.place();
    t.is((await service.pay(order.path)).status, 200);
    const session = stripe.sessions.at(-1);
    if (session === undefined) throw new Error('Stripe has no session');
    return { ...order, session };
  };
  return { stripe, service, placeWithSession };
}
