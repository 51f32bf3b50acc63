import { randomUUID } from 'node:crypto';
import test from 'ava';
import { eventStoreContract } from '../contracts/event-store.js';
import { openTestStore } from '../support/eventstoredb-server/open-test-store.js';
import { makeProposed } from '../support/eventstoredb-server/proposed.js';
import { startEventStoreDbServer } from '../support/eventstoredb-server/server.js';

// What is proved here is the contract, not the time limit: the whole suite runs at once, on a machine that may be busy.
const limits = { callMs: 30_000, shortLogMs: 0 };

// The port's contract over EventStoreDB's real wire, against the server of these tests.
eventStoreContract(test, async () => {
  const server = await startEventStoreDbServer();
  let store = openTestStore(server.url, { limits });
  return {
    store,
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
