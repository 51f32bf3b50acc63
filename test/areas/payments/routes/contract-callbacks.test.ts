/* The sentences of the contract on payment callbacks: 1, 4.7, 4.8, 5 and 6. */
import test, { type ExecutionContext } from 'ava';
import { documentOf, startContract } from '../../../support/contract/scene.js';
import { names } from '../../../support/contract/sentences.js';
import { signed } from '../../../support/fakes/test-payment-provider.js';

const path = '/api/v1/payment/webhooks';
const fact = { kind: 'paid', amount: 999, currency: 'USD' } as const;

/** Places an order, and returns the ways to report that it was paid. */
async function givenOrder(t: ExecutionContext) {
  const scene = await startContract(t);
  const order = await scene.placeOrder('standard');
  const message = signed({ key: 'm1', told: [{ number: order.number, transaction: 't1', fact }] });
  const post = (body: Uint8Array, headers: Readonly<Record<string, string>>, provider = 'standard') =>
    scene.ask(`${path}/${provider}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
  return { ...scene, order, message, callback: post };
}

/** Returns a callback of epay that its order was paid, as a query. */
function byGet(number: string) {
  const told = [{ number, transaction: 't2', fact: { ...fact, amount: 6_900, currency: 'CNY' } }];
  const { body, headers } = signed({ key: 'm2', told });
  const query = new URLSearchParams({ m: body.toString() }).toString();
  return { at: `${path}/epay?${query}`, headers };
}

for (const [section, ...sentences] of [
  [
    '1',
    'Payment callbacks: receive notifications from payment platforms; after signature verification the order status is updated.',
  ],
  [
    '4.7',
    'POST /api/v1/payment/webhooks/{provider}',
    'Receives a payment-platform callback.',
    'After signature verification the order status is updated.',
    '200: received.',
  ],
  ['5', 'Payment callbacks are trusted only after signature verification.'],
] as const) {
  test(names(section, ...sentences), async (t) => {
    const { order, message, callback } = await givenOrder(t);
    t.is(await order.status(), 'created');
    // A message whose signature is wrong or missing changes nothing
    const altered = Buffer.concat([message.body, Buffer.from(' ')]);
    for (const forged of [await callback(altered, message.headers), await callback(message.body, {})]) {
      t.is(forged.status, 401);
      t.like(forged.json, { code: 'invalid_signature' });
    }
    t.is(await order.status(), 'created');
    // The signed one is received without a session, and updates the order
    t.is((await callback(message.body, message.headers)).status, 200);
    t.is(await order.status(), 'paid');
  });
}

test(names('4.7', 'Path: `provider` string, required.'), async (t) => {
  const { order, message, callback } = await givenOrder(t);
  for (const provider of ['square', 'STANDARD', '7', ''])
    t.is((await callback(message.body, message.headers, provider)).status, 404, provider);
  t.is(await order.status(), 'created');
  t.is((await callback(message.body, message.headers, 'standard')).status, 200);
  t.is(await order.status(), 'paid');
});

test(names('4.7', 'Body: JSON object with no declared fields.'), async (t) => {
  const { order, routes, callback } = await givenOrder(t);
  const { requestBody } = documentOf(routes, 'Payments').paths[`${path}/{provider}`]?.['post'] ?? {};
  const { content } = requestBody as { content: Record<string, { schema: object }> };
  const { schema } = content['application/json'] ?? {};
  t.like(schema, { type: 'object' });
  t.false('properties' in (schema ?? {}));
  // A field that the platform adds later is no reason to refuse the callback
  const told = [{ number: order.number, transaction: 't1', fact }];
  const more = signed({ ...{ added_later: [1, { x: null }] }, key: 'm2', told });
  t.is((await callback(more.body, more.headers)).status, 200);
  t.is(await order.status(), 'paid');
});

test(
  names(
    '4.8',
    'GET /api/v1/payment/webhooks/{provider}',
    'Callback confirmation for platforms that confirm with GET.',
    'Path: `provider` string, required.',
    'No body.',
    '200: received.',
  ),
  async (t) => {
    const { get, placeOrder } = await startContract(t);
    for (const provider of ['standard', 'epay', 'stripe'])
      t.is((await get(`${path}/${provider}`)).status, 200);
    for (const provider of ['square', '']) t.is((await get(`${path}/${provider}`)).status, 404, provider);
    // A platform that confirms with GET pays its order so, without a body
    const order = await placeOrder('epay');
    const { at, headers } = byGet(order.number);
    t.is((await get(at)).status, 401);
    t.is(await order.status(), 'created');
    t.is((await get(at, headers)).status, 200);
    t.is(await order.status(), 'paid');
  },
);

test(
  names(
    '6',
    'Inbound: payment platforms call the webhook endpoints (4.7, 4.8); a verified callback updates the order status.',
  ),
  async (t) => {
    const { order, message, callback, get, placeOrder } = await givenOrder(t);
    t.is((await callback(message.body, message.headers)).status, 200);
    t.is(await order.status(), 'paid');
    const other = await placeOrder('epay');
    const { at, headers } = byGet(other.number);
    t.is((await get(at, headers)).status, 200);
    t.is(await other.status(), 'paid');
  },
);
