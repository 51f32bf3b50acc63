import type { ExecutionContext } from 'ava';
import { givenKeyDirectory } from '../../areas/payments/platforms/vectors/vectors.js';
import { paypalCertificate } from '../examples/paypal-certificate.js';
import { givenPayPal, paypalApp, paypalWebhookId } from './fake-paypal.js';
import { givenPayingService } from './paying-services.js';

/** A service that pays at PayPal. @param options.timeMs the time limit of a call @param options.pageMax events of a page of PayPal's list */
export async function givenPayPalService(
  t: ExecutionContext,
  {
    timeMs,
    clientSecret = paypalApp.clientSecret,
    pageMax = 300,
  }: { readonly timeMs?: number; readonly clientSecret?: string; readonly pageMax?: number } = {},
) {
  const paypal = await givenPayPal(t, { pageMax });
  const service = await givenPayingService(t, {
    ...{ provider: 'paypal', url: paypal.url },
    environment: {
      PAYMENT_PAYPAL_WEBHOOK_ID: paypalWebhookId,
      PAYMENT_PAYPAL_CERTIFICATES_DIR: givenKeyDirectory(t, { 'paypal.pem': paypalCertificate }),
      PAYMENT_PAYPAL_CLIENT_ID: paypalApp.clientId,
      PAYMENT_PAYPAL_CLIENT_SECRET: clientSecret,
    },
    ...(timeMs === undefined ? {} : { timeMs }),
  });
  /** Makes an order with its payment at PayPal. */
  const placePaid = async () => {
    const order = await service.place();
    const made = await service.pay(order.path);
    t.is(made.status, 200, made.text);
    const payment = paypal.orders.find(({ number }) => number === order.number);
    if (payment === undefined) throw new Error('PayPal has no such order');
    return { order, payment, made: made.json() };
  };
  /** Sends what PayPal has to tell. */
  const deliverUnsent = async () => {
    const callbacks = paypal.unsent();
    for (const callback of callbacks) t.is(await service.deliver(callback), 200);
    return callbacks.length;
  };
  return { paypal, service, placePaid, deliverUnsent };
}
