import test, { type ExecutionContext } from 'ava';
import { rejectedBy } from '../../src/kit/rejected-by.js';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { dropAfterMs } from '../../src/webhooks/webhook-runner.js';
import { eventually } from '../support/eventually.js';
import { startWebhookReceiver } from '../support/fakes/webhook-receiver.js';
import { givenWebhooks } from '../support/given/given-webhooks.js';
import { anId } from '../support/given/webhook-ids.js';

test('An endpoint goes on at the end of a log that an older one has replaced, and reports it', async (t) => {
  const world = givenWebhooks(t);
  const receiver = await startWebhookReceiver(t);
  const endpoints = world.endpointsAt([receiver.url, '*']);
  const first = world.start(endpoints);
  await eventually('record', async () => (await world.records.endpoint(endpoints[0]?.id ?? '')) !== null);
  await world.appendToOrder(anId(1), 'OrderPlaced');
  await world.appendToOrder(anId(2), 'OrderPlaced');
  await receiver.acceptedCount(2);
  const end = await world.eventStore.head();
  await eventually(
    'mark at the end',
    async () => (await world.records.endpoint(endpoints[0]?.id ?? ''))?.position === end,
  );
  await first.runner.stop();
  // When a backup replaces the log
  world.eventStore.restore(1);
  const second = world.start(endpoints);
  await eventually('report', () => second.reports.includes(`other log ${endpoints[0]?.id ?? ''}`));
  const head = await world.eventStore.head();
  await eventually(
    'position',
    async () => (await world.records.endpoint(endpoints[0]?.id ?? ''))?.position === head,
  );
  await world.appendToOrder(anId(3), 'OrderPlaced');
  // Then later events are sent
  await receiver.acceptedCount(3);
  t.is(receiver.accepted[2]?.data['order_id'], anId(3));
});

test('What waited for another log holds back no event of the log that has replaced it', async (t) => {
  // Given an order whose second message waits
  const world = givenWebhooks(t);
  const receiver = await startWebhookReceiver(t);
  receiver.answerWith(({ type }) => (type === 'order.payment_pending' ? 500 : 204));
  const endpoints = world.endpointsAt([receiver.url, '*']);
  const id = endpoints[0]?.id ?? '';
  const first = world.start(endpoints);
  await eventually('record', async () => (await world.records.endpoint(id)) !== null);
  await world.appendToOrder(anId(1), 'OrderPlaced');
  await world.appendToOrder(anId(2), 'OrderPlaced', 'PaymentPending');
  const waiting = () => world.records.waiting(id, `order-${anId(2)}`);
  await eventually('waiting delivery', async () => (await waiting())?.next === 1);
  const end = await world.eventStore.head();
  await eventually('mark at the end', async () => (await world.records.endpoint(id))?.position === end);
  await first.runner.stop();
  // When a backup from before the order replaces the log
  world.eventStore.restore(1);
  const second = world.start(endpoints);
  await eventually('report', () => second.reports.includes(`other log ${id}`));
  const head = await world.eventStore.head();
  await eventually('position', async () => (await world.records.endpoint(id))?.position === head);
  // Then nothing waits
  t.is(await waiting(), null);
  // and the order of the same id is sent when it is placed again
  await world.appendToOrder(anId(2), 'OrderPlaced');
  await receiver.acceptedCount(3);
  t.like(receiver.accepted[2], { type: 'order.placed' });
});

/** Starts a process that sees another log until `back` is called, and whose wait ends when `endWait` is called. */
async function givenDoubt(t: ExecutionContext) {
  const world = givenWebhooks(t);
  const { clock, eventStore, records } = world;
  const receiver = await startWebhookReceiver(t);
  const endpoints = world.endpointsAt([receiver.url, '*']);
  const id = endpoints[0]?.id ?? '';
  const first = world.start(endpoints);
  await eventually('record', async () => (await records.endpoint(id)) !== null);
  await world.appendToOrder(anId(1), 'OrderPlaced');
  await receiver.acceptedCount(1);
  const end = await eventStore.head();
  await eventually('mark at the end', async () => (await records.endpoint(id))?.position === end);
  await eventually('delivery', async () => (await records.waiting(id, `order-${anId(1)}`)) === null);
  await first.runner.stop();
  await world.appendToOrder(anId(2), 'OrderPlaced');
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
  const { reports, runner } = world.start(endpoints);
  await eventually('wait', () => waits.length === 1);
  return {
    ...{ world, receiver, id, end, before, reports, runner },
    back: () => {
      eventStore.logId = logId;
    },
    endWait: () => waits.shift()?.(),
    waits,
  };
}

test('An endpoint keeps its mark when its log is back within a minute', async (t) => {
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

test('A process that ends within the minute leaves the mark as it was', async (t) => {
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
