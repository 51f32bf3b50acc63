/** Ids of accesses, each once. Adding makes another set and leaves this one as it is. */
export interface AccessSet {
  readonly size: number;
  has(id: string): boolean;
  with(id: string): AccessSet;
}

/** So many ids are copied by adding one; the others are copied once in so many times. */
const recentMax = 128;

/**
 * A set that is folded from up to `maxUsesMax` events, one by one. Copying all of it for each event would hold up the process
 * for seconds; so most ids stand in a set that many versions share, and only the latest are copied.
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
