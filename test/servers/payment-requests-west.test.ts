/*
 * Compares the requests to Stripe and PayPal, byte by byte, with those of the platforms' SDKs in SDK_FOLDER, like
 * payment-requests.test.ts.
 */
import { Agent } from 'node:https';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { connect } from 'node:tls';
import test from 'ava';
import { makePayPalClient } from '../../src/areas/payments/platforms/paypal/paypal-client.js';
import { makePayPalMaker } from '../../src/areas/payments/platforms/paypal/paypal-maker.js';
import { makeStripeClient, stripeVersion } from '../../src/areas/payments/platforms/stripe/stripe-client.js';
import { makeStripeLists, stripeEventTypes } from '../../src/areas/payments/platforms/stripe/stripe-lists.js';
import { makeStripeMaker } from '../../src/areas/payments/platforms/stripe/stripe-maker.js';
import { makeTestCall, paymentRequest } from '../areas/payments/platforms/makers/given-makers.js';
import { arrivesAt } from '../areas/payments/platforms/messages/messages.js';
import { paypalApp } from '../support/platforms/fake-paypal.js';
import { stripeKey } from '../support/platforms/fake-stripe.js';
import { givenPlatformServer, platformOptions } from '../support/platforms/platform-server.js';
import {
  thenRequestsAgree,
  givenRecorder,
  partsRead,
  refundRequest as refund,
} from '../support/platforms/paying-services.js';
import { suiteWith } from '../support/suite.js';

const now = (): Date => arrivesAt;
const ignore = (): void => undefined;

const what = 'Requests are compared with those of SDKs when SDK_FOLDER contains them';
suiteWith(test, process.env['SDK_FOLDER'] || undefined, what, (folder) => {
  compare(createRequire(join(folder, 'package.json')));
});

function compare(load: NodeJS.Require): void {
  test('Requests of Stripe equal those of stripe', async (t) => {
    // given
    const server = await givenRecorder(t);
    const baseUrl = `http://127.0.0.1:${server.port}`;
    const client = makeStripeClient({ secretKey: stripeKey }, { call: makeTestCall(), baseUrl });
    const maker = makeStripeMaker(client, now);
    const lists = makeStripeLists({ client, livemode: undefined, now });
    const Stripe = load('stripe') as StripeModule;
    const sdk = new Stripe(stripeKey, {
      ...{ protocol: 'http', host: '127.0.0.1', port: server.port, apiVersion: stripeVersion },
      ...{ maxNetworkRetries: 0, telemetry: false },
    });
    const { orderNumber, title, returnUrl, idempotencyKey } = paymentRequest;
    const item = { currency: 'cny', unit_amount: 6_900, product_data: { name: title } };
    const session = {
      ...{ mode: 'payment', client_reference_id: orderNumber, metadata: { order_id: orderNumber } },
      line_items: [{ quantity: 1, price_data: item }],
      ...{ success_url: returnUrl, cancel_url: returnUrl },
      expires_at: Math.floor(paymentRequest.expiresAt.getTime() / 1_000) - 60,
    };
    const back = {
      ...{ payment_intent: refund.transactionId, amount: 1_900, metadata: { order_id: orderNumber } },
    };
    const period = { from: new Date(1_760_000_000_000), to: new Date(1_770_000_000_000) };
    const listed = { created: { gte: 1_760_000_000, lt: 1_770_000_000 }, limit: 50 };
    const calls = [
      [
        () => maker.makePayment(paymentRequest),
        () => sdk.checkout.sessions.create(session, { idempotencyKey }),
      ],
      [
        () => maker.refund?.(refund) ?? Promise.resolve(),
        () => sdk.refunds.create(back, { idempotencyKey: refund.idempotencyKey }),
      ],
      [
        () => lists.listReports(period, 'events/evt_1'),
        () => sdk.events.list({ ...listed, starting_after: 'evt_1', types: stripeEventTypes }),
      ],
      [() => lists.listReports(period, 'sessions/'), () => sdk.checkout.sessions.list(listed)],
    ] as const;
    await thenRequestsAgree(t, server, calls);
    t.is(server.requests.length, 8);
  });

  test('Requests of PayPal equal those of @paypal/paypal-server-sdk', async (t) => {
    // given
    const server = await givenPlatformServer(t, () => ({
      ...{ status: 200, headers: { 'content-type': 'application/json' } },
      body: '{"access_token":"token","token_type":"Bearer","expires_in":3600,"id":"5O1","status":"COMPLETED"}',
    }));
    const baseUrl = `https://api-m.sandbox.paypal.com:${server.port}`;
    const maker = makePayPalMaker({
      client: makePayPalClient({ baseUrl, api: paypalApp, call: makeTestCall(), now }),
      now,
    });
    const sdk = loadPayPal(load, server.port);
    const { orderNumber, title, returnUrl, idempotencyKey } = paymentRequest;
    const price = { currency_code: 'CNY', value: '69.00' };
    const order = {
      intent: 'CAPTURE',
      purchaseUnits: [
        {
          amount: { currencyCode: price.currency_code, value: price.value },
          ...{ description: title, customId: orderNumber, invoiceId: orderNumber },
        },
      ],
      paymentSource: {
        paypal: {
          experienceContext: {
            ...{ shippingPreference: 'NO_SHIPPING', returnUrl, cancelUrl: returnUrl, userAction: 'PAY_NOW' },
          },
        },
      },
    };
    const prefer = 'return=representation';
    const reference = '5O190127TN364715T';
    const calls = [
      [
        () => maker.makePayment(paymentRequest),
        () => sdk.orders.createOrder({ body: order, paypalRequestId: idempotencyKey, prefer }).catch(ignore),
      ],
      [
        () => maker.capture?.({ reference, idempotencyKey }) ?? Promise.resolve(),
        () =>
          sdk.orders
            .captureOrder({ id: reference, body: {}, paypalRequestId: idempotencyKey, prefer })
            .catch(ignore),
      ],
      [
        () => maker.refund?.(refund) ?? Promise.resolve(),
        () =>
          sdk.payments
            .refundCapturedPayment({
              ...{ captureId: refund.transactionId, paypalRequestId: refund.idempotencyKey, prefer },
              body: { amount: { currencyCode: 'CNY', value: '19.00' } },
            })
            .catch(ignore),
      ],
    ] as const;
    await thenRequestsAgree(t, server, calls);
    const tokens = server.requests.filter(({ path }) => path === '/v1/oauth2/token').map(partsRead);
    t.is(tokens.length, 2);
    t.deepEqual(tokens[0], tokens[1]);
    t.is(server.requests.length, 8);
  });
}

type StripeModule = new (
  key: string,
  config: object,
) => {
  readonly checkout: {
    readonly sessions: {
      create(params: object, options: object): Promise<unknown>;
      list(params: object): Promise<unknown>;
    };
  };
  readonly events: { list(params: object): Promise<unknown> };
  readonly refunds: { create(params: object, options: object): Promise<unknown> };
};

interface PayPalModule {
  readonly Client: new (config: object) => object;
  readonly Environment: { readonly Sandbox: string };
  readonly OrdersController: new (
    client: object,
  ) => Readonly<Record<'createOrder' | 'captureOrder', (options: object) => Promise<unknown>>>;
  readonly PaymentsController: new (client: object) => {
    refundCapturedPayment(options: object): Promise<unknown>;
  };
}

/** Makes the SDK whose connections to PayPal lead to a port of this machine. */
function loadPayPal(load: NodeJS.Require, port: number) {
  const { Client, Environment, OrdersController, PaymentsController } = load(
    '@paypal/paypal-server-sdk',
  ) as PayPalModule;
  const httpsAgent = new Agent();
  httpsAgent.createConnection = () =>
    connect({ host: '127.0.0.1', port, servername: 'api-m.sandbox.paypal.com', ca: platformOptions.ca });
  const { clientId, clientSecret } = paypalApp;
  const client = new Client({
    ...{ environment: Environment.Sandbox, httpClientOptions: { httpsAgent } },
    clientCredentialsAuthCredentials: { oAuthClientId: clientId, oAuthClientSecret: clientSecret },
  });
  return { orders: new OrdersController(client), payments: new PaymentsController(client) };
}
