import test, { type ExecutionContext } from 'ava';
import { StoreDamaged } from '../../../src/event-sourcing/ports/errors.js';
import { makeLogId } from '../../../src/stores/eventstoredb/same-log/log-id.js';
import { makeEvent, makeEvents, readLog } from '../../contracts/event-store-fixtures.js';
import { makeServiceClient } from '../../support/clients/service-client.js';
import { keyEnvironment } from '../../support/servers/service-process.js';
import {
  givenServer,
  openTestStore,
  startEventStoreDbServer,
  makeProposed,
} from '../../support/servers/eventstoredb-server/server.js';
import { startInProcess } from '../../support/servers/service-in-process.js';
import { givenDirectory } from '../../support/directories.js';

const metadata = JSON.stringify(makeEvent().metadata);

test.serial(
  'Processes that find an empty log agree on one stamp, and no reader sees its event',
  async (t) => {
    const { server, store } = await givenServer(t);
    const others = Array.from({ length: 4 }, () => openTestStore(server.url));
    t.teardown(() => Promise.all(others.map((other) => other.close())));
    const ids = await Promise.all([store, ...others].map((each) => each.logId()));
    t.is(new Set(ids).size, 1);
    const [stamp, ...more] = server.log.stream('test.log-identity') ?? [];
    t.deepEqual(more, []);
    t.is(stamp?.type, 'LogMarked');
    t.deepEqual(JSON.parse(String(Buffer.from(stamp?.data ?? []))), {
      log_id: ids[0],
      application: 'STOW',
      format: 1,
    });
    const [page] = await readLog(store, null);
    t.deepEqual(page?.events, []);
    t.is(page?.cursor, await store.head());
  },
);

test.serial('A log of other programs alone gets a stamp', async (t) => {
  const { server, store } = await givenServer(t);
  for (let index = 0; index < 1_200; index += 1) {
    server.log.append(`other-${index}`, 'no-stream', [makeProposed({ metadata })]);
  }
  await store.logId();
  t.is(server.log.stream('test.log-identity')?.length, 1);
});

test.serial('A log with events of this service and no stamp is refused, and gets none', async (t) => {
  const { server, store } = await givenServer(t);
  server.log.append('test.thing-1', 'no-stream', [makeProposed({ metadata })]);
  await t.throwsAsync(store.logId(), {
    instanceOf: StoreDamaged,
    message: /no stamp before them.*before release 1\.0\.0.*Set another STREAM_PREFIX/,
  });
  t.is(server.log.stream('test.log-identity'), null);
});

test.serial(
  'A process that looks for the stamp before another one writes it takes it, also when events follow',
  async (t) => {
    // Given a process whose first read found no stamp
    const { server, store } = await givenServer(t);
    const faster = openTestStore(server.url);
    t.teardown(() => faster.close());
    const logId = makeLogId(
      {
        ...store,
        readAll: async (page) => {
          // When another process stamps the log and appends before this one looks for events
          await faster.logId();
          await faster.append('thing-1', 'no-stream', makeEvents(1));
          return store.readAll(page);
        },
      },
      () => new Date(),
    );
    // Then both have the same log
    t.is(await logId(), await faster.logId());
  },
);

test.serial('The log of a program from before the first release is refused with a sentence', async (t) => {
  const { server, store } = await givenServer(t);
  server.log.append('test.log-identity', 'no-stream', [
    makeProposed({ type: 'LogIdentified', data: JSON.stringify({ log_id: 'its-id' }), metadata }),
  ]);
  await t.throwsAsync(store.logId(), {
    instanceOf: StoreDamaged,
    message: /one from before release 1\.0\.0/,
  });
});

test.serial(
  'A log of a newer format is refused, and the sentence says to run the newer version',
  async (t) => {
    const { server, store } = await givenServer(t);
    const data = JSON.stringify({ log_id: 'its-id', application: 'STOW', format: 2, more: 1 });
    server.log.append('test.log-identity', 'no-stream', [
      makeProposed({ type: 'LogMarked', data, metadata }),
    ]);
    await t.throwsAsync(store.logId(), {
      instanceOf: StoreDamaged,
      message: 'the log has format 2, this program knows up to 1. Run the newer version',
    });
  },
);

test.serial('The next caller finds a log id whose append was not acknowledged', async (t) => {
  const { server, store } = await givenServer(t);
  server.faults.next('append', { apply: 'now', answer: 'unavailable' });
  await t.throwsAsync(store.logId());
  const id = await store.logId();
  t.is(server.log.stream('test.log-identity')?.[0]?.id, id);
});

test.serial('Another event in the stream of the log id is damage', async (t) => {
  const { server, store } = await givenServer(t);
  server.log.append('test.log-identity', 'no-stream', [makeProposed({ metadata })]);
  await t.throwsAsync(store.logId(), { instanceOf: StoreDamaged, message: /STREAM_PREFIX/ });
});

async function givenService(t: ExecutionContext) {
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  const directory = givenDirectory(t);
  const environment = { ...keyEnvironment, EVENTSTOREDB_URL: server.url };
  return { server, start: () => startInProcess({ directory, environment }) };
}

test.serial(
  'The first start stamps the log before its first event, and the next start takes the stamp',
  async (t) => {
    const { server, start } = await givenService(t);
    const service = await start();
    await makeServiceClient(service.url).register('ada@example.org', 'Correct-Horse-9');
    const id = await service.services.eventStore.logId();
    await service.close();
    const [first, second] = server.log.records.filter(({ stream }) => stream.startsWith('stowage.'));
    t.is(first?.type, 'LogMarked');
    t.not(second, undefined);
    const again = await start();
    t.is(await again.services.eventStore.logId(), id);
    await again.close();
    t.is(server.log.stream('stowage.log-identity')?.length, 1);
  },
);

test.serial(
  'A start on a log with events and no stamp ends with a sentence, and appends nothing',
  async (t) => {
    const { server, start } = await givenService(t);
    server.log.append('stowage.node-1', 'no-stream', [makeProposed({ metadata })]);
    await t.throwsAsync(start, {
      instanceOf: StoreDamaged,
      message: /no stamp before them.*Set another STREAM_PREFIX/,
    });
    t.is(server.log.records.length, 1);
  },
);
