import test, { type ExecutionContext } from 'ava';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { browse } from '../areas/payments/platforms/makers/given-makers.js';
import { secrets } from '../areas/payments/platforms/messages/messages.js';
import { textOf } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import type { PlatformMood } from '../support/platforms/platform-server.js';
import {
  givenAlipayService,
  givenRefunds,
  givenWechatPayService,
  planBytes,
  refundNote,
} from '../support/platforms/paying-services.js';
import { givenPayPalService } from '../support/platforms/paypal-service.js';
import { givenStripeService } from '../support/platforms/stripe-service.js';

type Moods = readonly PlatformMood[];
type Amounts = Readonly<Record<string, number>>;

/** Paid orders. `thenRefunded` checks that the platform made these refunds and no other. */
const refundable = [
  {
    ...{ name: 'WeChat Pay', amount: 6_900, currency: 'CNY', moods: ['is silent', 'is slow'] as Moods },
    givenPaid: async (t: ExecutionContext) => {
      const { platform, service } = await givenWechatPayService(t, 2_000);
      const order = await service.place();
      t.is((await service.pay(order.path)).status, 200);
      t.is(await service.deliver(platform.pay(order.number)), 200);
      return {
        ...{ platform, service, order, transactionId: `42000000${order.number}` },
        thenRefunded: (amounts: Amounts) =>
          t.deepEqual(platform.refundsOf(order.number), Object.keys(amounts)),
        report: (id: string) => [platform.reportRefund(order.number, id)],
      };
    },
  },
  {
    ...{ name: 'Alipay', amount: 6_900, currency: 'CNY', moods: ['fails', 'fails'] as Moods },
    givenPaid: async (t: ExecutionContext) => {
      const { platform, service } = await givenAlipayService(t);
      const order = await service.place();
      await browse(textOf((await service.pay(order.path)).json(), 'url'));
      t.is(await service.deliver(platform.pay(order.number)), 200);
      return {
        ...{ platform, service, order, transactionId: `2026010222${order.number}` },
        thenRefunded: (amounts: Amounts) => t.deepEqual(platform.refundsOf(order.number), amounts),
        report: () => [platform.reportRefund(order.number)],
      };
    },
  },
  {
    ...{ name: 'PayPal', amount: 999, currency: 'USD', moods: ['is slow', 'fails'] as Moods },
    givenPaid: async (t: ExecutionContext) => {
      const { paypal, service, placePaid, deliverUnsent } = await givenPayPalService(t, { timeMs: 2_000 });
      const { order, payment } = await placePaid();
      t.is(await service.deliver(paypal.approve(payment)), 200);
      await eventually('the capture', () => payment.status === 'COMPLETED');
      await deliverUnsent();
      return {
        ...{ platform: paypal, service, order, transactionId: payment.captureId },
        thenRefunded: (amounts: Amounts) => thenGivenBack(t, payment, amounts, /^1JU/),
        report: () => paypal.unsent(),
      };
    },
  },
  {
    ...{ name: 'Stripe', amount: 999, currency: 'USD', moods: ['is slow', 'fails'] as Moods },
    givenPaid: async (t: ExecutionContext) => {
      const { stripe, service, placeWithSession } = await givenStripeService(t, { timeMs: 5_000 });
      const { session, ...order } = await placeWithSession();
      t.is(await service.deliver(stripe.pay(session)), 200);
      return {
        ...{ platform: stripe, service, order, transactionId: session.intent },
        thenRefunded: (amounts: Amounts) => thenGivenBack(t, session, amounts, /^re_/),
        report: () => stripe.refunds(),
      };
    },
  },
] as const;

function thenGivenBack(
  t: ExecutionContext,
  { refunded }: { readonly refunded: number },
  amounts: Amounts,
  ids: RegExp,
): void {
  t.is(
    refunded,
    Object.values(amounts).reduce((sum, one) => sum + one, 0),
  );
  for (const id of Object.keys(amounts)) t.regex(id, ids);
}

for (const { name, amount, currency, moods, givenPaid } of refundable) {
  test(`An operator gives back a payment at ${name} in two parts, and the grant ends with the second`, async (t) => {
    // Given a paid order
    const { platform, service, order, transactionId, ...paid } = await givenPaid(t);
    await service.becomes(order.path, 'fulfilled');
    const { refund, refused } = await givenRefunds(t, service, order.id);
    const part = 400;

    // When a part goes back, with a failure or a lost reply, then the platform makes one refund, and its callback counts it once
    platform.will(...moods);
    t.deepEqual(await refused('one', part), [503, 'platform_unavailable']);
    const first = textOf(await refund('one', part), 'refund_id');
    paid.thenRefunded({ [first]: part });
    t.like(await service.read(order.path), { status: 'fulfilled', refunded_amount: 0 });
    const callbacks = paid.report(first);
    for (const callback of [...callbacks, ...callbacks]) t.is(await service.deliver(callback), 200);
    t.like(await service.becomes(order.path, 'partially_refunded'), { refunded_amount: part });
    await service.holds(service.granted + planBytes);

    // When more than the rest is asked for, then the platform is not asked; the rest ends the grant
    t.deepEqual(await refused('two', amount - part + 1), [409, 'conflict']);
    const rest = await refund('three');
    t.like(rest, { amount: amount - part, currency, transaction_id: transactionId });
    const second = textOf(rest, 'refund_id');
    paid.thenRefunded({ [first]: part, [second]: amount - part });
    for (const callback of paid.report(second)) t.is(await service.deliver(callback), 200);
    t.like(await service.becomes(order.path, 'refunded'), { refunded_amount: amount });
    await service.holds(service.granted);
    t.false(service.lines.join('').includes(refundNote));
  });
}

/** Two tries that fail, and two that no reply follows, the latter after the platform did its work. */
const away: Moods = ['fails', 'fails', 'is silent', 'is slow'];

for (const [name, secret, given] of [
  [
    'WeChat Pay',
    secrets.wechatpayApiV3Key,
    async (t: ExecutionContext) => {
      const { platform, service } = await givenWechatPayService(t, 2_000);
      platform.will(...away);
      const keys = () => platform.requests.map(({ body }) => body);
      return { service, payments: () => platform.orders(), keys };
    },
  ],
  [
    'PayPal',
    'canary-of-the-message',
    async (t: ExecutionContext) => {
      const { paypal, service } = await givenPayPalService(t, { timeMs: 2_000 });
      // The first request is for a token.
      paypal.will('serves', ...away);
      const keys = () => paypal.requests.flatMap(({ headers }) => headers['paypal-request-id'] ?? []);
      return { service, payments: () => paypal.orders.map((one) => one.number), keys };
    },
  ],
  [
    'Stripe',
    'canary-of-the-message',
    async (t: ExecutionContext) => {
      const { stripe, service } = await givenStripeService(t, { timeMs: 2_000 });
      stripe.will(...away);
      const keys = () => stripe.requests.map(({ headers }) => headers['idempotency-key']);
      return { service, payments: () => stripe.sessions.map((one) => one.number), keys };
    },
  ],
] as const) {
  test(`While ${name} fails or is silent the call is 503, and the next one makes the one payment`, async (t) => {
    const { service, payments, keys } = await given(t);
    const order = await service.place();
    for (const answer of ['fails', 'silent']) {
      const reply = await service.pay(order.path);
      t.deepEqual([reply.status, reply.json()['code']], [503, 'platform_unavailable'], answer);
      t.is(reply.headers.get('retry-after'), '10');
    }
    t.deepEqual(payments(), [order.number]);

    // When the platform answers, then the buyer gets the payment that was made before
    const made = await service.pay(order.path);
    t.is(made.status, 200, made.text);
    t.deepEqual(payments(), [order.number]);
    t.is(new Set(keys()).size, 1);
    // and the log names the outcome, and no address, secret or message
    const { provider, url } = made.json() as JsonObject & { readonly provider: string; readonly url: string };
    const outcome = `${provider} did not make a payment: outcome_unknown`;
    t.true(service.lines.some((line) => line.includes(outcome)));
    for (const hidden of [url, secret]) t.false(service.lines.join('').includes(hidden));
  });
}

for (const [name, code, given] of [
  [
    'Stripe',
    'invalid_request_error',
    (t: ExecutionContext) => givenStripeService(t, { secretKey: 'rk_test_TestOnlyAnotherKey0123' }),
  ],
  [
    'PayPal',
    'invalid_client',
    (t: ExecutionContext) => givenPayPalService(t, { clientSecret: 'TestOnlyAnotherSecret0123' }),
  ],
] as const) {
  test(`Credentials that ${name} refuses are 503, and the log names the code and not the message`, async (t) => {
    const { service } = await given(t);
    const order = await service.place();
    const refused = await service.pay(order.path);
    t.deepEqual([refused.status, refused.json()['code']], [503, 'platform_unavailable']);
    t.true(service.lines.some((line) => line.includes(`unavailable, ${code}`)));
    t.false(service.lines.join('').includes('canary-of-the-message'));
  });
}
