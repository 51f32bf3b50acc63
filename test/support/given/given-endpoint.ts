import type { ExecutionContext } from 'ava';
import { eventually } from '../eventually.js';
import { givenWebhooks, startWebhookReceiver, type WebhookReceiver } from './given-webhooks.js';

/** Gives a world of outgoing events with one endpoint. @param others the number of further endpoints, for all types */
export async function givenEndpoint(t: ExecutionContext, types = '*', others = 0) {
  const world = givenWebhooks(t);
  const receiver = await startWebhookReceiver(t);
  const further = await Promise.all(Array.from({ length: others }, () => startWebhookReceiver(t)));
  const endpoints = world.endpointsAt(
    [receiver.url, types],
    ...further.map(({ url }) => [url, '*'] as const),
  );
  const id = endpoints[0]?.id ?? '';
  const admin = world.admin(endpoints);
  const listed = async () => (await admin.list())[0];
  return {
    ...{ ...world, receiver, further, endpoints, id, admin, listed },
    /** Starts a process, and waits until its endpoints have a position in the log. */
    begin: async (parts: Parameters<typeof world.start>[1] = {}, begun = endpoints) => {
      const running = world.start(begun, parts);
      for (const endpoint of begun) {
        const record = () => world.records.endpoint(endpoint.id);
        await eventually(`record of ${endpoint.id}`, async () => (await record()) !== null);
      }
      return running;
    },
    waiting: (order: string) => world.records.waiting(id, `order-${order}`),
    pending: (count: number) =>
      eventually(`${count} pending deliveries`, async () => (await listed())?.pending === count),
    /** Waits until the endpoint has passed the whole log. */
    checkpointAtEnd: async () => {
      const head = await world.eventStore.head();
      await eventually(
        'checkpoint at the end',
        async () => (await world.records.endpoint(id))?.position === head,
      );
      return head;
    },
  };
}

/** Returns the types of the messages that a receiver accepted, in their order. @param order only its messages */
export function typesAt({ accepted }: WebhookReceiver, order?: string): readonly string[] {
  return accepted
    .filter(({ data }) => order === undefined || data['order_id'] === order)
    .map(({ type }) => type);
}
