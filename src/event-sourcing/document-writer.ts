import type { Clock } from './clock.js';
import type { Generations } from './generations.js';
import type { AnyProjection } from './projection.js';
import type { ReadModelStore, StoredDocument } from './read-model-store.js';
import { makeSharedLimit } from './shared-limit.js';

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
  /** Resolves when what is being written now has been, or could not be. */
  settled(): Promise<void>;
}

const limitMs = 2_000;

export function makeDocumentWriter(deps: {
  readonly generations: Generations;
  readonly readModelStore: ReadModelStore;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}): DocumentWriter {
  const { generations, readModelStore, clock, onFailure } = deps;
  const withinLimit = makeSharedLimit({
    clock,
    limitMs,
    problem: 'the documents could not be written within 2 s',
  });
  const byName = new Map(generations.projections.map((projection) => [projection.name, projection]));
  const viewsByCategory = new Map<string, AnyProjection[]>();
  const underWay = new Set<Promise<void>>();
  for (const projection of generations.projections) {
    viewsByCategory.set(projection.category, [
      ...(viewsByCategory.get(projection.category) ?? []),
      projection,
    ]);
  }

  return {
    viewsOf: (category) => viewsByCategory.get(category) ?? [],
    write: async (documents, { mustSucceed }) => {
      const writing = withinLimit(writeAll(documents));
      underWay.add(writing);
      try {
        await writing;
      } catch (error) {
        if (mustSucceed) throw error;
        onFailure(error);
      } finally {
        underWay.delete(writing);
      }
    },
    settled: async () => {
      await Promise.allSettled(underWay);
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
}
