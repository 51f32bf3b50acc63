import type { Clock } from './clock.js';
import { StoreUnavailable } from './errors.js';
import type { Generations } from './generations.js';
import type { AnyProjection } from './projection.js';
import type { ReadModelStore, StoredDocument } from './read-model-store.js';

/** Writes the documents of a stream right after an append, so that whoever wrote reads what was written. */
export interface DocumentWriter {
  /** The views that fold streams of this category. */
  viewsOf(category: string): readonly AnyProjection[];
  /**
   * Writes folds of a whole stream to every fed generation of their views, within 2 s.
   * @param documents by name of the view
   * @throws StoreUnavailable only if `mustSucceed`; otherwise the projector follows, and `onFailure` hears of it
   */
  write(
    documents: ReadonlyMap<string, StoredDocument>,
    options: { readonly mustSucceed: boolean },
  ): Promise<void>;
}

const limitMs = 2_000;
/** A write may be cut off by so much earlier than its limit. */
const sharedMs = 100;

export function makeDocumentWriter(deps: {
  readonly generations: Generations;
  readonly readModelStore: ReadModelStore;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}): DocumentWriter {
  const { generations, readModelStore, clock, onFailure } = deps;
  let latest: Limit | null = null;
  const byName = new Map(generations.projections.map((projection) => [projection.name, projection]));
  const viewsByCategory = new Map<string, AnyProjection[]>();
  for (const projection of generations.projections) {
    viewsByCategory.set(projection.category, [
      ...(viewsByCategory.get(projection.category) ?? []),
      projection,
    ]);
  }

  return {
    viewsOf: (category) => viewsByCategory.get(category) ?? [],
    write: async (documents, { mustSucceed }) => {
      try {
        await withinLimit(writeAll(documents));
      } catch (error) {
        if (mustSucceed) throw error;
        onFailure(error);
      }
    },
  };

  async function writeAll(documents: ReadonlyMap<string, StoredDocument>): Promise<void> {
    const targets: { readonly collection: string; readonly document: StoredDocument }[] = [];
    for (const [name, document] of documents) {
      const projection = byName.get(name);
      if (projection === undefined) continue;
      for (const collection of generations.fedCollections(projection)) targets.push({ collection, document });
    }
    // Begun only now that every view's registry proved fresh: no write is left behind that nobody waits for.
    const writes = targets.map(({ collection, document }) =>
      // Refused means that a document at this revision or a later one stands there: nothing is missing.
      readModelStore.write(collection, [{ document, foldedFrom: 'whole-stream' }]),
    );
    await Promise.all(writes);
  }

  async function withinLimit(work: Promise<void>): Promise<void> {
    const limit = currentLimit();
    limit.users += 1;
    try {
      await Promise.race([work, limit.exceeded]);
    } finally {
      limit.users -= 1;
      if (limit.users === 0) limit.end.abort();
    }
  }

  /** Writes that begin close together share a timer: one for each write would cost more than handing the write over. */
  function currentLimit(): Limit {
    const nowMs = clock.now().getTime();
    const ageMs = nowMs - (latest?.sinceMs ?? 0);
    if (latest === null || latest.end.signal.aborted || ageMs < 0 || ageMs > sharedMs) {
      latest = startLimit(nowMs);
    }
    return latest;
  }

  function startLimit(sinceMs: number): Limit {
    const end = new AbortController();
    const exceeded = clock.sleep(limitMs, end.signal).then(
      () => {
        throw new StoreUnavailable('the documents could not be written within 2 s');
      },
      () => undefined,
    );
    return { sinceMs, exceeded, end, users: 0 };
  }
}

/** A time limit, and how many writes it is the limit of. */
interface Limit {
  readonly sinceMs: number;
  /** Rejects when the time is over; resolves when nobody needs it any more. */
  readonly exceeded: Promise<void>;
  readonly end: AbortController;
  users: number;
}
