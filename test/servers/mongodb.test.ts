/*
 * The contract suites, and what the adapter promises beyond them, on the server that MONGODB_URL names. Each test has a
 * database of its own, dropped at the end.
 *
 * CI gives it mongo-java-server 1.47 (Maven Central) on an H2 file, which speaks MongoDB's protocol and is not ours.
 * Against MongoDB it lacks: sessions, transactions, change streams and pipeline updates (we use none of them); replica
 * sets, so that `w: 'majority'` and read concern `majority` are accepted and mean nothing, and elections never happen;
 * the journal (SIGKILL loses its last second); deletion by TTL indexes (accepted, nothing expires); `hello` (it knows
 * `isMaster`); order of strings as UTF-8 bytes beyond the Basic Multilingual Plane (it sorts UTF-16 units); a count of 0
 * for a refused insert; an error code when an absent collection is dropped; authentication and TLS.
 */
import test from 'ava';

import { readModelStoreContract } from '../contracts/read-model-store.js';
import { stateStoreContract } from '../contracts/state-store.js';
import { mongoDbUrl, openTestStores } from '../support/mongodb-server.js';
import { settableClock } from '../support/settable-clock.js';

if (mongoDbUrl === undefined) {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip('MongoDB contract suites: set MONGODB_URL to run them against a server', () => undefined);
} else {
  readModelStoreContract(
    test,
    async (t) => (await openTestStores(t, { clock: settableClock() })).readModelStore,
  );
  stateStoreContract(test, async (t, clock) => (await openTestStores(t, { clock })).stateStore);
}
