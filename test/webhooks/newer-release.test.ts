import test from 'ava';
import { UndecodableEvent } from '../../src/event-sourcing/ports/errors.js';
import { startWebhookReceiver } from '../support/fakes/webhook-receiver.js';
import { givenWebhooks, storableEvent, until } from '../support/given/given-webhooks.js';
import { anId } from '../support/given/webhook-ids.js';

test('The mark does not pass an event of a newer release, and the endpoint stops there', async (t) => {
  // Given an endpoint that has got an event
  const world = givenWebhooks(t);
  const receiver = await startWebhookReceiver(t);
  const endpoints = world.endpointsAt([receiver.url, 'order.*']);
  const id = endpoints[0]?.id ?? '';
  const { reports, runner } = world.start(endpoints);
  await until(async () => (await world.records.endpoint(id)) !== null, 'record');
  await world.appendToOrder(anId(1), 'OrderPlaced');
  await receiver.acceptedCount(1);
  const read = await world.eventStore.head();
  await until(async () => (await world.records.endpoint(id))?.position === read, 'mark');
  // When a newer release records a type that this one does not know
  const newer = storableEvent('OrderGiftWrapped', {}, world.clock.now());
  await world.eventStore.append(`order-${anId(1)}`, 0n, [newer]);
  await world.appendToOrder(anId(2), 'OrderPlaced');
  // Then the endpoint stops before it, and says why
  await until(() => reports.includes(`stopped ${id}`), 'report');
  t.is(runner.statuses()[0]?.state, 'stopped');
  const { state, position, problem } = (await world.records.endpoint(id)) ?? {};
  t.deepEqual({ state, position }, { state: 'stopped', position: read });
  t.regex(problem ?? '', /unknown type OrderGiftWrapped/);
  // and a replay of that stream is refused
  const replay = { endpoint: id, from: null, resource: `order-${anId(1)}`, failed: false };
  await t.throwsAsync(world.admin(endpoints).replay(replay), { instanceOf: UndecodableEvent });
  t.is(await world.records.waiting(id, `order-${anId(1)}`), null);
});
