import test, { type ExecutionContext } from 'ava';
import type { Clock } from '../../src/event-sourcing/clock.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import {
  type EventLog,
  makeEmbeddedEventStore,
  openEventLog,
} from '../../src/stores/embedded/event-store.js';
import { openReadModelStore } from '../../src/stores/embedded/read-model-store.js';
import { openStateStore } from '../../src/stores/embedded/state-store.js';
import { eventStoreContract } from '../contracts/event-store.js';
import { makeEvents, uniqueStream } from '../contracts/event-store-fixtures.js';
import { readModelStoreContract } from '../contracts/read-model-store.js';
import { stateStoreContract } from '../contracts/state-store.js';
import { realClock } from '../support/clock.js';
import { makeContext, makeDirectory } from '../support/embedded-directory.js';

eventStoreContract(test, async () => {
  const { directory, remove } = makeDirectory();
  const context = makeContext(directory);
  const storeOf = (log: EventLog, streamPrefix: string): EventStore =>
    makeEmbeddedEventStore({ ...context, log, streamPrefix });
  let log = await openEventLog(context);
  return {
    store: storeOf(log, 'stowage.'),
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
      remove();
    },
  };
});

readModelStoreContract(test, async (t) => {
  const store = await openReadModelStore(contextOf(t, realClock));
  t.teardown(() => store.close());
  return store;
});

stateStoreContract(test, async (t, clock) => {
  const store = await openStateStore(contextOf(t, clock));
  t.teardown(() => store.close());
  return store;
});

function contextOf(t: ExecutionContext, clock: Clock) {
  const { directory, remove } = makeDirectory();
  t.teardown(remove);
  return makeContext(directory, { clock });
}
