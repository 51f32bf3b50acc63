import { randomUUID } from 'node:crypto';
import test from 'ava';
import { eventStoreContract } from '../../contracts/event-store.js';
import {
  openTestStore,
  makeProposed,
  startEventStoreDbServer,
} from '../../support/servers/eventstoredb-server/server.js';

// The suite tests the contract and not the time limit: it runs all at once, on a machine that may be busy.
const limits = { callMs: 600_000, shortLogMs: 0, pageBytes: 100_000 };

// The port's contract over the real protocol of EventStoreDB, against the test server.
eventStoreContract(test, async () => {
  const server = await startEventStoreDbServer();
  let store = openTestStore(server.url, { limits });
  return {
    ...{ store, pageBytes: limits.pageBytes },
    reopen: async () => {
      await store.close();
      store = openTestStore(server.url, { limits });
      return store;
    },
    appendForeign: () => {
      server.log.append(`foreign-${randomUUID()}`, 'no-stream', [makeProposed({})]);
      return Promise.resolve();
    },
    close: async () => {
      await store.close();
      await server.close();
    },
  };
});
