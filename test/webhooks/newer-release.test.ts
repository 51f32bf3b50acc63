import test, { type ExecutionContext } from 'ava';
import { eventually } from '../support/eventually.js';
import { everyEvent } from '../support/examples/every-event.js';
import { givenEndpoint } from '../support/given/given-endpoint.js';
import { dayMs, storableEvent } from '../support/given/given-webhooks.js';
import { anId } from '../support/given/given-webhooks.js';

const [newer, other] = [anId(1), anId(2)];
const stream = `order-${newer}`;

/** Given an endpoint whose release does not know the type of the second event of an order, until `upgrade`. */
async function givenNewerEvent(t: ExecutionContext, types: string) {
  const scene = await givenEndpoint(t, types);
  const { eventStore } = scene;
  const { reports, runner } = await scene.begin();
  await scene.appendToOrder(newer, 'OrderPlaced');
  const unknown = storableEvent('OrderGiftWrapped', everyEvent.order.PaymentPending, scene.clock.now());
  await eventStore.append(stream, 0n, [unknown]);
  const read = eventStore.read.bind(eventStore);
  const upgrade = (): void => {
    // The event stands for one whose type the next release knows.
    eventStore.read = async (...given) =>
      (await read(...given)).map((event) =>
        event.type === 'OrderGiftWrapped' ? { ...event, type: 'PaymentPending' } : event,
      );
  };
  return { ...scene, reports, runner, waiting: () => scene.waiting(newer), upgrade };
}

test('An event of a newer release holds back only the messages of its resource', async (t) => {
  // Given an endpoint that meets an event of a newer release
  const scene = await givenNewerEvent(t, 'order.*');
  const { receiver, runner, waiting, checkpointAtEnd, listed } = scene;
  await receiver.acceptedCount(1);
  await eventually('failed attempt', async () => (await waiting())?.failures === 1);
  t.like((await waiting()) ?? {}, { next: 1, until: 1 });
  // When the events of another order follow
  await scene.appendToOrder(other, 'OrderPlaced');
  // Then the endpoint goes on, its checkpoint passes the event, and the list has the reason
  await receiver.acceptedCount(2);
  t.is(receiver.accepted[1]?.data['order_id'], other);
  await checkpointAtEnd();
  t.is(runner.statuses()[0]?.state, 'delivering');
  t.is((await listed())?.last_failure, 'event_unreadable');
  // and a release that knows the event sends it
  scene.upgrade();
  scene.advance(60_000);
  await receiver.acceptedCount(3);
  t.is(receiver.accepted[2]?.type, 'order.payment_pending');
  t.false(scene.reports.some((report) => report.startsWith('stopped')));
});

test('The service gives an event of a newer release up after three days, and a later release replays it', async (t) => {
  const scene = await givenNewerEvent(t, 'order.*');
  const { receiver, admin, id, waiting } = scene;
  await eventually('waiting delivery', async () => (await waiting()) !== null);
  // When three days pass
  scene.advance(3 * dayMs);
  await eventually('end of the wait', async () => (await waiting()) === null);
  // Then the event is listed as given up
  const failed = await admin.failed(id, 10);
  t.deepEqual(
    failed.map(({ type, reason }) => ({ type, reason })),
    [{ type: 'OrderGiftWrapped', reason: 'event_unreadable' }],
  );
  // and a release that knows it sends it again
  scene.upgrade();
  const request = { endpoint: id, from: null, resource: null, failed: true };
  t.deepEqual(await admin.replay(request), { replayed: 1, resources: 1 });
  await receiver.acceptedCount(2);
  t.is(receiver.accepted[1]?.type, 'order.payment_pending');
});

test('An endpoint without types of the category passes an event of a newer release', async (t) => {
  const { checkpointAtEnd, waiting } = await givenNewerEvent(t, 'share.*');
  await checkpointAtEnd();
  t.is(await waiting(), null);
});
