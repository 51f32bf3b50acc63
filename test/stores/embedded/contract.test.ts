import test, { type ExecutionContext } from 'ava';
import type { Clock } from '../../../src/kit/time/clock.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import {
  type EventLog,
  makeEmbeddedEventStore,
  openEventLog,
} from '../../../src/stores/embedded/log/event-store.js';
import { eventStoreContract } from '../../contracts/event-store.js';
import { makeEvents, uniqueStream } from '../../contracts/event-store-fixtures.js';
import { readModelStoreContract } from '../../contracts/read-model-store.js';
import { stateStoreContract } from '../../contracts/state-store.js';
import { realClock } from '../../support/fakes/clock.js';
import {
  makeContext,
  makeDirectory,
  openReadModels,
  openState,
} from '../../support/servers/embedded-directory.js';

eventStoreContract(test, async () => {
  const { directory, remove } = makeDirectory();
  const context = makeContext(directory);
  const storeOf = (log: EventLog, streamPrefix: string): EventStore =>
    makeEmbeddedEventStore({ ...context, log, streamPrefix });
  let log = await openEventLog(context);
  return {
    store: storeOf(log, 'stowage.'),
    writesFurther: true,
    reopen: async () => {
      await log.close();
      log = await openEventLog(context);
      return storeOf(log, 'stowage.');
    },
    appendForeign: async () => {
      await storeOf(log, 'another.').append(uniqueStream('foreign'), 'no-stream', makeEvents(1));
    },
    close: async () => {
      await log.close();
      await context.thread.terminate();
      remove();
    },
  };
});

// Most tests share one file of each kind and empty it first, because starting a writer thread costs more than a test.
const { directory, remove } = makeDirectory();
let clockOfTest: Pick<Clock, 'now'> = realClock;
const clock = { ...realClock, now: () => clockOfTest.now() };
const opened = {
  readModels: openReadModels(directory),
  state: openState(directory, { clock }),
};
test.after.always(async () => {
  await (await opened.readModels).close();
  await (await opened.state).close();
  remove();
});

readModelStoreContract(test, openNewReadModels, async () => {
  const { readModelStore: store } = await opened.readModels;
  for (const name of await store.collections()) await store.dropCollection(name);
  return store;
});

async function openNewReadModels(t: ExecutionContext): Promise<ReadModelStore> {
  const own = makeDirectory();
  t.teardown(own.remove);
  const { readModelStore, close } = await openReadModels(own.directory);
  t.teardown(close);
  return readModelStore;
}

stateStoreContract(test, async (_, clockOfNext) => {
  const { stateStore: store } = await opened.state;
  clockOfTest = clockOfNext;
  const left = await store.list('', { limit: 1_000 });
  await Promise.all(left.map(({ key, version }) => store.compareAndSet(key, version, null)));
  return store;
});
