/*
 * Runs the contract suite on the server that EVENTSTOREDB_URL names (EventStoreDB 21.10 or newer). It adds a few
 * thousand small events under a separate prefix. It removes none, because a log never loses events.
 */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { eventStoreContract } from '../contracts/event-store.js';
import { makeEvent } from '../contracts/event-store-fixtures.js';
import { openTestStore } from '../support/servers/eventstoredb-server/server.js';
import { suiteWith } from '../support/suite.js';

const what = 'The EventStoreDB contract suite runs when EVENTSTOREDB_URL names a server';
suiteWith(test, process.env['EVENTSTOREDB_URL'] || undefined, what, (url) => {
  const run = randomUUID();
  const options = { policy: { allowInsecureNetwork: true }, limits: { callMs: 30_000, shortLogMs: 0 } };
  eventStoreContract(test, () => {
    const streamPrefix = `test.${run}.`;
    let store = openTestStore(url, { streamPrefix, ...options });
    const foreign = openTestStore(url, { streamPrefix: 'foreign-', ...options });
    return Promise.resolve({
      store,
      reopen: async () => {
        await store.close();
        store = openTestStore(url, { streamPrefix, ...options });
        return store;
      },
      appendForeign: async () => {
        await foreign.append(randomUUID(), 'no-stream', [makeEvent()]);
      },
      close: async () => {
        await Promise.all([store.close(), foreign.close()]);
      },
    });
  });
});
