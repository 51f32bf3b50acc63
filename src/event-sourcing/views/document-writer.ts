import { withTimeLimit } from '../../kit/time/time-limit.js';
import type { Clock } from '../../kit/time/clock.js';
import { StoreUnavailable } from '../ports/errors.js';
import type { Generations } from './generations/generations.js';
import { type Projection, isTally } from './projection.js';
import type { ReadModelStore, StoredDocument } from '../ports/read-model-store.js';

/** Writes the documents of a stream right after an append, so that a client reads its writes. */
export interface DocumentWriter {
  /** Returns the views that fold streams of the category. */
  viewsOf(category: string): readonly Projection[];
  /**
   * Writes folds of a whole stream to every active generation of their views, within 2 s.
   * @param documents by view name
   * @throws StoreUnavailable only if `mustSucceed`; otherwise `onFailure` receives the error and the projector follows
   */
  write(
    documents: ReadonlyMap<string, StoredDocument>,
    options: { readonly mustSucceed: boolean },
  ): Promise<void>;
  /** Resolves when the running writes have ended. */
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
  const limit = {
    ms: limitMs,
    clock,
    exceeded: () => new StoreUnavailable('the documents could not be written within 2 s'),
  };
  const folds = generations.projections.filter((view): view is Projection => !isTally(view));
  const byName = new Map(folds.map((projection) => [projection.name, projection]));
  const viewsByCategory = new Map<string, Projection[]>();
  const underWay = new Set<Promise<void>>();
  for (const projection of folds) {
    viewsByCategory.set(projection.category, [
      ...(viewsByCategory.get(projection.category) ?? []),
      projection,
    ]);
  }

  return {
    viewsOf: (category) => viewsByCategory.get(category) ?? [],
    write: async (documents, { mustSucceed }) => {
      const writing = withTimeLimit(writeAll(documents), limit);
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
      for (const at of generations.activeCollections(projection)) targets.push({ collection: at, document });
    }
    // Writes begin only now: had a later `activeCollections` thrown, no caller would await the earlier writes.
    const writes = targets.map(({ collection, document }) =>
      // A refusal means that this revision or a later one is stored.
      readModelStore.write(collection, [{ document, foldedFrom: 'whole-stream' }]),
    );
    await Promise.all(writes);
  }
}
