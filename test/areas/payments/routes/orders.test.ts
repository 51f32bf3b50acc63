import test, { type ExecutionContext } from 'ava';
import { startTestService } from '../../../support/servers/http-service.js';
import { makeTestPaymentProvider } from '../../../support/fakes/test-payment-provider.js';
import { pluck } from '../../../support/given/pluck.js';
import { givenOwnedProject } from '../../../support/given/project-over-http.js';

interface Order {
  readonly id: string;
  readonly number: string;
  readonly status: string;
}

test('Every caller can read the plans', async (t) => {
  const { get } = await startTestService(t);
  const answer = await get('/api/v1/plans');
  t.is(answer.status, 200);
  t.like(answer.json, {
    items: [
      { id: 'capacity-100g', prices: { USD: 999, CNY: 6_900 }, grants: { capacity_bytes: 107_374_182_400 } },
      { id: 'project-s3', prices: { USD: 1_900, CNY: 12_900 }, grants: { entitlement: 'allow_s3' } },
    ],
  });
});

test('The plans name exactly the platforms that take orders, and how a payment names its order there', async (t) => {
  const provider = makeTestPaymentProvider();
  const paymentProviders = new Map([
    ['paypal', provider],
    ['stripe', provider],
  ] as const);
  const { get, post, signUp } = await startTestService(t, { paymentProviders });
  const { platforms } = (await get('/api/v1/plans')).json as { platforms: { provider: string }[] };
  t.deepEqual(platforms as unknown, [
    {
      provider: 'stripe',
      ways: [{ kind: 'order_number', fields: ['client_reference_id', 'metadata.order_id'] }],
    },
    { provider: 'paypal', ways: [{ kind: 'order_number', fields: ['custom_id', 'invoice_id'] }] },
  ]);
  const buyer = await signUp('buyer');
  for (const name of ['stripe', 'paypal', 'standard', 'wechatpay', 'alipay', 'epay']) {
    const { status } = await post('/api/v1/orders', { plan_id: 'capacity-100g', provider: name }, buyer);
    const isListed = platforms.some((platform) => platform.provider === name);
    t.is(status, isListed ? 201 : 503, name);
  }
});

test('An order is placed, read by its buyer alone, listed and canceled', async (t) => {
  const { post, get, signUp } = await startTestService(t);
  const [buyer, stranger] = [await signUp('buyer'), await signUp('stranger')];
  const placed = await post('/api/v1/orders', { plan_id: 'capacity-100g', provider: 'stripe' }, buyer);
  t.is(placed.status, 201, placed.text);
  const order = placed.json as Order;
  t.like(order, { status: 'created', amount: 999, currency: 'USD', payments: [] });
  const path = `/api/v1/orders/${order.id}`;
  t.is(placed.headers.get('location'), path);
  const read = await get(path, buyer);
  t.deepEqual(read.json, order);
  t.is(read.headers.get('etag'), placed.headers.get('etag'));
  t.is((await get(path, stranger)).status, 404);
  t.deepEqual((await get('/api/v1/orders', stranger)).json, { items: [], next_cursor: null });
  const listed = Object.fromEntries(Object.entries(order).filter(([name]) => name !== 'payments'));
  t.deepEqual((await get('/api/v1/orders', buyer)).json, { items: [listed], next_cursor: null });
  t.is((await post(`${path}/cancel`, {}, stranger)).status, 404);
  const canceled = await post(`${path}/cancel`, {}, buyer);
  t.is(canceled.status, 200, canceled.text);
  t.is((canceled.json as Order).status, 'canceled');
  t.deepEqual((await get(path, buyer)).json, canceled.json);
  t.deepEqual((await post(`${path}/cancel`, {}, buyer)).json, canceled.json, 'a repetition changes nothing');
  t.is((await post('/api/v1/orders/019b7d00-0000-7000-8000-0000000000ff/cancel', {}, buyer)).status, 404);
});

test("An unavailable plan, platform or currency is 400 with the name of the field, and another user's project is 404", async (t) => {
  const { post, signUp, makeProject } = await startTestService(t);
  const [buyer, owner] = [await signUp('buyer'), await signUp('owner')];
  const projectId = await makeProject(owner);
  const refused: readonly [object, number, RegExp][] = [
    [{ plan_id: 'x' }, 400, /plan_id/],
    [{ plan_id: 'toString' }, 400, /plan_id/],
    [{ provider: 'square' }, 400, /provider/],
    [{ currency: 'JPY' }, 400, /currency/],
    // These platforms take no USD. A payment would have another amount in another currency.
    [{ provider: 'wechatpay', currency: 'USD' }, 400, /currency/],
    [{ provider: 'alipay', currency: 'USD' }, 400, /currency/],
    [{ provider: 'epay', currency: 'USD' }, 400, /currency/],
    [{ project_id: projectId }, 400, /project_id/],
    [{ plan_id: 'project-s3' }, 400, /project_id/],
    [{ plan_id: 'project-s3', project_id: projectId }, 404, /project/],
  ];
  for (const [changes, status, message] of refused) {
    const body = { plan_id: 'capacity-100g', provider: 'stripe', ...changes };
    const answer = await post('/api/v1/orders', body, buyer);
    t.is(answer.status, status, answer.text);
    t.regex(answer.text, message);
  }
});

test('An order for an unconfigured platform is 503, even when repeated, and writes nothing', async (t) => {
  const { post, get, signUp, stores } = await startTestService(t, {
    paymentProviders: new Map([['standard', makeTestPaymentProvider()]] as const),
  });
  const buyer = await signUp('buyer');
  const before = await stores.eventStore.head();
  const headers = { ...buyer, 'idempotency-key': 'k1' };
  const body = { plan_id: 'capacity-100g', provider: 'stripe' };
  for (const asked of [headers, headers, buyer]) {
    const answer = await post('/api/v1/orders', body, asked);
    t.is(answer.status, 503);
    t.like(answer.json, { code: 'provider_not_configured' });
  }
  t.is(await stores.eventStore.head(), before);
  t.deepEqual((await get('/api/v1/orders', buyer)).json, { items: [], next_cursor: null });
  const nothing = await post('/api/v1/orders', { ...body, plan_id: 'x' }, buyer);
  t.is(nothing.status, 400, 'the flaw of the request is reported first');
  t.is((await post('/api/v1/orders', { ...body, provider: 'standard' }, buyer)).status, 201);
});

/** Given the owner of a project, and the keys that they issue for it. */
async function givenOwner(t: ExecutionContext) {
  const world = await givenOwnedProject(t);
  await world.verify('owner');
  const keyFor = async (scope: string) => {
    const { key } = await world.make('api-keys', { name: scope, scopes: [scope] });
    return { 'x-api-key': String(key) };
  };
  return { ...world, keyFor };
}

test('The same Idempotency-Key places one order, and members and keys of a project list its orders', async (t) => {
  const { post, get, owner, at, project, keyFor } = await givenOwner(t);
  const body = { plan_id: 'project-s3', provider: 'alipay', project_id: project };
  const headers = { ...owner, 'idempotency-key': 'k1' };
  const first = await post('/api/v1/orders', body, headers);
  t.is(first.status, 201, first.text);
  t.like(first.json, { amount: 12_900, currency: 'CNY', project_id: project });
  t.deepEqual((await post('/api/v1/orders', body, headers)).json, first.json);
  for (const reader of [owner, await keyFor('order:read')]) {
    const { items } = (await get(`${at}/orders`, reader)).json as { items: Order[] };
    t.deepEqual(pluck(items, 'id'), [(first.json as Order).id]);
  }
});

test('Members and keys of a project read its orders by id, and no order of another project or person', async (t) => {
  // Given an order of a project, one of another project, and one of a person
  const { post, get, signUp, makeProject, owner, at, project, keyFor } = await givenOwner(t);
  const otherId = await makeProject(owner);
  const place = async (body: object): Promise<Order> => {
    const placed = await post('/api/v1/orders', { provider: 'stripe', ...body }, owner);
    t.is(placed.status, 201, placed.text);
    return placed.json as Order;
  };
  const order = await place({ plan_id: 'project-s3', project_id: project });
  const others = [
    await place({ plan_id: 'project-s3', project_id: otherId }),
    await place({ plan_id: 'capacity-100g' }),
  ];
  const key = await keyFor('order:read');
  for (const reader of [owner, key]) {
    // When a reader asks for the order, then it has what its buyer sees
    const answer = await get(`${at}/orders/${order.id}`, reader);
    t.is(answer.status, 200, answer.text);
    t.deepEqual(answer.json, (await get(`/api/v1/orders/${order.id}`, owner)).json);
    t.truthy(answer.headers.get('etag'));
    // and every other order is not found.
    for (const { id } of others) {
      t.is((await get(`${at}/orders/${id}`, reader)).status, 404);
    }
  }
  t.is((await get(`/api/v1/projects/${otherId}/orders/${others[0]?.id}`, key)).status, 404);
  const path = `${at}/orders/${order.id}`;
  t.is((await get(path, await keyFor('share:read'))).status, 403);
  t.is((await get(path, await signUp('stranger'))).status, 404);
});
