import { makeSizedLru } from '../../kit/lru.js';
import type { Position } from '../ports/domain-event.js';
import type { IdQuery, ReadModelStore, StoredDocument } from '../ports/read-model-store.js';
import type { Generations } from './generations/generations.js';
import { type Projection, type Tally, type TotalChange, totalOf } from './projection.js';

/**
 * The live generation of one tally, with the changes that this process appended and the projector has not counted yet: a
 * client reads what it wrote. @throws StoreUnavailable
 */
export type Totals = ReturnType<typeof makeTotals>;

interface AppendedChange extends TotalChange {
  /** See `changeName`. */
  readonly name: string;
  /** The position of the last event of the append, which may follow the event of the change. */
  readonly position: Position;
}

/** Totals of which a process knows changes, and changes of one of them: the projector has counted older ones. */
const ownTotals = { entriesMax: 10_000, bytesMax: 16 * 1024 * 1024 };
const ownChangesMax = 1_000;
const changeBytes = 400;

export function makeTotals(
  {
    generations,
    readModelStore,
  }: { readonly generations: Generations; readonly readModelStore: ReadModelStore },
  tally: Tally,
) {
  const own = makeSizedLru<Map<string, AppendedChange>>({
    ...ownTotals,
    bytesOf: ({ size }) => changeBytes * size,
  });
  return {
    /** Returns the totals that are known, by id, in whole bytes. */
    getMany,
    /** Returns the ids of a view that the query selects, in order, and the sum of their totals. */
    sumSelected: async (
      by: Projection,
      query: IdQuery,
    ): Promise<{ readonly ids: readonly string[]; readonly sum: bigint }> => {
      const from = generations.liveCollection(by);
      if (readModelStore.getSelected !== undefined) {
        const collection = generations.liveCollection(tally);
        const { ids, documents } = await readModelStore.getSelected(collection, { from, ...query });
        return { ids, sum: sumOf(ids, documents) };
      }
      const ids = await readModelStore.ids(from, query);
      return { ids, sum: sumOf(ids, await read(ids)) };
    },
    /** Notes a change that this process appended. */
    appended: (change: AppendedChange) => {
      const changes = own.get(change.total) ?? new Map<string, AppendedChange>();
      changes.set(change.name, change);
      const [oldest] = changes.keys();
      if (changes.size > ownChangesMax && oldest !== undefined) changes.delete(oldest);
      // The cache measures a value that it has not.
      own.delete(change.total);
      own.set(change.total, changes);
    },
  };

  async function getMany(ids: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const stored = byId(await read(ids));
    const known = ids.filter((id) => stored.has(id) || own.has(id));
    return new Map(known.map((id) => [id, withOwn(id, stored)]));
  }

  function sumOf(ids: readonly string[], documents: readonly StoredDocument[]): bigint {
    const stored = byId(documents);
    return ids.reduce((sum, id) => sum + withOwn(id, stored), 0n);
  }

  async function read(ids: readonly string[]): Promise<readonly StoredDocument[]> {
    return ids.length === 0 ? [] : readModelStore.getMany(generations.liveCollection(tally), ids);
  }

  function withOwn(id: string, stored: ReadonlyMap<string, StoredDocument>): bigint {
    const total = totalOf(stored.get(id) ?? null);
    let sum = BigInt(total.bytes);
    const changes = own.get(id);
    for (const [name, change] of changes ?? []) {
      // Of the last event the total has the name, because the append may have ended with another event of its stream.
      const isCounted = name === total.last || (total.position !== null && total.position >= change.position);
      if (isCounted) changes?.delete(name);
      else sum += BigInt(change.bytes);
    }
    if (changes?.size === 0) own.delete(id);
    return sum;
  }
}

function byId(documents: readonly StoredDocument[]): ReadonlyMap<string, StoredDocument> {
  return new Map(documents.map((document) => [document.id, document]));
}
