import { makeKeyedMutex } from '../../kit/keyed-mutex.js';
import { Overloaded } from '../../kit/overloaded.js';
import type { IdQuery, ReadModelStore, StoredDocument } from '../ports/read-model-store.js';
import type { Generations } from './generations/generations.js';
import { nextWrite } from './pending-totals.js';
import type { AnyProjection, AnyTally } from './projection.js';
import { type PendingEntry, type Total, totalOf } from './total.js';

/** The live generation of one tally. @throws StoreUnavailable */
export interface Totals {
  /** Returns the totals that exist, by id. */
  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, Total>>;
  /** Returns the ids of a view that the query selects, in order, and the totals that exist under them. */
  getSelected(
    by: AnyProjection,
    query: IdQuery,
  ): Promise<{ readonly ids: readonly string[]; readonly totals: ReadonlyMap<string, Total> }>;
  /**
   * Changes the announced entries of a total by compare-and-set, in every generation that is fed.
   * @param change returns the new entries; null to leave them. It may run several times.
   * @throws Overloaded, also for a total whose follower is far behind; StoreUnavailable: the change may have happened
   */
  announce(
    id: string,
    change: (pending: readonly PendingEntry[]) => readonly PendingEntry[] | null,
  ): Promise<void>;
}

/** Only other processes and the follower race for a total. */
const tries = 50;
/** Commands that may wait in this process for one total, and entries that a total may have. */
const waitingMax = 1_000;

export function makeTotals(
  {
    generations,
    readModelStore,
  }: { readonly generations: Generations; readonly readModelStore: ReadModelStore },
  tally: AnyTally,
): Totals {
  const queued = makeKeyedMutex({ waitingMax });
  return {
    getMany,
    getSelected: async (by, query) => {
      const from = generations.liveCollection(by);
      if (readModelStore.getSelected !== undefined) {
        const collection = generations.liveCollection(tally);
        const { ids, documents } = await readModelStore.getSelected(collection, { from, ...query });
        return { ids, totals: totalsIn(documents) };
      }
      const ids = await readModelStore.ids(from, query);
      return { ids, totals: await getMany(ids) };
    },
    announce: (id, change) =>
      queued(id, async () => {
        await Promise.all(
          generations.fedCollections(tally).map((collection) => announceIn(collection, id, change)),
        );
      }),
  };

  async function announceIn(
    collection: string,
    id: string,
    change: Parameters<Totals['announce']>[1],
  ): Promise<void> {
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const stored = await readModelStore.get(collection, id);
      const total = totalOf(stored);
      const pending = change(total.pending);
      if (pending === null) return;
      if (pending.length > waitingMax) {
        throw new Overloaded(
          `more than ${waitingMax} changes of a total of ${collection} wait to be counted`,
        );
      }
      const [outcome] = await readModelStore.write(collection, [
        nextWrite(id, stored, { ...total, pending }),
      ]);
      if (outcome === 'applied') return;
    }
    throw new Overloaded(`a total of ${collection} was lost to others ${tries} times`);
  }

  async function getMany(ids: readonly string[]): Promise<ReadonlyMap<string, Total>> {
    if (ids.length === 0) return new Map();
    return totalsIn(await readModelStore.getMany(generations.liveCollection(tally), ids));
  }
}

function totalsIn(stored: readonly StoredDocument[]): ReadonlyMap<string, Total> {
  return new Map(stored.map((document) => [document.id, totalOf(document)]));
}
