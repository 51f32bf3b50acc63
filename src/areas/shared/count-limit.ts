import { makeSizedLru } from '../../kit/lru.js';

/**
 * Limits the things of one owner by the view (src/areas/projects/README.md#limits-over-streams). Requests in flight, and what other processes
 * added in the last 15 s, may pass it.
 */
export interface CountLimit {
  /**
   * Appends a thing, unless the owner has as many as the limit without it.
   * @throws the error of `refuse`; Overloaded while the view lags; the errors of `append`
   */
  adding<Result>(ownerId: string, thingId: string, append: () => Promise<Result>): Promise<Result>;
}

interface CountLimitDeps {
  readonly max: number;
  /** Reads the ids of the owner's things that count in the view, at most `limit`. */
  readonly inView: (ownerId: string, limit: number) => Promise<readonly string[]>;
  /** Reads the stream of a thing, and says whether it counts. */
  readonly counts: (thingId: string, ownerId: string) => Promise<boolean>;
  readonly refuse: () => never;
  /** @throws Overloaded while the view lags too far. Left out: additions never wait for the view. */
  readonly requireFresh?: () => void;
}

/** Owners whose additions a process remembers, and the bytes of the ids, each of which takes about 100. */
const kept = { entriesMax: 10_000, bytesMax: 8 * 1024 * 1024 };

export function makeCountLimit({ max, inView, counts, refuse, requireFresh }: CountLimitDeps): CountLimit {
  /** What this process appended and the view has not shown since, by owner. */
  const unseen = makeSizedLru<Set<string>>({ ...kept, bytesOf: ({ size }) => 100 * size });
  return {
    adding: async (ownerId, thingId, append) => {
      requireFresh?.();
      const shown = new Set(await inView(ownerId, max + 1));
      const own = unseen.get(ownerId) ?? new Set();
      for (const id of own) if (shown.has(id)) own.delete(id);
      if (!shown.has(thingId) && shown.size + own.size >= max) await judge(ownerId, thingId, shown, own);
      const result = await append();
      if (!shown.has(thingId)) {
        // Others may have added meanwhile.
        const newest = unseen.get(ownerId) ?? own;
        // The cache measures a value that it has not.
        unseen.delete(ownerId);
        unseen.set(ownerId, newest.add(thingId));
      }
      return result;
    },
  };

  /** A thing may have gone before the view showed it, and the thing of a repeated command is there already. */
  async function judge(ownerId: string, thingId: string, shown: ReadonlySet<string>, own: Set<string>) {
    for (const id of own) if (!(await counts(id, ownerId))) own.delete(id);
    if (shown.size + own.size >= max && !(await counts(thingId, ownerId))) refuse();
  }
}
