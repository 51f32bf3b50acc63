/*
 * Runs the contract suites on the server that MONGODB_URL names. Each test has a separate database, which it drops at
 * its end.
 *
 * In CI that server is mongo-java-server 1.47 (Maven Central) on an H2 file, which speaks MongoDB's protocol and was
 * not written for this project. Compared with MongoDB it lacks:
 * - sessions, transactions, change streams and pipeline updates, which the adapter does not use;
 * - replica sets: it accepts `w: 'majority'` and read concern `majority` without effect, and never holds elections;
 * - the journal: SIGKILL loses its last second;
 * - deletion by TTL indexes: it accepts the index and deletes nothing;
 * - `hello`: it knows `isMaster`;
 * - the order of strings as UTF-8 bytes beyond the Basic Multilingual Plane: it sorts UTF-16 units;
 * - a count of 0 for a refused insert, and an error code for dropping an absent collection;
 * - authentication and TLS.
 */
import test from 'ava';
import { readModelStoreContract } from '../contracts/read-model-store.js';
import { stateStoreContract } from '../contracts/state-store.js';
import { mongoDbSuite, openTestStores } from '../support/servers/store-servers.js';
import { settableClock } from '../support/fakes/settable-clock.js';

mongoDbSuite(test, 'The MongoDB contract suites', () => {
  readModelStoreContract(
    test,
    async (t) => (await openTestStores(t, { clock: settableClock() })).readModelStore,
  );
  stateStoreContract(test, async (t, clock) => (await openTestStores(t, { clock })).stateStore);
});
