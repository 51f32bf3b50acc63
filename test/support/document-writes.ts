import type { ExecutionContext } from 'ava';

import type { JsonObject } from '../../src/event-sourcing/domain-event.js';
import type { DocumentWrite, ReadModelStore } from '../../src/event-sourcing/read-model-store.js';

/** A store without any collection; the maker closes it, and removes what it left behind, by the test's teardown. */
export type MakeReadModelStore = (t: ExecutionContext) => Promise<ReadModelStore>;

/** A fold of the whole stream that ended at the revision. */
export function wholeFold(id: string, revision: bigint, body: JsonObject | null): DocumentWrite {
  return { document: { id, revision, body }, foldedFrom: 'whole-stream' };
}

/** A fold of what followed the revision. */
export function incrementalFold(
  id: string,
  foldedFrom: bigint,
  revision: bigint,
  body: JsonObject | null,
): DocumentWrite {
  return { document: { id, revision, body }, foldedFrom };
}
