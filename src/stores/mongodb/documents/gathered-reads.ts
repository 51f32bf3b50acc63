import type { DocumentName, StoredDocument } from '../../../event-sourcing/ports/read-model-store.js';

/** Reads one document of each name, in the order of the names. Null where there is none. */
type ReadEach = (names: readonly DocumentName[]) => Promise<readonly (StoredDocument | null)[]>;

/** Returns how to present each document that exists. A damaged one throws only where it is asked for. */
type ReadTogether = (
  collection: string,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, () => StoredDocument>>;

interface Caller {
  readonly names: readonly DocumentName[];
  readonly resolve: (found: readonly (StoredDocument | null)[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers the reads of one turn of the event loop. A command costs a process more than the work around it, so under
 * load the reads share the commands of each collection.
 *
 * The command is sent after all of its callers have asked. So none of them gets an answer that is older than its
 * question, and the rules of reads that authorise hold (src/stores/mongodb/README.md#reads-that-authorise). Without load each call is
 * sent alone, which takes one command for all of its collections.
 */
export function gatherReads({
  readApart,
  readTogether,
}: {
  readonly readApart: ReadEach;
  readonly readTogether: ReadTogether;
}): ReadEach {
  let callers: Caller[] = [];

  return (names) =>
    new Promise((resolve, reject) => {
      // The turn's other requests are read from their sockets before this runs.
      if (callers.length === 0) setImmediate(send);
      callers.push({ names, resolve, reject });
    });

  function send(): void {
    const gathered = callers;
    callers = [];
    const idsByCollection = idsOf(gathered);
    if (gathered.length < Math.max(idsByCollection.size, 2)) {
      for (const { names, resolve, reject } of gathered) readApart(names).then(resolve, reject);
      return;
    }
    const reads = new Map(
      Array.from(idsByCollection, ([collection, ids]) => [collection, readTogether(collection, [...ids])]),
    );
    for (const caller of gathered) answer(caller, reads).then(caller.resolve, caller.reject);
  }
}

function idsOf(callers: readonly Caller[]): ReadonlyMap<string, ReadonlySet<string>> {
  const byCollection = new Map<string, Set<string>>();
  for (const { names } of callers) {
    for (const { collection, id } of names) {
      const ids = byCollection.get(collection);
      if (ids === undefined) byCollection.set(collection, new Set([id]));
      else ids.add(id);
    }
  }
  return byCollection;
}

async function answer(
  { names }: Caller,
  reads: ReadonlyMap<string, ReturnType<ReadTogether>>,
): Promise<readonly (StoredDocument | null)[]> {
  const found = await Promise.all(names.map(async ({ collection }) => reads.get(collection)));
  return names.map(({ id }, index) => found[index]?.get(id)?.() ?? null);
}
