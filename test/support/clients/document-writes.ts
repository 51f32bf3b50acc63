import type { ExecutionContext } from 'ava';

import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import type { DocumentWrite, ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';

/** Makes a store without any collection. The test's teardown closes the store and removes its data. */
export type MakeReadModelStore = (t: ExecutionContext) => Promise<ReadModelStore>;

/** Makes a fold of the whole stream that ends at the revision. */
export function wholeFold(id: string, revision: bigint, body: JsonObject | null): DocumentWrite {
  return { document: { id, revision, body }, foldedFrom: 'whole-stream' };
}

/** Makes a fold of the events after the revision `foldedFrom`. */
export function incrementalFold(
  id: string,
  foldedFrom: bigint,
  revision: bigint,
  body: JsonObject | null,
): DocumentWrite {
  return { document: { id, revision, body }, foldedFrom };
}
