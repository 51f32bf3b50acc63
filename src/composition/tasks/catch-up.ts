import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Quarantined } from '../../event-sourcing/feeding/quarantine.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../event-sourcing/ports/read-model-store.js';
import type { Generations } from '../../event-sourcing/views/generations/generations.js';
import type { ActiveCollection } from '../../event-sourcing/views/pending-totals.js';
import { packageFile } from '../../package-files.js';
import { openLogReader } from '../../stores/embedded/log/category-reader.js';
import { loadCheckpoints } from '../../event-sourcing/ports/records.js';

/** Collections that read one category, by the names of their views. */
export interface ThreadGroup {
  readonly category: string;
  readonly collections: ReadonlyMap<string, string>;
}

/** What a thread feeds. */
export interface CatchUpThreadData {
  readonly directory: string;
  readonly streamPrefix: string;
  /** A thread feeds one group after the other. */
  readonly groups: readonly ThreadGroup[];
  /** What all threads know, at the indexes of `shared`. */
  readonly memory: Int32Array;
}

/** Indexes of `CatchUpThreadData.memory`. */
export const shared = {
  /** 1 when the threads should end early. */
  ending: 0,
  /** 1 while a thread writes. SQLite's own wait for a lock has no order, so a thread could wait for too long. */
  writing: 1,
  /** The next group that no thread has taken. */
  nextGroup: 2,
} as const;

export type FromCatchUpThread =
  | { readonly kind: 'quarantined'; readonly collection: string; readonly stream: Quarantined }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'done' };

interface CatchUpDeps {
  readonly directory: string;
  readonly streamPrefix: string;
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly readModelStore: Pick<ReadModelStore, 'getMany'>;
  readonly forgetDocuments?: (() => void) | undefined;
  readonly generations: Generations;
}

/** A view that is closer to the head of the log catches up sooner than threads start. */
const behindMin = 20_000;
const threadsMax = 4;

/**
 * Feeds the views of embedded stores that are far behind the log, in threads side by side: src/event-sourcing/feeding/README.md#catching-up.
 * Returns when they have reached the head of the log, when the signal aborts, or when they have failed. Projectors that
 * start afterwards go on from the checkpoints, and report a failure that lasts. Operators may read documents meanwhile, so the
 * store then forgets what it has cached.
 * @throws Error when a thread ends without a report: it may leave the file locked, so the process must end
 */
export async function catchUpInThreads(
  deps: CatchUpDeps,
  options: {
    readonly signal: AbortSignal;
    readonly onFailed: (reason: string) => void;
    readonly onQuarantined: (collection: string, stream: Quarantined) => void;
    /** The number of events that a view must be behind; 20,000 by default. */
    readonly behindMin?: number;
  },
): Promise<void> {
  const targets = await farBehind(deps, options.behindMin ?? behindMin);
  if (targets.length === 0 || options.signal.aborted) return;
  const log = openLogReader(deps);
  const groups = groupTargets(targets, log.count);
  log.close();
  const memory = new Int32Array(new SharedArrayBuffer(4 * Object.keys(shared).length));
  const workerData: CatchUpThreadData = {
    directory: deps.directory,
    streamPrefix: deps.streamPrefix,
    groups: groups.map(({ category, targets: group }) => ({
      category,
      collections: new Map(group.map(({ projection, collection }) => [projection.name, collection])),
    })),
    memory,
  };
  const end = () => Atomics.store(memory, shared.ending, 1);
  options.signal.addEventListener('abort', end, { once: true });
  try {
    const threads = Math.min(threadsMax, availableParallelism(), groups.length);
    await Promise.all(Array.from({ length: threads }, runThread));
  } finally {
    options.signal.removeEventListener('abort', end);
    deps.forgetDocuments?.();
  }
  // The last read of the registry may be stale by now.
  await deps.generations.refresh();

  function runThread(): Promise<void> {
    return new Promise((resolve, reject) => {
      const worker = new Worker(packageFile('dist/catch-up-thread.js'), { workerData });
      worker.on('message', (message: FromCatchUpThread) => {
        if (message.kind === 'quarantined') options.onQuarantined(message.collection, message.stream);
        else if (message.kind === 'failed') options.onFailed(message.reason);
        else resolve();
      });
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('a thread that feeds views ended without a report')));
    });
  }
}

/** Returns the live collections that lack many events. A position of embedded stores is a number. */
async function farBehind(
  { eventStore, readModelStore, generations }: CatchUpDeps,
  events: number,
): Promise<readonly ActiveCollection[]> {
  const head = Number((await eventStore.head()) ?? 0);
  const targets = generations.projections.map((projection) => ({
    projection,
    collection: generations.liveCollection(projection),
  }));
  const checkpoints = await loadCheckpoints(
    readModelStore,
    targets.map(({ collection }) => collection),
  );
  return targets.filter(
    ({ collection }) => head - Number(checkpoints.get(collection)?.position ?? 0) >= events,
  );
}

/**
 * Groups collections by the category that they read, because one pass parses its events once. The costliest group comes first,
 * so that the threads end at about the same time.
 */
export function groupTargets(
  targets: readonly ActiveCollection[],
  eventsOf: (category: string) => number,
): readonly { readonly category: string; readonly targets: readonly ActiveCollection[] }[] {
  const groups = new Map<string, ActiveCollection[]>();
  for (const target of targets) {
    const { category } = target.projection;
    groups.set(category, [...(groups.get(category) ?? []), target]);
  }
  return [...groups]
    .map(([category, group]) => ({ category, targets: group, cost: eventsOf(category) * costOf(group) }))
    .sort((one, other) => other.cost - one.cost);
}

/** Estimates what an event costs the views of its category, where a parse costs 1: a fold, and a write for each index. */
function costOf(views: readonly ActiveCollection[]): number {
  return views.reduce((sum, { projection }) => sum + 1 + projection.indexes.length, 1);
}
