import test from 'ava';
import { eventually } from '../support/eventually.js';
import { outcomeOf } from '../support/given/outcome-of.js';
import { givenEndpoint, typesAt } from '../support/given/given-endpoint.js';
import { dayMs, givenWebhooks, webhookSecret } from '../support/given/given-webhooks.js';
import { anId } from '../support/given/given-webhooks.js';

const nothing = { from: null, resource: null, failed: false };

test('A replay sends events again, in order, with the ids that they had', async (t) => {
  // Given an endpoint that got the events of two orders on two days
  const { receiver, id, admin, begin, pending, ...world } = await givenEndpoint(t, 'order.*');
  const [one, two] = [anId(1), anId(2)];
  await world.appendToOrder(one, 'OrderPlaced');
  await begin();
  await world.appendToOrder(two, 'OrderPlaced');
  await receiver.acceptedCount(1);
  world.advance(dayMs);
  const since = world.clock.now();
  await world.appendToOrder(one, 'PaymentPending', 'OrderExpired');
  await world.appendToOrder(two, 'PaymentPending');
  await receiver.acceptedCount(4);
  const before = [...receiver.accepted];
  const idsOf = (type: string, order: string) =>
    receiver.accepted
      .filter((got) => got.type === type && got.data['order_id'] === order)
      .map((got) => got.id);

  // When an operator replays by time
  t.deepEqual(await admin.replay({ ...nothing, endpoint: id, from: since }), { replayed: 3, resources: 2 });
  // Then the events of that time come again
  await receiver.acceptedCount(7);
  t.deepEqual(
    receiver.accepted
      .slice(4)
      .map((got) => got.id)
      .sort(),
    before
      .slice(1)
      .map((got) => got.id)
      .sort(),
  );
  t.is(new Set(idsOf('order.expired', one)).size, 1);

  // When an operator replays a resource
  t.deepEqual(await admin.replay({ ...nothing, endpoint: id, resource: `order-${one}` }), {
    replayed: 3,
    resources: 1,
  });
  // Then all its events come, also the one before the endpoint was added
  await receiver.acceptedCount(10);
  t.deepEqual(typesAt(receiver).slice(7), ['order.placed', 'order.payment_pending', 'order.expired']);
  await pending(0);
});

test('A replay of a resource that waits joins what waits', async (t) => {
  const { receiver, id, admin, listed, begin, ...world } = await givenEndpoint(t, 'order.*');
  await begin();
  await world.appendToOrder(anId(1), 'OrderPlaced');
  await receiver.acceptedCount(1);
  receiver.answerWith(() => 500);
  await world.appendToOrder(anId(1), 'PaymentPending');
  await eventually('failure', async () => (await listed())?.last_failure === 'status 500');
  t.deepEqual(await admin.replay({ ...nothing, endpoint: id, resource: `order-${anId(1)}` }), {
    replayed: 2,
    resources: 1,
  });
  t.is((await listed())?.pending, 2);
  receiver.answerWith(() => 204);
  await eventually('the rest', () => {
    world.advance(60 * 60 * 1_000);
    return receiver.accepted.length >= 3;
  });
  t.deepEqual(typesAt(receiver), ['order.placed', 'order.placed', 'order.payment_pending']);
});

test('A replay of failed deliveries sends the messages between two of one resource again, and counts them', async (t) => {
  // Given a resource with a delivered message between two that were given up
  const { receiver, id, admin, listed, begin, pending, ...world } = await givenEndpoint(t, 'order.*');
  await begin();
  const append = async (status: number, type: 'OrderPlaced' | 'PaymentPending' | 'OrderExpired') => {
    receiver.answerWith(() => status);
    await world.appendToOrder(anId(1), type);
  };
  const givenUp = (count: number) =>
    eventually(`${count} given up`, async () => {
      world.advance(3 * 60 * 60 * 1_000);
      return (await listed())?.failed === count;
    });
  await append(500, 'OrderPlaced');
  await givenUp(1);
  await append(204, 'PaymentPending');
  await receiver.acceptedCount(1);
  await append(500, 'OrderExpired');
  await givenUp(2);
  // When an operator replays those that were given up, then the message between them comes again too
  receiver.answerWith(() => 204);
  t.deepEqual(await admin.replay({ ...nothing, endpoint: id, failed: true }), { replayed: 3, resources: 1 });
  await receiver.acceptedCount(4);
  t.deepEqual(typesAt(receiver).slice(1), ['order.placed', 'order.payment_pending', 'order.expired']);
  await pending(0);
  t.is((await listed())?.failed, 0);
});

test('A replay without a choice, of another endpoint or of another stream is refused', async (t) => {
  const world = givenWebhooks(t);
  const endpoints = world.endpointsAt(['https://shop.example.org/hook', '*']);
  const admin = world.admin(endpoints);
  const id = endpoints[0]?.id ?? '';
  const refused = async (request: Partial<Parameters<typeof admin.replay>[0]>) =>
    outcomeOf(admin.replay({ ...nothing, endpoint: id, ...request }));
  t.is(await refused({}), 'invalid_request');
  t.is(await refused({ endpoint: '0123456789ab', failed: true }), 'not_found');
  t.is(await refused({ resource: `user-${anId(1)}` }), 'invalid_request');
  t.is(await refused({ resource: `order-${anId(1)}` }), 'not_found');
});

test('The list shows no secret, no path and no query', async (t) => {
  const world = givenWebhooks(t);
  const endpoints = world.endpointsAt(['https://shop.example.org/canary-path?token=canary-query', '*']);
  const text = JSON.stringify(await world.admin(endpoints).list());
  t.notRegex(text, /canary|whsec/);
  t.false(text.includes(webhookSecret.slice(6)));
  t.like((await world.admin(endpoints).list())[0], { origin: 'https://shop.example.org', state: 'new' });
});
