import test from 'ava';
import { StreamDamaged } from '../../src/event-sourcing/ports/errors.js';
import { makeEvents } from '../contracts/event-store-fixtures.js';
import { eventually } from '../support/eventually.js';
import { keyEnvironment } from '../support/servers/service-process.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { givenInProcess } from '../support/servers/service-in-process.js';

test('The metrics of a service count a stream that its reader of the log, or a read, finds damaged', async (t) => {
  // Given a service with its log in EventStoreDB
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  const service = await givenInProcess(t, {
    environment: { ...keyEnvironment, EVENTSTOREDB_URL: server.url },
  });
  const { eventStore } = service.services;
  const count = async (): Promise<number> =>
    Number(/^stowage_damaged_streams (\d+)$/m.exec(await service.metrics())?.[1]);
  for (const stream of ['thing-1', 'thing-2']) await eventStore.append(stream, 'no-stream', makeEvents(2));
  t.is(await count(), 0);
  // When an operator deletes a stream, then the reader of the log finds it
  server.log.tombstone('stowage.thing-1');
  await eventually('the stream counts as damaged', async () => (await count()) >= 1);
  // and a read finds it without a second count
  await t.throwsAsync(eventStore.read('thing-1'), { instanceOf: StreamDamaged });
  t.is(await count(), 1);
  // When another one is truncated, then it counts too
  server.log.setMetadata('stowage.thing-2', { $maxCount: 1 });
  await t.throwsAsync(eventStore.read('thing-2'), { instanceOf: StreamDamaged });
  t.is(await count(), 2);
});
