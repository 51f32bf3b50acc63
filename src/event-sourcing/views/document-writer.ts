import { makeLru } from '../../kit/lru.js';
import type { Clock } from '../../kit/time/clock.js';
import { withTimeLimit } from '../../kit/time/time-limit.js';
import { StoreUnavailable } from '../ports/errors.js';
import type { ReadModelStore, StoredDocument } from '../ports/read-model-store.js';
import type { Generations } from './generations/generations.js';
import { isTally, type Projection } from './projection.js';

/** Writes the documents of a stream right after an append, so that a client reads its writes. */
export type DocumentWriter = ReturnType<typeof makeDocumentWriter>;

const limitMs = 2_000;
/** The projector mostly passes a document within a second. */
const writtenMax = 10_000;

export function makeDocumentWriter(deps: {
  readonly generations: Generations;
  readonly readModelStore: ReadModelStore;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}) {
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
  /** The appends of commands, by stream, up to the beginning of their writes. A command of a stream waits for the one before it. */
  const appending = new Map<string, Promise<unknown>>();
  /** The revisions up to which the store has documents, by collection and id, until a projector has passed them. */
  const written = makeLru<number>(writtenMax);
  for (const projection of folds) {
    viewsByCategory.set(projection.category, [
      ...(viewsByCategory.get(projection.category) ?? []),
      projection,
    ]);
  }

  return {
    /** Returns the views that fold streams of the category. */
    viewsOf: (category: string): readonly Projection[] => viewsByCategory.get(category) ?? [],
    /**
     * Writes folds of a whole stream to every active generation of their views, within 2 s.
     * @param documents by view name
     * @throws StoreUnavailable only if `mustSucceed`; otherwise `onFailure` receives the error and the projector follows
     */
    write: async (
      documents: ReadonlyMap<string, StoredDocument>,
      { mustSucceed }: { readonly mustSucceed: boolean },
    ) => {
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
    /** Runs an append and begins its writes: a projector may meet the event before the command knows that it is in the log. */
    appending: <Result>(stream: string, append: () => Promise<Result>): Promise<Result> => {
      const running = append();
      const end = (): void => {
        if (appending.get(stream) === running) appending.delete(stream);
      };
      appending.set(stream, running);
      running.then(end, end);
      return running;
    },
    /** Resolves when the running writes have ended, and those of appends to the streams. It waits for 2 s at most. */
    settled: async (streams: readonly string[] = []) => {
      const appends = streams.flatMap((stream) => appending.get(stream) ?? []);
      // What takes longer is written by the projector too.
      if (appends.length > 0) await withTimeLimit(Promise.allSettled(appends), limit).catch(() => undefined);
      await Promise.allSettled(underWay);
    },
    /** Tells whether this process has written the document at this revision or a later one, mostly once. */
    hasWritten: (collection: string, id: string, revision: bigint): boolean => {
      const reached = written.get(keyOf(collection, id)) ?? -1;
      if (reached === Number(revision)) written.delete(keyOf(collection, id));
      return reached >= Number(revision);
    },
  };

  function keyOf(collection: string, id: string): string {
    return `${collection}/${id}`;
  }

  async function writeAll(documents: ReadonlyMap<string, StoredDocument>): Promise<void> {
    const targets: { readonly collection: string; readonly document: StoredDocument }[] = [];
    for (const [name, document] of documents) {
      const projection = byName.get(name);
      if (projection === undefined) continue;
      for (const at of generations.activeCollections(projection)) targets.push({ collection: at, document });
    }
    // Writes begin only now: had a later `activeCollections` thrown, no caller would await the earlier writes.
    const writes = targets.map(async ({ collection, document }) => {
      await readModelStore.write(collection, [{ document, foldedFrom: 'whole-stream' }]);
      // A refusal means that this revision or a later one is stored.
      const key = keyOf(collection, document.id);
      written.set(key, Math.max(Number(document.revision), written.get(key) ?? -1));
    });
    await Promise.all(writes);
  }
}
