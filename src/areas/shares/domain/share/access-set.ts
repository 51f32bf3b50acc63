/** An immutable set of the ids of accesses. */
export interface AccessSet {
  readonly size: number;
  has(id: string): boolean;
  with(id: string): AccessSet;
}

/** Each addition copies at most this many ids. One in so many additions copies the others. */
const recentMax = 128;

/**
 * The empty set. A share folds up to `maxUsesMax` events one by one; to copy all ids for each event would block the
 * process for seconds. So most ids are in a set that many versions share, and only the latest ids are copied.
 */
export const noAccesses: AccessSet = makeAccessSet(new Set(), []);

function makeAccessSet(settled: ReadonlySet<string>, recent: readonly string[]): AccessSet {
  const set: AccessSet = {
    size: settled.size + recent.length,
    has: (id) => settled.has(id) || recent.includes(id),
    with: (id) => {
      if (set.has(id)) return set;
      return recent.length < recentMax
        ? makeAccessSet(settled, [...recent, id])
        : makeAccessSet(new Set([...settled, ...recent]), [id]);
    },
  };
  return set;
}
