/*
 * The contract suite on the server that EVENTSTOREDB_URL names (EventStoreDB 21.10 or newer). It adds a few thousand
 * small events under a prefix of its own and removes nothing, for nothing is ever removed from a log.
 */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { eventStoreContract } from '../contracts/event-store.js';
import { makeEvent } from '../contracts/event-store-fixtures.js';
import { openTestStore } from '../support/eventstoredb-server/open-test-store.js';

const url = process.env['EVENTSTOREDB_URL'] ?? '';

if (url === '') {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip('EventStoreDB contract suite: set EVENTSTOREDB_URL to run it against a server', () => undefined);
} else {
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
}
