import test from 'ava';
import { userAggregate } from '../../src/areas/accounts/domain/user/user.js';
import { makePaymentPlatforms } from '../support/clients/payment-platforms.js';
import { asObject, makeServiceClient, textOf } from '../support/clients/service-client.js';
import { appendEvents } from '../support/given/append-events.js';
import { callsOfRequests, givenServers } from '../support/servers/calls-of-requests.js';
import { openStores } from '../support/servers/embedded-directory.js';
import { startInProcess } from '../support/servers/service-in-process.js';
import { makeDataDirectory } from '../support/servers/service-process.js';

/** The calls to the event store of a request, one after the other, in a process that has served the same clients before. */
const callsMax: Readonly<Record<string, number>> = {
  'GET storage': 0,
  'list of assets': 0,
  'POST project': 2,
  'PATCH project': 2,
  'POST storage': 2,
  'POST asset': 2,
  refresh: 3,
  'a callback with its grant': 7,
  'a sign-in': 3,
};

test('A request asks the event store as often as it must, and reads no stream twice in vain', async (t) => {
  t.timeout(300_000);
  const servers = await givenServers();
  t.teardown(() => servers.stop());
  const counts = await callsOfRequests(servers);
  t.deepEqual(
    counts.map(({ what }) => what),
    Object.keys(callsMax),
  );
  for (const { what, calls, streams } of counts) t.log(what, calls, streams.join());
  for (const { what, calls, streams } of counts)
    // Now and then a task of the process reads a stream meanwhile.
    t.true(calls < (callsMax[what] ?? 0) + 0.5, `${what}: ${calls} calls, ${streams.join()}`);
});

test('A callback and its reactions read no event of a stream that their process knows, of any age', async (t) => {
  // Given a buyer with several hundred events
  const data = await makeDataDirectory();
  const stores = await openStores(data.path);
  const read: string[] = [];
  const eventStore: typeof stores.eventStore = {
    ...stores.eventStore,
    read: async (stream, options) => {
      const events = await stores.eventStore.read(stream, options);
      read.push(...events.map(({ type, revision }) => `${stream}@${revision}: ${type}`));
      return events;
    },
  };
  const secret = Buffer.from('calls'.padStart(24, '0')).toString('base64');
  const service = await startInProcess({
    directory: data.path,
    stores: { ...stores, eventStore, allEmbedded: true },
    environment: { PAYMENT_STANDARD_WEBHOOK_SECRETS: `whsec_${secret}` },
  });
  t.teardown(async () => {
    await service.close();
    await stores.close();
    await data.remove();
  });
  const client = makeServiceClient(service.url);
  const { headers } = await client.register('ada@example.org', 'Correct-Horse-9');
  const me = asObject((await client.get('/api/v1/auth/me', headers)).json()['data']);
  const target = { aggregate: userAggregate, id: textOf(me, 'id') };
  const revised = Array.from({ length: 300 }, (_, n) => ({
    type: 'CapacityGranted' as const,
    data: { source: 'operator' as const, bytes: n },
  }));
  await appendEvents(service.services.handler, target, revised, new Date());
  const plan = { plan_id: 'capacity-100g', provider: 'standard' };
  const order = (await client.post('/api/v1/orders', plan, headers)).json();
  const platform = (await makePaymentPlatforms('calls')).standard;
  const payment = {
    ...{ orderNumber: textOf(order, 'number'), transaction: 't1' },
    ...{ amount: Number(order['amount']), currency: textOf(order, 'currency') },
  };
  const { headers: signature, body } = platform.pay(payment, new Date());
  await service.followed();
  read.length = 0;
  // When
  const init = { method: 'POST', headers: { ...signature }, body };
  t.is((await client.send('/api/v1/payment/webhooks/standard', init)).status, 200);
  await service.followed();
  // Then the order is fulfilled, and nothing was folded twice
  const paid = (await client.get(`/api/v1/orders/${textOf(order, 'id')}`, headers)).json();
  t.deepEqual([paid['status'], read], ['fulfilled', []]);
});
