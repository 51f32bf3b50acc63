import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { SetApartItem } from '../event-sourcing/following/set-apart.js';
import type { EventStore } from '../event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../event-sourcing/ports/read-model-store.js';
import type { Generations } from '../event-sourcing/views/generations.js';
import type { FedCollection } from '../event-sourcing/views/pending.js';
import { openLogReader } from '../stores/embedded/log-reader.js';

/** What a thread feeds. */
export interface CatchUpThreadData {
  readonly directory: string;
  readonly streamPrefix: string;
  /** The collections to feed, by the names of their views. */
  readonly collections: ReadonlyMap<string, string>;
  /** What all threads know, at the places of `flag`. */
  readonly flags: Int32Array;
}

/** Places of `CatchUpThreadData.flags`, where 1 means yes. */
export const flag = {
  /** The threads should end early. */
  ending: 0,
  /** One of the threads writes. SQLite's own wait for a lock has no order, so a thread could wait for too long. */
  writing: 1,
} as const;

export type FromCatchUpThread =
  | { readonly kind: 'set-apart'; readonly collection: string; readonly stream: SetApartItem }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'done' };

export interface CatchUpDeps {
  readonly directory: string;
  readonly streamPrefix: string;
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly readModelStore: Pick<ReadModelStore, 'loadCheckpoints'>;
  readonly generations: Generations;
}

/** A view that is closer to the head of the log catches up sooner than threads start. */
const behindMin = 20_000;
const threadsMax = 4;

/**
 * Feeds the views of embedded stores that are far behind the log, in threads side by side: docs/design.md#catching-up.
 * Returns when they have reached the head of the log, when the signal aborts, or when they have failed. Projectors that
 * start afterwards go on from the checkpoints, and report a failure that lasts. No other code may read or write documents
 * meanwhile, because it would cache them.
 * @throws Error when a thread ends without a report: it may leave the file locked, so the process must end
 */
export async function catchUpInThreads(
  deps: CatchUpDeps,
  options: {
    readonly signal: AbortSignal;
    readonly onFailed: (reason: string) => void;
    readonly onSetApart: (collection: string, stream: SetApartItem) => void;
    /** The number of events that a view must be behind; 20,000 by default. */
    readonly behindMin?: number;
  },
): Promise<void> {
  const targets = await farBehind(deps, options.behindMin ?? behindMin);
  if (targets.length === 0 || options.signal.aborted) return;
  const log = openLogReader(deps);
  const shares = shareTargets(targets, log.count, Math.min(threadsMax, availableParallelism()));
  log.close();
  const flags = new Int32Array(new SharedArrayBuffer(8));
  const end = (): void => {
    Atomics.store(flags, flag.ending, 1);
  };
  options.signal.addEventListener('abort', end, { once: true });
  try {
    await Promise.all(shares.map(runThread));
  } finally {
    options.signal.removeEventListener('abort', end);
  }
  // The last read of the registry may be stale by now.
  await deps.generations.refresh();

  function runThread(own: readonly FedCollection[]): Promise<void> {
    const { directory, streamPrefix } = deps;
    const collections = new Map(own.map(({ projection, collection }) => [projection.name, collection]));
    const workerData: CatchUpThreadData = { directory, streamPrefix, collections, flags };
    return new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./catch-up-thread.js', import.meta.url), { workerData });
      worker.on('message', (message: FromCatchUpThread) => {
        if (message.kind === 'set-apart') {
          options.onSetApart(message.collection, message.stream);
          return;
        }
        if (message.kind === 'failed') options.onFailed(message.reason);
        resolve();
      });
      worker.once('error', reject);
      worker.once('exit', () => {
        reject(new Error('a thread that feeds views ended without a report'));
      });
    });
  }
}

/** Returns the live collections that lack many events. A position of embedded stores is a number. */
async function farBehind(
  { eventStore, readModelStore, generations }: CatchUpDeps,
  events: number,
): Promise<readonly FedCollection[]> {
  const head = Number((await eventStore.head()) ?? 0);
  const targets = generations.projections.map((projection) => ({
    projection,
    collection: generations.liveCollection(projection),
  }));
  const checkpoints = await readModelStore.loadCheckpoints(targets.map(({ collection }) => collection));
  return targets.filter(
    ({ collection }) => head - Number(checkpoints.get(collection)?.position ?? 0) >= events,
  );
}

/**
 * Shares collections among at most `threads` threads, the largest category first, so that each folds about as many events.
 * One thread has all views of a category, because it parses the events once.
 */
export function shareTargets(
  targets: readonly FedCollection[],
  eventsOf: (category: string) => number,
  threads: number,
): readonly (readonly FedCollection[])[] {
  const byCategory = new Map<string, FedCollection[]>();
  for (const target of targets) {
    const { category } = target.projection;
    byCategory.set(category, [...(byCategory.get(category) ?? []), target]);
  }
  const parts = [...byCategory]
    .map(([category, own]) => ({ own, weight: eventsOf(category) * (1 + own.length) }))
    .sort((one, other) => other.weight - one.weight);
  const shares = Array.from({ length: threads }, () => ({ targets: new Array<FedCollection>(), weight: 0 }));
  for (const { own, weight } of parts) {
    const lightest = shares.reduce((least, share) => (share.weight < least.weight ? share : least));
    lightest.targets.push(...own);
    lightest.weight += weight;
  }
  return shares.map((share) => share.targets).filter((own) => own.length > 0);
}
