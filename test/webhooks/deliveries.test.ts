import test from 'ava';
import { Webhook } from 'standardwebhooks';
import { OutgoingError } from '../../src/outgoing/outgoing-http.js';
import { patientMs } from '../support/clients/patient-http.js';
import type { StateStore } from '../../src/event-sourcing/ports/state-store.js';
import { eventually } from '../support/eventually.js';
import { givenEndpoint, typesAt } from '../support/given/given-endpoint.js';
import { dayMs, shortAnswerMs, webhookSecret } from '../support/given/given-webhooks.js';
import { anId } from '../support/given/given-webhooks.js';

test('A receiver gets the events since it was added, signed, in order and once', async (t) => {
  // Given a log with an event, and a new endpoint
  const { receiver, clock, begin, appendToOrder } = await givenEndpoint(t, 'order.*');
  const [old, order] = [anId(1), anId(2)];
  await appendToOrder(old, 'OrderPlaced');
  await begin();
  // When two orders change
  await appendToOrder(order, 'OrderPlaced', 'PaymentPending', 'PaymentCaptured', 'OrderFulfilled');
  await appendToOrder(old, 'OrderExpired');
  await receiver.acceptedCount(5);
  // Then the receiver gets the later events of both
  t.deepEqual(typesAt(receiver, order), [
    'order.placed',
    'order.payment_pending',
    'order.payment_captured',
    'order.fulfilled',
  ]);
  t.deepEqual(typesAt(receiver, old), ['order.expired']);
  t.is(new Set(receiver.received.map(({ id }) => id)).size, 5);
  // and the package verifies each; the clock of this test is in the future
  const verifier = new Webhook(webhookSecret);
  for (const { id, body, headers } of receiver.received) {
    const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
    t.is(headers['webhook-signature'], verifier.sign(id, at, body));
    t.is(at.getTime(), clock.now().getTime());
    t.is(headers['content-type'], 'application/json');
  }
});

test('An endpoint gets only the types of its line', async (t) => {
  const { receiver, begin, appendToOrder } = await givenEndpoint(t, 'order.fulfilled');
  await begin();
  await appendToOrder(anId(1), 'OrderPlaced', 'PaymentPending', 'OrderFulfilled');
  await receiver.acceptedCount(1);
  t.deepEqual(
    receiver.received.map(({ type }) => type),
    ['order.fulfilled'],
  );
});

for (const answer of [500, 404, 302, 'hang', 'close'] as const) {
  test(`A delivery that ends with ${answer} is tried again until it succeeds, and later events wait for it`, async (t) => {
    // Given a receiver that fails for one order
    const { receiver, begin, listed, advance, appendToOrder } = await givenEndpoint(t);
    const [bad, good] = [anId(1), anId(2)];
    receiver.answerWith(({ data }) => (data['order_id'] === bad ? answer : 204));
    await begin(answer === 'hang' ? { timeMs: shortAnswerMs } : {});
    // When both orders change
    await appendToOrder(bad, 'OrderPlaced', 'PaymentPending');
    await appendToOrder(good, 'OrderPlaced', 'PaymentPending');
    // Then the other order is not held back. On a busy machine an answer may be late, so that another attempt follows.
    const come = (what: string, ms: number, isTrue: () => boolean | Promise<boolean>) =>
      eventually(what, () => {
        advance(ms);
        return isTrue();
      });
    const stepMs = answer === 'hang' ? 10 : 0;
    await come('messages of the other order', stepMs, () => receiver.accepted.length >= 2);
    t.true(receiver.accepted.every(({ data }) => data['order_id'] === good));
    await come('2 pending deliveries', stepMs, async () => (await listed())?.pending === 2);
    t.false(receiver.received.some(({ type, data }) => data['order_id'] === bad && type !== 'order.placed'));
    // and when the receiver works again, it gets the rest in order, with the ids of the first attempts
    receiver.answerWith(() => 204);
    const taken = () => [...new Set(typesAt(receiver, bad))];
    await come('the rest', 1_000, () => taken().length === 2);
    const ofBad = receiver.received.filter(({ data }) => data['order_id'] === bad);
    t.deepEqual(taken(), ['order.placed', 'order.payment_pending']);
    t.is(new Set(ofBad.filter(({ type }) => type === 'order.placed').map(({ id }) => id)).size, 1);
    await come('no pending delivery', 1_000, async () => (await listed())?.pending === 0);
  });
}

test('A delivery that was put off while the clock was a year ahead does not wait for a year', async (t) => {
  // Given a failed delivery, whose record says so
  const { receiver, begin, appendToOrder, advance, clock, id, records, waiting } = await givenEndpoint(t);
  const order = anId(1);
  receiver.answerWith(() => 500);
  await begin();
  await appendToOrder(order, 'OrderPlaced');
  await eventually('a failed attempt', async () => ((await waiting(order))?.failures ?? 0) > 0);
  const not_before = new Date(clock.now().getTime() + 365 * dayMs).toISOString();
  await records.changeWaiting(id, `order-${order}`, (found) => found && { ...found, not_before });
  // When the receiver works again
  receiver.answerWith(() => 204);
  // Then it gets the message
  await eventually('the message', () => {
    advance(1_000);
    return receiver.accepted.length === 1;
  });
  t.pass();
});

test('Receivers that hang or fail hold back no other endpoint and no other order for long', async (t) => {
  // Given an endpoint that hangs for most orders, and a healthy one
  const { receiver: hanging, further, begin, checkpointAtEnd, ...world } = await givenEndpoint(t, '*', 1);
  const accepted = () => further[0]?.accepted ?? [];
  const orders = Array.from({ length: 120 }, (_, index) => anId(index));
  const alive = new Set(orders.filter((_, index) => index % 40 === 39));
  hanging.answerWith(({ data }) => (alive.has(String(data['order_id'])) ? 204 : 'hang'));
  await begin({ timeMs: shortAnswerMs });
  // When many orders are placed
  for (const order of orders) await world.appendToOrder(order, 'OrderPlaced');
  // Then the healthy endpoint gets all of them
  await eventually('all orders at the healthy endpoint', () => {
    world.advance(10);
    // An answer that is late on a slow machine leads to a second message.
    return new Set(accepted().map(({ id }) => id)).size === orders.length;
  });
  // and the checkpoint of the other one passes all, while what hangs waits in the store
  await checkpointAtEnd();
  // and the live orders get through
  hanging.answerWith(() => 204);
  await eventually('all orders', () => {
    world.advance(60_000);
    return new Set(hanging.accepted.map(({ id: sent }) => sent)).size === orders.length;
  });
  t.pass();
});

test('A receiver that hangs gets messages of eight orders at once', async (t) => {
  const { receiver, begin, appendToOrder, advance } = await givenEndpoint(t);
  receiver.answerWith(() => 'hang');
  await begin({ timeMs: patientMs });
  for (let n = 0; n < 12; n += 1) await appendToOrder(anId(n), 'OrderPlaced');
  await eventually('eight messages that hang', () => {
    advance(10);
    return receiver.received.length >= 8;
  });
  t.is(new Set(receiver.received.map(({ data }) => data['order_id'])).size, receiver.received.length);
});

test('A delivery that fails for three days is given up, listed, reported once, and can be replayed', async (t) => {
  // Given a receiver that is down
  const { receiver, id, admin, listed, begin, pending, waiting, ...world } = await givenEndpoint(t);
  receiver.answerWith(() => 503);
  const { reports } = await begin();
  const order = anId(1);
  await world.appendToOrder(order, 'OrderPlaced', 'PaymentPending');
  await pending(2);
  t.is((await listed())?.pending_resources, 1, 'one record has both');
  // When almost three days pass, the service still tries
  for (let hours = 0; hours < 72; hours += 1) {
    await eventually(`attempt ${hours + 1}`, async () => (await waiting(order))?.failures === hours + 1);
    if (hours < 71) world.advance(60 * 60 * 1_000);
  }
  t.deepEqual(await admin.failed(id, 10), []);
  // and a later event comes in
  await world.appendToOrder(order, 'OrderExpired');
  world.advance(2 * 60 * 60 * 1_000);
  // Then the first two are given up, and the later one waits
  await eventually('failed deliveries', async () => (await admin.failed(id, 10)).length === 2);
  await pending(1);
  t.like(await listed(), { failed: 2, state: 'delivering', last_failure: 'status 503' });
  t.is(reports.filter((report) => report.startsWith('given up')).length, 2);
  t.like((await admin.failed(id, 10))[0], { type: 'order.placed', reason: 'status 503', revision: 0 });
  // and the receiver gets them by a replay, before the later one
  receiver.answerWith(() => 204);
  t.deepEqual(await admin.replay({ endpoint: id, from: null, resource: null, failed: true }), {
    replayed: 2,
    resources: 1,
  });
  await receiver.acceptedCount(3);
  t.deepEqual(typesAt(receiver), ['order.placed', 'order.payment_pending', 'order.expired']);
  await pending(0);
  t.is((await listed())?.failed, 0);
});

test('A delivery that is given up again after a replay of its resource is reported and listed again', async (t) => {
  // Given a delivery that was given up
  const { receiver, id, admin, begin, ...world } = await givenEndpoint(t);
  receiver.answerWith(() => 503);
  const { reports } = await begin();
  await world.appendToOrder(anId(1), 'OrderPlaced');
  const givenUp = (times: number) =>
    eventually(`given up ${times} times`, () => {
      world.advance(60 * 60 * 1_000);
      return reports.filter((report) => report.startsWith('given up')).length === times;
    });
  await givenUp(1);
  const [first] = await admin.failed(id, 10);
  // When a replay of its resource fails for three days too
  receiver.answerWith(() => 500);
  await admin.replay({ endpoint: id, from: null, resource: `order-${anId(1)}`, failed: false });
  await givenUp(2);
  // Then the list has the later attempt
  const [second, ...others] = await admin.failed(id, 10);
  t.deepEqual(others, []);
  t.like(second, { reason: 'status 500', revision: 0 });
  t.true((second?.given_up_at ?? '') > (first?.given_up_at ?? ''));
});

test('410 Gone stops the endpoint until the next start, which loses nothing', async (t) => {
  const { receiver: gone, further, id, listed, begin, appendToOrder } = await givenEndpoint(t, '*', 1);
  gone.answerWith(() => 410);
  const first = await begin();
  await appendToOrder(anId(1), 'OrderPlaced');
  await eventually('report', () => first.reports.includes(`gone ${id}`));
  await appendToOrder(anId(2), 'OrderPlaced');
  await further[0]?.acceptedCount(2);
  t.is(gone.received.length, 1, 'no attempt after 410');
  t.like(await listed(), { state: 'gone' });
  t.is(first.runner.statuses().find(({ endpointId }) => endpointId === id)?.state, 'gone');
  // When the next process starts
  await first.runner.stop();
  gone.answerWith(() => 204);
  await begin();
  // Then it sends all of it
  await gone.acceptedCount(2);
  await eventually('state', async () => (await listed())?.state === 'delivering');
});

test('An endpoint at a private address is refused by the guard of outgoing calls', async (t) => {
  const { receiver, listed, begin, appendToOrder } = await givenEndpoint(t);
  await begin({ http: () => Promise.reject(new OutgoingError('address_refused')) });
  await appendToOrder(anId(1), 'OrderPlaced');
  await eventually('refusal in the list', async () => (await listed())?.last_failure === 'address_refused');
  t.deepEqual(receiver.received, []);
});

test('An endpoint that no setting names for ten minutes is dropped, and begins at the end when it comes back', async (t) => {
  // Given an endpoint with a pending and a failed delivery
  const { receiver, id, begin, waiting, ...world } = await givenEndpoint(t);
  receiver.answerWith(() => 500);
  const first = await begin();
  await world.appendToOrder(anId(1), 'OrderPlaced');
  // The receiver has answered: an attempt that is cut off could still arrive later.
  await eventually('a failed attempt', async () => (await waiting(anId(1)))?.failures === 1);
  await first.runner.stop();
  // When a process starts without it, and ten minutes pass
  const second = await begin({}, world.endpointsAt([`${receiver.url}other`, '*']));
  t.not(await world.records.endpoint(id), null, 'it is kept for a moment');
  await eventually('report', () => {
    world.advance(60_000);
    return second.reports.includes(`dropped ${id}`);
  });
  // Then nothing of it is left
  t.is(await world.records.endpoint(id), null);
  t.is(await waiting(anId(1)), null);
  await second.runner.stop();
  // and it gets only what happens after it was set again
  receiver.answerWith(() => 204);
  await begin();
  await world.appendToOrder(anId(2), 'OrderPlaced');
  await receiver.acceptedCount(1);
  t.is(receiver.accepted[0]?.data['order_id'], anId(2));
});

test('A record of an unnamed endpoint that a newer release wrote ends no process, and other unnamed ones are dropped', async (t) => {
  // Given the record of an endpoint with a field that this release does not know, and another record
  const { receiver, id, begin, ...world } = await givenEndpoint(t);
  const first = await begin();
  await first.runner.stop();
  const known = await world.stateStore.get(`webhook/${id}`);
  if (known === null) return t.fail('the endpoint has no record');
  const newer = { ...(known.value as object), paused_at: null };
  await world.stateStore.compareAndSet('webhook/0-newer', null, newer);
  // When a process without both starts
  const second = await begin({}, world.endpointsAt([`${receiver.url}other`, '*']));
  // Then it goes on, and drops them after their time
  await eventually('reports', () => {
    world.advance(60_000);
    return ['0-newer', id].every((dropped) => second.reports.includes(`dropped ${dropped}`));
  });
  t.is(await world.records.endpoint(id), null);
});

test('A process whose clock is an hour ahead drops no endpoint that another process feeds', async (t) => {
  // Given a process that feeds an endpoint, with a pending delivery
  const { receiver, id, begin, waiting, ...world } = await givenEndpoint(t);
  receiver.answerWith(() => 500);
  await begin();
  await world.appendToOrder(anId(1), 'OrderPlaced');
  await eventually('a failed attempt', async () => (await waiting(anId(1)))?.failures === 1);
  // When a process without it looks for unused endpoints, with a clock that is ahead
  let looks = 0;
  const ahead = { ...world.clock, now: () => new Date(world.clock.now().getTime() + 3_600_000) };
  const list: StateStore['list'] = (prefix, options) => {
    if (prefix === 'webhook/') looks += 1;
    return world.stateStore.list(prefix, options);
  };
  const other = world.start(world.endpointsAt([`${receiver.url}other`, '*']), {
    clock: ahead,
    stateStore: { ...world.stateStore, list },
  });
  await eventually('three looks', () => looks >= 3);
  // Then the endpoint is kept
  t.false(other.reports.includes(`dropped ${id}`));
  t.not(await waiting(anId(1)), null);
});

test('A service that was off for four days still tries each event', async (t) => {
  const { receiver, listed, begin, waiting, advance, appendToOrder } = await givenEndpoint(t);
  const first = await begin();
  await first.runner.stop();
  await appendToOrder(anId(1), 'OrderPlaced');
  advance(4 * dayMs);
  receiver.answerWith(() => 500);
  await begin();
  await eventually('failed attempt', async () => (await waiting(anId(1)))?.failures === 1);
  receiver.answerWith(() => 204);
  advance(60 * 60 * 1_000);
  await receiver.acceptedCount(1);
  t.is((await listed())?.failed, 0);
});

test('Events that came while the endpoint was stopped for four days are tried for three, also behind one that waits', async (t) => {
  // Given an order whose first message waits, and a second event that comes after 410
  const { receiver, id, begin, advance, appendToOrder } = await givenEndpoint(t);
  receiver.answerWith(() => 410);
  const first = await begin();
  await appendToOrder(anId(1), 'OrderPlaced');
  await eventually('report', () => first.reports.includes(`gone ${id}`));
  await appendToOrder(anId(1), 'PaymentPending');
  // When the service starts four days later, and the receiver fails at first
  await first.runner.stop();
  advance(4 * dayMs);
  let failures = 0;
  receiver.answerWith(() => ((failures += 1) <= 4 ? 503 : 204));
  await begin();
  // Then the receiver gets the second message
  await eventually('the second message', () => {
    advance(60 * 1_000);
    return typesAt(receiver).includes('order.payment_pending');
  });
  t.is(typesAt(receiver).at(-1), 'order.payment_pending');
});
