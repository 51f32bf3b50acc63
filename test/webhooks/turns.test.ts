import test from 'ava';
import { answerMs } from '../../src/webhooks/attempt.js';
import { eventually } from '../support/eventually.js';
import { givenWebhooks } from '../support/given/given-webhooks.js';
import { anId } from '../support/given/webhook-ids.js';

test('A turn of retries ends after the time of one answer, and the next one takes the rest', async (t) => {
  // Given an order whose messages wait, since the receiver fails
  const world = givenWebhooks(t);
  const { eventStore, records } = world;
  const endpoints = world.endpointsAt(['https://shop.example.org/hook', '*']);
  const id = endpoints[0]?.id ?? '';
  const stream = `order-${anId(1)}`;
  let status = 500;
  world.start(endpoints, {
    http: () => {
      if (status === 204) world.advance(answerMs);
      return Promise.resolve({ status, headers: {}, body: Buffer.alloc(0) });
    },
  });
  await eventually('record', async () => (await records.endpoint(id)) !== null);
  await world.appendToOrder(anId(1), 'OrderPlaced', 'PaymentPending', 'PaymentCaptured');
  await eventually('waiting deliveries', async () => (await records.waiting(id, stream))?.until === 2);
  const read = eventStore.read.bind(eventStore);
  const turns: (bigint | undefined)[] = [];
  eventStore.read = (name, options) => {
    // The history of a message has another limit.
    if (options?.limit === 50) turns.push(options.from);
    return read(name, options);
  };
  // When the receiver answers slowly
  status = 204;
  world.advance(60_000);
  await eventually('end of the wait', async () => (await records.waiting(id, stream)) === null);
  // Then each message has a turn
  t.deepEqual(turns, [0n, 1n, 2n]);
});
