import test, { type ExecutionContext } from 'ava';
import { quarantinedEvents } from '../../src/event-sourcing/effects/take-back.js';
import { asObject, makeServiceClient, textOf } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { givenDirectory, keyEnvironment } from '../support/servers/service-process.js';
import type { ProposedEvent } from '../support/servers/eventstoredb-server/log.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { startInProcess } from '../support/servers/service-in-process.js';
import { payOrder, placeOrder, standardEnvironment } from '../support/clients/standard-platform.js';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { metadataOf } from '../support/examples/metadata.js';

const planBytes = 107_374_182_400;
const orderReactions = ['fulfil-orders'];

/** Starts a service on a server of events, and again after each stop. One buyer places and pays orders. */
async function given(t: ExecutionContext) {
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  const directory = givenDirectory(t);
  const environment = {
    ...keyEnvironment,
    EVENTSTOREDB_URL: server.url,
    ...standardEnvironment,
  };
  const start = () => startInProcess({ directory, environment });
  let service = await start();
  t.teardown(() => service.close());
  const { headers } = await makeServiceClient(service.url).register('ada@example.org', 'Correct-Horse-7');
  const get = async (path: string) => (await makeServiceClient(service.url).get(path, headers)).json();
  return {
    server,
    service: () => service,
    /** @param between runs while no process runs */
    restart: async (between = (): void => undefined) => {
      await service.close();
      between();
      service = await start();
    },
    place: () => placeOrder(makeServiceClient(service.url), headers),
    pay: async (order: JsonObject): Promise<void> => {
      const paid = await payOrder(makeServiceClient(service.url), order);
      t.is(paid.status, 200, paid.text);
    },
    status: async (order: JsonObject) => (await get(`/api/v1/orders/${textOf(order, 'id')}`))['status'],
    capacity: async () => Number(asObject((await get('/api/v1/auth/me'))['data'])['capacity_bytes']),
    /** Returns the reactions that have quarantined an event of the order. */
    quarantinedIn: async (order: JsonObject): Promise<readonly string[]> =>
      [...(await quarantinedEvents(service.services.readModelStore))]
        .filter(([, events]) => events.some(({ stream }) => stream === `order-${textOf(order, 'id')}`))
        .map(([reaction]) => reaction),
  };
}

/** An event that only a later version knows. */
function unknownEvent(id: string): ProposedEvent {
  return {
    ...{ id, type: 'OrderGilded', contentType: 'application/json', data: Buffer.from('{}') },
    metadata: Buffer.from(JSON.stringify(metadataOf(id))),
  };
}

test('A truncated order and one with an unknown event hold no other order back, and the first is fulfilled once after its repair', async (t) => {
  // Given two paid orders whose grants have failed
  const { server, service, restart, place, pay, status, capacity, quarantinedIn } = await given(t);
  const granted = await capacity();
  const [truncated, unknown] = [await place(), await place()];
  server.faults.decideBy(({ kind, stream }) =>
    kind === 'append' && stream?.startsWith('stowage.user-') === true
      ? { apply: 'never', answer: 'unavailable' }
      : undefined,
  );
  for (const order of [truncated, unknown]) {
    await pay(order);
    await eventually('the order is paid', async () => (await status(order)) === 'paid');
  }
  // When an operator truncates one stream, and a newer version writes to the other one
  const unknownId = '018f0000-0000-7000-8000-0000000000aa';
  server.log.append(`stowage.order-${textOf(unknown, 'id')}`, 'stream-exists', [unknownEvent(unknownId)]);
  server.log.setMetadata(`stowage.order-${textOf(truncated, 'id')}`, { $tb: 1 });
  for (const fulfilled of [1, 2]) {
    // Then after each start the service quarantines both and fulfils the next paid order
    await restart(() => server.faults.decideBy(null));
    const next = await place();
    await pay(next);
    await eventually('the order is fulfilled', async () => (await status(next)) === 'fulfilled');
    await eventually(
      'the capacity grows',
      async () => (await capacity()) === granted + fulfilled * planBytes,
    );
    for (const order of [truncated, unknown])
      await eventually(
        'the order is quarantined',
        async () => (await quarantinedIn(order)).toSorted().join() === orderReactions.join(),
      );
    t.true((await service().metrics()).includes('stowage_reaction_quarantined{reaction="fulfil-orders"} 2'));
    t.true((await service().metrics()).includes('stowage_reaction_stopped{reaction="fulfil-orders"} 0'));
  }
  // When the operator restores the stream, then the next start fulfils the order, once
  server.log.setMetadata(`stowage.order-${textOf(truncated, 'id')}`, {});
  await restart();
  await eventually('the order is fulfilled', async () => (await status(truncated)) === 'fulfilled');
  await eventually('the order is not quarantined', async () => (await quarantinedIn(truncated)).length === 0);
  t.is(await capacity(), granted + 3 * planBytes);
  t.deepEqual((await quarantinedIn(unknown)).toSorted(), orderReactions);
});
