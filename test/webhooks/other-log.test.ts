import test, { type ExecutionContext } from 'ava';
import { rejectedBy } from '../../src/kit/time/time-limit.js';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { makeDeliveryRecords } from '../../src/webhooks/delivery-records.js';
import { withEvent } from '../../src/webhooks/waiting.js';
import { dropAfterMs } from '../../src/webhooks/webhook-runner.js';
import { eventually } from '../support/eventually.js';
import { givenEndpoint } from '../support/given/given-endpoint.js';
import { anId, givenWebhooks } from '../support/given/given-webhooks.js';

test('An endpoint goes on at the end of a log that an older one has replaced, and reports it', async (t) => {
  const { receiver, id, begin, checkpointAtEnd, ...world } = await givenEndpoint(t);
  const first = await begin();
  await world.appendToOrder(anId(1), 'OrderPlaced');
  await world.appendToOrder(anId(2), 'OrderPlaced');
  await receiver.acceptedCount(2);
  await checkpointAtEnd();
  await first.runner.stop();
  // When a backup replaces the log
  world.eventStore.restore(1);
  const second = await begin();
  await eventually('report', () => second.reports.includes(`other log ${id}`));
  await checkpointAtEnd();
  await world.appendToOrder(anId(3), 'OrderPlaced');
  // Then later events are sent
  await receiver.acceptedCount(3);
  t.is(receiver.accepted[2]?.data['order_id'], anId(3));
});

test('What waited for another log holds back no event of the log that has replaced it', async (t) => {
  // Given an order whose second message waits
  const { receiver, id, begin, checkpointAtEnd, waiting, ...world } = await givenEndpoint(t);
  receiver.answerWith(({ type }) => (type === 'order.payment_pending' ? 500 : 204));
  const first = await begin();
  await world.appendToOrder(anId(1), 'OrderPlaced');
  await world.appendToOrder(anId(2), 'OrderPlaced', 'PaymentPending');
  await eventually('waiting delivery', async () => (await waiting(anId(2)))?.next === 1);
  await checkpointAtEnd();
  await first.runner.stop();
  // When a backup from before the order replaces the log
  world.eventStore.restore(1);
  const second = await begin();
  await eventually('report', () => second.reports.includes(`other log ${id}`));
  await checkpointAtEnd();
  // Then nothing waits
  t.is(await waiting(anId(2)), null);
  // and the order of the same id is sent when it is placed again
  await world.appendToOrder(anId(2), 'OrderPlaced');
  await receiver.acceptedCount(3);
  t.like(receiver.accepted[2], { type: 'order.placed' });
});

test('A record of the other log that an attempt changes meanwhile is dropped too', async (t) => {
  // Given a waiting stream, and an attempt that fails while the records are listed
  const { records, stateStore, clock } = givenWebhooks(t);
  const now = clock.now();
  const stream = `order-${anId(1)}`;
  await records.changeWaiting('one', stream, () => withEvent(null, { revision: 8n, recordedAt: now }, now));
  const meanwhile = makeDeliveryRecords({
    ...stateStore,
    list: async (prefix, options) => {
      const page = await stateStore.list(prefix, options);
      await records.changeWaiting('one', stream, (found) => found && { ...found, failures: 1 });
      return page;
    },
  });
  // When the endpoint moves to another log
  await meanwhile.dropWaiting('one');
  // Then the record holds back no event of that log
  t.is(await records.waiting('one', stream), null);
});

/** Starts a process that sees another log until `back` is called, and whose wait ends when `endWait` is called. */
async function givenDoubt(t: ExecutionContext) {
  const scene = await givenEndpoint(t);
  const { clock, eventStore, records, receiver, endpoints, id } = scene;
  const first = await scene.begin();
  await scene.appendToOrder(anId(1), 'OrderPlaced');
  await receiver.acceptedCount(1);
  const end = await scene.checkpointAtEnd();
  await eventually('delivery', async () => (await scene.waiting(anId(1))) === null);
  await first.runner.stop();
  await scene.appendToOrder(anId(2), 'OrderPlaced');
  const [sleep, logId] = [clock.sleep, eventStore.logId.bind(eventStore)];
  const waits: (() => void)[] = [];
  clock.sleep = (ms, signal) => {
    // The process looks for unused endpoints only after this wait.
    if (ms === dropAfterMs && signal !== undefined) return rejectedBy(signal);
    if (ms !== 60_000) return sleep(ms, signal);
    const ended = new Promise<void>((resolve) => waits.push(resolve));
    return signal === undefined ? ended : Promise.race([ended, rejectedBy(signal)]);
  };
  eventStore.logId = () => Promise.resolve('00000000-0000-4000-8000-000000000002');
  const before = await records.endpoint(id);
  const { reports, runner } = scene.start(endpoints);
  await eventually('wait', () => waits.length === 1);
  return {
    ...{ world: scene, receiver, id, end, before, reports, runner },
    back: () => {
      eventStore.logId = logId;
    },
    endWait: () => waits.shift()?.(),
    waits,
  };
}

test('An endpoint keeps its checkpoint when its log is back within a minute', async (t) => {
  // Given a process that waits, since the log is another one
  const { world, receiver, id, before, reports, back, endWait } = await givenDoubt(t);
  t.deepEqual(await world.records.endpoint(id), before);
  // When its log is back
  back();
  endWait();
  // Then the endpoint gets the event that it has not got
  await receiver.acceptedCount(2);
  t.is(receiver.accepted[1]?.data['order_id'], anId(2));
  t.false(reports.includes(`other log ${id}`));
});

test('A process that ends within the minute leaves the checkpoint as it was', async (t) => {
  const { world, id, before, runner } = await givenDoubt(t);
  await runner.stop();
  t.deepEqual(await world.records.endpoint(id), before);
});

test('A store that fails while the endpoint looks at another log again is asked later', async (t) => {
  // Given a process that waits, and a log that then fails
  const { world, id, end, reports, endWait, waits } = await givenDoubt(t);
  const otherId = await world.eventStore.logId();
  const head = world.eventStore.head.bind(world.eventStore);
  world.eventStore.head = () => Promise.reject(new StoreUnavailable('the log is away'));
  // When the minute is over
  endWait();
  // Then the endpoint tries again
  await eventually('second wait', () => reports.includes(`retry ${id}`) && waits.length === 1);
  t.is((await world.records.endpoint(id))?.position, end);
  // and it goes on at the end when the log works
  world.eventStore.head = head;
  endWait();
  await eventually('report', () => reports.includes(`other log ${id}`));
  const { log_id, position } = (await world.records.endpoint(id)) ?? {};
  t.deepEqual({ log_id, position }, { log_id: otherId, position: await head() });
});
