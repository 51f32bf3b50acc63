import type { TestFn } from 'ava';

import type { MakeReadModelStore } from '../support/document-writes.js';
import { readModelQueriesContract } from './read-model-queries.js';
import { readModelRecordsContract } from './read-model-records.js';
import { readModelRoundTripContract } from './read-model-round-trip.js';
import { readModelWritesContract } from './read-model-writes.js';

/**
 * What every read-model store must do: the port's comments and DESIGN section 2, items 6 to 8, each sentence a test.
 * @param makeWithoutCollections for tests that put no record: may return a store that was used, once its collections are dropped
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
