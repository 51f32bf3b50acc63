import type { ReadModelStore } from '../../ports/read-model-store.js';
import { dropCheckpoint, listRecords, type NamedRecord, removeRecord } from '../../ports/records.js';
import { type Generations, registryPrefix } from './generations.js';
import { collectionName, parseCollectionName, viewVersion } from '../projection.js';
import { removeQuarantine } from '../../feeding/quarantine.js';

/** The names of the removed collections and records. */
interface Pruned {
  readonly collections: readonly string[];
  readonly records: readonly string[];
}

/** What a prune would drop. */
interface Prunable {
  readonly collections: readonly string[];
  readonly records: readonly NamedRecord[];
}

/**
 * Drops the collections, checkpoints and registry records of view versions that this code does not define, and the
 * generations that the registry does not name. No process of another release may run: it would stop. After a crash the
 * next prune removes the rest. Requires started generations.
 * @throws StoreUnavailable
 */
export async function pruneViews(deps: PruneDeps): Promise<Pruned> {
  const { collections, records: foundRecords } = await findPrunable(deps);
  for (const collection of collections) await dropGeneration(deps.readModelStore, collection);
  // Records go last: after a crash in between, a release that returns finds its record and builds its views again.
  const records: string[] = [];
  for (const { name, version } of foundRecords) {
    if (await removeRecord(deps.readModelStore, name, version)) records.push(name);
  }
  return { collections, records };
}

interface PruneDeps {
  readonly generations: Generations;
  readonly readModelStore: ReadModelStore;
}

/** Returns what `pruneViews` drops, and changes nothing. @throws StoreUnavailable */
export async function findPrunable({ generations, readModelStore }: PruneDeps): Promise<Prunable> {
  // Read before the registry, which names a generation before its collection exists.
  const existing = await readModelStore.collections();
  await generations.refresh();
  const used = new Set(generations.projections.flatMap((projection) => namedCollections(projection)));
  const collections = existing.filter((name) => parseCollectionName(name) !== null && !used.has(name));
  const ownRecords = generations.projections.map((projection) => registryPrefix + viewVersion(projection));
  const records = (await listRecords(readModelStore, registryPrefix)).filter(
    ({ name }) => !ownRecords.includes(name),
  );
  return { collections, records };

  function namedCollections(projection: Generations['projections'][number]): readonly string[] {
    const { live, building, retiring, dropping } = generations.record(projection);
    const named = [building, retiring, dropping].flatMap((phase) => phase?.generation ?? []);
    return [live, ...named].map((generation) => collectionName(projection, generation));
  }
}

/** Drops a collection, its checkpoint, and the records of the streams that it has quarantined. Idempotent. */
export async function dropGeneration(
  readModelStore: Pick<ReadModelStore, 'dropCollection' | 'get' | 'scan' | 'write'>,
  collection: string,
): Promise<void> {
  // First: without its documents it would claim that an empty collection is complete.
  await dropCheckpoint(readModelStore, collection);
  await readModelStore.dropCollection(collection);
  await removeQuarantine(readModelStore, collection);
}
