import test, { type ExecutionContext } from 'ava';
import { StreamDamaged } from '../../src/event-sourcing/ports/errors.js';
import { eventually } from '../support/eventually.js';
import { everyEvent } from '../support/examples/every-event.js';
import { givenEndpoint } from '../support/given/given-endpoint.js';
import { dayMs, storableEvent } from '../support/given/given-webhooks.js';
import { anId } from '../support/given/given-webhooks.js';

const [damaged, whole] = [anId(1), anId(2)];

/** Starts an endpoint whose log has the events of two orders, and cannot read the stream of one until it is repaired. */
async function givenDamage(t: ExecutionContext) {
  const scene = await givenEndpoint(t);
  const { eventStore, receiver, listed } = scene;
  // The endpoint keeps the fold of a stream that it has sent a message of, and does not read it again.
  await scene.appendToOrder(damaged, 'OrderPlaced');
  const { reports } = await scene.begin();
  const read = eventStore.read.bind(eventStore);
  eventStore.read = (stream, options) => {
    if (stream !== `order-${damaged}`) return read(stream, options);
    return Promise.reject(new StreamDamaged(stream, `the stream ${stream} was deleted`));
  };
  const pending = storableEvent('PaymentPending', everyEvent.order.PaymentPending, scene.clock.now());
  await eventStore.append(`order-${damaged}`, 0n, [pending]);
  const waiting = () => scene.waiting(damaged);
  await eventually('waiting delivery', async () => (await waiting()) !== null);
  const repair = (): void => {
    eventStore.read = read;
  };
  return { world: scene, receiver, reports, listed, waiting, repair };
}

test('A damaged stream holds back only the messages of its resource, which come after a repair', async (t) => {
  // Given an endpoint with an event in a damaged stream
  const { world, receiver, reports, listed, waiting, repair } = await givenDamage(t);
  await eventually('first failure', async () => (await waiting())?.failures === 1);
  t.like((await waiting()) ?? {}, { next: 1, until: 1 });
  // When a retry fails too, and another order is placed
  world.advance(60_000);
  await eventually('second failure', async () => (await waiting())?.failures === 2);
  await world.appendToOrder(whole, 'OrderPlaced');
  // Then the endpoint goes on
  await receiver.acceptedCount(1);
  t.is(receiver.accepted[0]?.data['order_id'], whole);
  await eventually('failure in the list', async () => (await listed())?.last_failure === 'stream_damaged');
  // and after the repair it gets the rest
  repair();
  world.advance(60 * 60 * 1_000);
  await receiver.acceptedCount(2);
  t.is(receiver.accepted[1]?.type, 'order.payment_pending');
  t.false(reports.some((report) => report.startsWith('stopped')));
});

test('The service drops the messages of a stream that is damaged for three days', async (t) => {
  // Given an endpoint with an event in a damaged stream
  const { world, receiver, reports, listed, waiting } = await givenDamage(t);
  // When three days pass
  world.advance(3 * dayMs);
  // Then nothing waits, and the endpoint goes on
  await eventually('end of the wait', async () => (await waiting()) === null);
  await world.appendToOrder(whole, 'OrderPlaced');
  await receiver.acceptedCount(1);
  await world.pending(0);
  t.is((await listed())?.state, 'delivering');
  t.false(reports.some((report) => report.startsWith('stopped')));
});
