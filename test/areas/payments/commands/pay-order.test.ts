import test from 'ava';
import { orderAggregate, orderLifeMs } from '../../../../src/areas/payments/domain/order/order.js';
import { type Plan, builtInPlans } from '../../../../src/areas/payments/domain/order/plans.js';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import { PlatformError } from '../../../../src/areas/payments/platforms/payment-maker.js';
import { eventually } from '../../../support/eventually.js';
import { makeTestClock } from '../../../support/fakes/clock.js';
import { makeTestPaymentMaker } from '../../../support/fakes/test-payment-maker.js';
import { userId } from '../../../support/examples/ids.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { pluck } from '../../../support/given/pluck.js';
import { aReport, placeOrderAs } from '../../../support/given/an-order.js';

const orderId = '019b7d00-0000-7000-8000-00000000a001';
const ours = { user_id: userId, order_id: orderId };
const client = { client_ip: '203.0.113.9', is_mobile: false };
const back = 'https://stowage.example.com/thanks';

/** An order of 999 USD at `standard`, which the service can ask for payments, and processes over the same stores. */
async function givenOrder(plans?: readonly Plan[]) {
  const clock = makeTestClock();
  const stores = await givenStores({ clock, mayLag: true });
  const maker = makeTestPaymentMaker({ now: () => clock.now() });
  let commands = 0;
  const context = () => givenContext((commands += 1), clock.now());
  await placeOrderAs(stores, orderId, context());
  const processOf = (of: typeof stores) => {
    const world = givenCommands(of, {
      paymentMakers: new Map([['standard', maker]] as const),
      ...(plans === undefined ? {} : { plans }),
    });
    return {
      world,
      pay: (returnUrl?: string) => world.payOrder({ ...ours, return_url: returnUrl, ...client }, context()),
    };
  };
  const made = async () =>
    (await stores.eventStore.read(`checkout-${orderId}`, { limit: 100 })).map(({ data }) => data);
  return {
    ...{ clock, stores, maker, made, context },
    ...processOf(stores),
    another: () => processOf(stores.anotherProcess()),
  };
}

test('Calls of one process at once make one payment, also of different requests', async (t) => {
  const { pay, maker, made } = await givenOrder();

  const ways = await Promise.all([pay(back), pay(), pay(`${back}?2`)]);

  t.is(maker.made.length, 1);
  t.is((await made()).length, 1);
  for (const way of ways) t.deepEqual(way, ways[0]);
  t.like(ways[0], { provider: 'standard', kind: 'form', url: 'https://pay.example/1', fields: { back } });
});

test('Two processes at once make one payment of the same request', async (t) => {
  const { pay, another, maker, made } = await givenOrder();

  const ways = await Promise.all([pay(back), another().pay(back)]);

  t.is(maker.requests.length, 2);
  t.is(maker.made.length, 1);
  t.is((await made()).length, 1);
  t.deepEqual(ways[0], ways[1]);
});

test('Of two requests in two processes at once, buyers see one payment', async (t) => {
  const { pay, another, maker, made } = await givenOrder();

  const ways = await Promise.all([pay(back), another().pay()]);

  t.is(maker.made.length, 2);
  t.is((await made()).length, 1);
  t.deepEqual(ways[0], ways[1]);
  t.deepEqual(await pay(), ways[0]);
});

test('The open orders of one user take one call of the platform at a time, and those of another user do not wait', async (t) => {
  // Given three orders of one user, one of another, and a platform that answers when the test lets it
  const { world, stores, context, maker } = await givenOrder();
  const other = '019b7d00-0000-7000-8000-0000000000ff';
  const orders = [
    ...['b001', 'b002', 'b003'].map((end) => ({ ...ours, order_id: orderId.replace('a001', end) })),
    { user_id: other, order_id: orderId.replace('a001', 'b004') },
  ];
  for (const { user_id, order_id } of orders) await placeOrderAs(stores, order_id, context(), { user_id });
  const usual = { ...maker };
  const asked: (() => void)[] = [];
  Object.assign(maker, {
    makePayment: async (request: Parameters<typeof maker.makePayment>[0]) => {
      await new Promise<void>((answer) => asked.push(answer));
      return usual.makePayment(request);
    },
  });
  // When they are paid at once, then the platform is asked once for each user
  const ways = orders.map((input) => world.payOrder({ ...input, ...client }, context()));
  await eventually('two calls', () => asked.length >= 2);
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  t.is(asked.length, 2);
  // and every order gets its payment.
  for (let answered = 0; answered < orders.length; answered += 1) {
    await eventually('a call', () => asked.length > answered);
    asked[answered]?.();
  }
  t.is(new Set(pluck(await Promise.all(ways), 'url')).size, 4);
});

test('The event of a payment has its reference, and its address is sealed', async (t) => {
  const { pay, made } = await givenOrder();
  await pay(back);
  const [data] = await made();
  t.like(data, { project_id: null, provider: 'standard', kind: 'form', reference: 'made-1', way_of: userId });
  t.false(JSON.stringify(data).includes('pay.example'));
});

test('The platform gets the order, its price and the address of the callbacks', async (t) => {
  const { pay, maker, clock } = await givenOrder();
  await pay(back);
  t.like(maker.requests[0], {
    price: { amount: 999, currency: 'USD' },
    title: '100 GiB of storage',
    returnUrl: back,
    callbackUrl: 'http://127.0.0.1:8080/api/v1/payment/webhooks/standard',
    expiresAt: new Date(clock.now().getTime() + orderLifeMs),
    ...{ clientIp: client.client_ip, isMobile: client.is_mobile },
  });
  t.regex(maker.requests[0]?.idempotencyKey ?? '', /^[0-9a-f]{64}$/);
});

test('A long title is cut between two characters', async (t) => {
  const long = builtInPlans.map((plan) => ({ ...plan, name: `${'x'.repeat(99)}😀 and more` }));
  const { pay, maker } = await givenOrder(long);
  await pay(back);
  t.is(maker.requests[0]?.title, 'x'.repeat(99));
});

test('After a payment expired, the next call makes another one under another key', async (t) => {
  const { pay, maker, clock } = await givenOrder();
  const first = await pay();
  clock.advance(3_600_000);
  const second = await pay();
  t.is(maker.made.length, 2);
  t.not(first.url, second.url);
  t.deepEqual(await pay(), second);
});

test('A call whose outcome is unknown is repeated with the same key', async (t) => {
  const { pay, maker, made } = await givenOrder();
  maker.failNext(new PlatformError('outcome_unknown', 'connection_timeout'));
  await t.throwsAsync(pay(back), { instanceOf: CommandRejected, code: 'platform_unavailable' });
  t.deepEqual(await made(), []);
  await pay(back);
  t.is(new Set(pluck(maker.requests, 'idempotencyKey')).size, 1);
});

test('A refusal of the platform is a rejection that names its code', async (t) => {
  const { pay, maker } = await givenOrder();
  maker.failNext(new PlatformError('refused', 'amount_too_small'));
  await t.throwsAsync(pay(), { code: 'payment_refused', message: /\(amount_too_small\)/ });
});

test('While a payment that was made is under way, no other one is made, and the buyer reads which', async (t) => {
  const { world, context, clock, pay } = await givenOrder();
  const report = (kind: 'pending' | 'failed' | 'unpaid', minute: number) => {
    const at = new Date(clock.now().getTime() + minute * 60_000);
    const reports = [aReport({ kind }, { callback: `standard-${kind}${minute}`, at })];
    return world.handler.handle(
      { aggregate: orderAggregate, id: orderId },
      { type: 'Report', reports },
      context(),
    );
  };
  await report('unpaid', 0);
  await pay();
  await report('pending', 1);
  clock.advance(orderLifeMs + 7_200_000);
  await t.throwsAsync(pay(), { code: 'payment_pending', message: /the payment t1 is under way at standard/ });
  await report('failed', 2);
  await t.throwsAsync(pay(), { code: 'order_not_open' });
});

test('A buyer who is erased while the platform makes the payment has no such order', async (t) => {
  const { pay, maker, stores, made } = await givenOrder();
  const usual = { ...maker };
  Object.assign(maker, {
    makePayment: async (request: Parameters<typeof maker.makePayment>[0]) => {
      await stores.sealer.destroy({ kind: 'person', userId });
      return usual.makePayment(request);
    },
  });
  await t.throwsAsync(pay(), { instanceOf: CommandRejected, code: 'order_not_found' });
  t.deepEqual(await made(), []);
});

test('Only the buyer pays, and only an order that waits for its payment', async (t) => {
  const { world, context, clock, pay, maker } = await givenOrder();
  const of = (input: { readonly user_id: string; readonly order_id: string }) =>
    world.payOrder({ ...input, ...client }, context());
  const stranger = '019b7d00-0000-7000-8000-0000000000ff';
  await t.throwsAsync(of({ ...ours, user_id: stranger }), { code: 'order_not_found' });
  await t.throwsAsync(of({ ...ours, order_id: stranger }), { code: 'order_not_found' });
  await pay();
  clock.advance(orderLifeMs);
  await t.throwsAsync(pay(), { code: 'order_not_open' });
  await world.cancelOrder(ours, context());
  await t.throwsAsync(pay(), { code: 'order_not_open' });
  t.is(maker.requests.length, 1);
});

test('A buyer comes back only to pages of the service', async (t) => {
  const { pay, maker } = await givenOrder();
  for (const url of [
    'nowhere',
    'https://evil.example/thanks',
    'https://stowage.example.com.evil.example/',
    'https://stowage.example.com@evil.example/',
    'https://user:secret@stowage.example.com/',
    'http://stowage.example.com/',
    'https://stowage.example.com:8443/',
    'javascript:alert(1)',
    '//stowage.example.com/',
  ]) {
    await t.throwsAsync(pay(url), { code: 'invalid_request', message: /^return_url / }, url);
  }
  t.is(maker.requests.length, 0);
});

test('The platform gets the address to come back to in the form in which it was checked', async (t) => {
  for (const [given, sent] of [
    // Parsers of other rules would read the host evil.example.
    ['https://stowage.example.com\\@evil.example/', 'https://stowage.example.com/@evil.example/'],
    [' https://stowage.example.com/than\tks\n', 'https://stowage.example.com/thanks'],
    ['https://stowage.example.com/?s={CHECKOUT_SESSION_ID}', undefined],
  ] as const) {
    const { pay, maker } = await givenOrder();
    await pay(given);
    t.is(maker.requests[0]?.returnUrl, sent ?? given);
  }
});
