import type { ExecutionContext } from 'ava';
import { eventually } from '../eventually.js';
import { makeSeededRandom } from '../fakes/clock.js';
import { givenEndpoint } from '../given/given-endpoint.js';
import { anId, type WebhookReceiver } from '../given/given-webhooks.js';

const orderEvents = ['OrderPlaced', 'PaymentPending', 'PaymentCaptured', 'OrderFulfilled'] as const;

/** Returns the messages in the order in which a receiver that drops repeated ids takes them. */
export function taken({ accepted }: WebhookReceiver, order: string): readonly string[] {
  const ids = new Set<string>();
  return accepted
    .filter(({ data }) => data['order_id'] === order)
    .filter(({ id }) => !ids.has(id) && ids.add(id).has(id))
    .map(({ type }) => type);
}

/** Feeds an endpoint whose receiver fails at random from two processes, which end and begin while orders change. */
export async function feedTwice(t: ExecutionContext, seed: number): Promise<void> {
  // Given two processes that each believe to feed the endpoint alone, and a receiver that fails at random
  const { receiver, endpoints, begin, checkpointAtEnd, ...world } = await givenEndpoint(t, 'order.*');
  const random = makeSeededRandom(seed);
  receiver.answerWith(() => (random() < 0.4 ? 500 : 204));
  const processes = [world.start(endpoints), await begin()];
  const orders = Array.from({ length: 12 }, (_, index) => anId(index));
  // When orders change while processes end and begin
  for (const [index, type] of orderEvents.entries()) {
    for (const order of orders) {
      await world.appendToOrder(order, type);
      if (random() < 0.1) {
        await processes.shift()?.runner.stop();
        processes.push(world.start(endpoints));
      }
      if (random() < 0.3) world.advance(20_000);
    }
    await receiver.receivedCount(index * 5);
  }
  await eventually('all messages', () => {
    world.advance(60_000);
    return orders.every((order) => taken(receiver, order).length === orderEvents.length);
  });
  // Then each order is complete and in order, for a receiver that drops repeated ids
  for (const order of orders) {
    t.deepEqual(taken(receiver, order), [
      'order.placed',
      'order.payment_pending',
      'order.payment_captured',
      'order.fulfilled',
    ]);
  }
  await checkpointAtEnd();
}
