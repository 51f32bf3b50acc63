import { join } from 'node:path';
import test from 'ava';
import {
  fillService,
  openReplay,
  readSettled,
  replayEnvironment,
  replayFrom,
} from '../support/audit/replays.js';
import { keyEnvironment } from '../support/servers/service-process.js';
import { givenDirectory } from '../support/servers/embedded-directory.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { givenInProcess } from '../support/servers/service-in-process.js';

test('A replay of a log in EventStoreDB has its events and the views of the service that runs', async (t) => {
  // Given a service whose log is in EventStoreDB, and whose documents are embedded
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  const directory = givenDirectory(t);
  const environment = { ...keyEnvironment, ...replayEnvironment, EVENTSTOREDB_URL: server.url };
  const service = await givenInProcess(t, { directory: join(directory, 'data'), environment });
  await fillService(service);
  const { events, documents } = await readSettled(service);
  // When its log is replayed beside it
  const folder = join(directory, 'replay');
  const made = await replayFrom(join(directory, 'data'), folder, { environment });
  // Then the replay has the events with their times, and the views
  const replay = await openReplay(folder);
  t.teardown(() => replay.close());
  t.deepEqual(made.source, { kind: 'log', log_id: await service.services.eventStore.logId() });
  t.deepEqual(
    (await replay.events()).map(({ position: _, ...event }) => event),
    events.map(({ position: _, ...event }) => event),
  );
  t.deepEqual(await replay.documents(), documents);
});
