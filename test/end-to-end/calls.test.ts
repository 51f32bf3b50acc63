import test from 'ava';
import { pluck } from '../support/given/pluck.js';
import { userAggregate } from '../../src/areas/accounts/domain/user/user.js';
import { dataOf, makeServiceClient, textOf } from '../support/clients/service-client.js';
import { appendEvents } from '../support/given/append-events.js';
import { callsOfRequests, givenServers } from '../support/servers/calls-of-requests.js';
import { givenDirectory, givenSharedStores } from '../support/servers/embedded-directory.js';
import { givenInProcess } from '../support/servers/service-in-process.js';
import { payOrder, placeOrder, standardEnvironment } from '../support/clients/standard-platform.js';

/** The calls to the event store of a request, one after the other, in a process that has served the same clients before. */
const callsMax: Readonly<Record<string, number>> = {
  'GET storage': 0,
  'list of assets': 0,
  'POST project': 2,
  'PATCH project': 2,
  'POST storage': 2,
  'POST asset': 2,
  refresh: 2,
  'a callback with its grant': 7,
  'a sign-in': 3,
};

test('A request asks the event store as often as it must, and reads no stream twice in vain', async (t) => {
  t.timeout(300_000);
  const servers = await givenServers();
  t.teardown(() => servers.stop());
  const counts = await callsOfRequests(servers);
  t.deepEqual(pluck(counts, 'what'), Object.keys(callsMax));
  for (const { what, calls, streams } of counts) t.log(what, calls, streams.join());
  for (const { what, calls, streams } of counts)
    // Now and then a task of the process reads a stream meanwhile.
    t.true(calls < (callsMax[what] ?? 0) + 0.5, `${what}: ${calls} calls, ${streams.join()}`);
});

test('A callback and its reactions read no event of a stream that their process knows, of any age', async (t) => {
  // Given a buyer with several hundred events
  const directory = givenDirectory(t);
  const stores = await givenSharedStores(t, directory);
  const read: string[] = [];
  const eventStore: typeof stores.eventStore = {
    ...stores.eventStore,
    read: async (stream, options) => {
      const events = await stores.eventStore.read(stream, options);
      read.push(...events.map(({ type, revision }) => `${stream}@${revision}: ${type}`));
      return events;
    },
  };
  const service = await givenInProcess(t, {
    directory,
    stores: { ...stores, eventStore },
    environment: standardEnvironment,
  });
  const client = makeServiceClient(service.url);
  const { headers } = await client.register('ada@example.org', 'Correct-Horse-9');
  const me = dataOf(await client.get('/api/v1/auth/me', headers));
  const target = { aggregate: userAggregate, id: textOf(me, 'id') };
  const revised = Array.from({ length: 300 }, (_, n) => ({
    type: 'CapacityGranted' as const,
    data: { source: 'operator' as const, bytes: n },
  }));
  await appendEvents(service.services.handler, target, revised, new Date());
  const order = await placeOrder(client, headers);
  await service.followed();
  read.length = 0;
  // When
  t.is((await payOrder(client, order)).status, 200);
  await service.followed();
  // Then the order is fulfilled, and nothing was folded twice
  const paid = (await client.get(`/api/v1/orders/${textOf(order, 'id')}`, headers)).json();
  t.deepEqual([paid['status'], read], ['fulfilled', []]);
});
