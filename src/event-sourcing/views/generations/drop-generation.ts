import { removeSetApart } from '../../feeding/set-apart.js';
import type { ReadModelStore } from '../../ports/read-model-store.js';

/** Drops a collection and the records of the streams that it has set apart. Idempotent. */
export async function dropGeneration(
  readModelStore: Pick<ReadModelStore, 'dropCollection' | 'listRecords' | 'removeRecord'>,
  collection: string,
): Promise<void> {
  await readModelStore.dropCollection(collection);
  await removeSetApart(readModelStore, collection);
}
