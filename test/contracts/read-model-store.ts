import type { TestFn } from 'ava';

import type { MakeReadModelStore } from '../support/clients/document-writes.js';
import { readModelQueriesContract } from './read-model-queries.js';
import { readModelRecordsContract } from './read-model-records.js';
import { readModelRoundTripContract } from './read-model-round-trip.js';
import { readModelWritesContract } from './read-model-writes.js';

/**
 * The contract of the ReadModelStore port (src/event-sourcing/views/README.md#documents-and-guards, src/event-sourcing/deciding/README.md#reading-your-own-writes,
 * src/event-sourcing/views/README.md#generations-and-rebuild).
 * @param makeWithoutCollections makes a store for tests that put no record. It may return a store that was used before,
 * after it has dropped the collections.
 */
export function readModelStoreContract(
  test: TestFn,
  makeStore: MakeReadModelStore,
  makeWithoutCollections = makeStore,
): void {
  readModelWritesContract(test, makeWithoutCollections);
  readModelQueriesContract(test, makeWithoutCollections);
  readModelRoundTripContract(test, makeStore);
  readModelRecordsContract(test, makeStore);
}
