import { removeSetApart } from '../../feeding/set-apart.js';
import type { ReadModelStore } from '../../ports/read-model-store.js';
import { dropCheckpoint } from '../../ports/records.js';

/** Drops a collection, its checkpoint, and the records of the streams that it has set apart. Idempotent. */
export async function dropGeneration(
  readModelStore: Pick<ReadModelStore, 'dropCollection' | 'get' | 'scan' | 'write'>,
  collection: string,
): Promise<void> {
  // First: without its documents it would claim that an empty collection is complete.
  await dropCheckpoint(readModelStore, collection);
  await readModelStore.dropCollection(collection);
  await removeSetApart(readModelStore, collection);
}
