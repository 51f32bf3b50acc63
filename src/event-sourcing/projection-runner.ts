import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.js';
import { reasonOf, StoreDamaged, StoreUnavailable } from './errors.js';
import type { Generations } from './generations.js';
import type { AnyProjection } from './projection.js';
import { isReached, type ProjectorDeps, type ProjectorProgress, runProjector } from './projector.js';
import { dropOrphanedGenerations, makeRebuildSupervisor } from './rebuild.js';

/** One collection's projector, as readiness and metrics see it. */
export interface ProjectionStatus extends ProjectorProgress {
  readonly projection: AnyProjection;
  readonly collection: string;
  readonly state: 'catching-up' | 'live' | 'stopped';
  /** Why it stopped: a sentence with the event's type and place, never its payload. */
  readonly reason: string | null;
}

export interface ProjectionEvents {
  readonly onRetry: (collection: string, error: Error, attempt: number) => void;
  /** A projection stopped for good: the others go on, readers of this one get what was written so far. */
  readonly onStopped: (collection: string, error: unknown) => void;
  readonly onRebuilt: (collection: string, differences: { compared: number; different: number }) => void;
}

export interface ProjectionRunner {
  /** Of every collection that this process feeds. */
  statuses(): readonly ProjectionStatus[];
  /** Of the live collections; `reached` tells whether all have come to the head that was seen at start. */
  live(): { readonly reached: boolean; readonly statuses: readonly ProjectionStatus[] };
  /** Ends the projectors; their checkpoints stay where the documents are. */
  stop(): Promise<void>;
}

const registryIntervalMs = 1_000;

/**
 * Feeds every generation of every view that the registry names, starting and ending projectors as the registry
 * changes, and carries rebuilds on. The generations must have been started.
 */
export async function startProjections(
  deps: ProjectorDeps & { readonly generations: Generations; readonly clock: Clock },
  events: ProjectionEvents,
): Promise<ProjectionRunner> {
  const { generations, eventStore, clock } = deps;
  const stopping = new AbortController();
  // One loop for each view listens, and two for the registry; Node takes more than ten for a leak.
  setMaxListeners(generations.projections.length + 2, stopping.signal);
  const tasks = new Map<string, Task>();
  const startHead = await eventStore.head();
  await dropOrphanedGenerations(generations, deps.readModelStore);
  const ended = new Set<Promise<void>>();
  /** Collections that have come to the head seen at start. */
  const reached = new Set<string>();
  /** Views whose live collection has; the one that a rebuild switches to has been filled by whoever switched. */
  const ready = new Set<string>();
  const supervisor = makeRebuildSupervisor(
    { ...deps, statusOf: (collection) => tasks.get(collection)?.status ?? null },
    events.onRebuilt,
  );

  adjustTasks();
  // Apart from each other, for comparing the generations of a large view takes longer than the registry may stay unread.
  const loops = [
    eachSecond('the registry of generations', async () => {
      await generations.refresh();
      adjustTasks();
    }),
    eachSecond('the versions of views', () => generations.tendVersions()),
    ...generations.projections.map((projection) =>
      eachSecond(`the rebuild of ${projection.name}`, () => supervisor.carryOn(projection)),
    ),
  ];

  return {
    statuses: () => [...tasks.values()].map((task) => task.status),
    live: () => {
      noteReady();
      return {
        reached: generations.projections.every((projection) => ready.has(projection.name)),
        statuses: generations.projections.map(statusOfLive).filter((status) => status !== null),
      };
    },
    stop: async () => {
      stopping.abort();
      for (const task of tasks.values()) task.controller.abort();
      await Promise.all([...loops, ...ended, ...[...tasks.values()].map((task) => task.done)]);
    },
  };

  async function eachSecond(what: string, work: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await work();
      } catch (error) {
        if (error instanceof StoreDamaged) {
          events.onStopped(what, error);
          return;
        }
        // Readers notice by the age of the registry's last read.
        events.onRetry(what, error instanceof Error ? error : new Error(String(error)), 0);
      }
      // An aborted wait ends the loop.
      await clock.sleep(registryIntervalMs, stopping.signal).catch(() => undefined);
    }
  }

  function adjustTasks(): void {
    if (stopping.signal.aborted) return;
    noteReady();
    const wanted = new Map<string, AnyProjection>();
    for (const projection of generations.projections) {
      for (const collection of generations.fedCollections(projection)) wanted.set(collection, projection);
    }
    for (const [collection, projection] of wanted) {
      if (!tasks.has(collection)) tasks.set(collection, startTask(projection, collection));
    }
    for (const [collection, task] of tasks) {
      if (wanted.has(collection)) continue;
      task.controller.abort();
      tasks.delete(collection);
      const done = task.done.finally(() => ended.delete(done));
      ended.add(done);
    }
  }

  function noteReady(): void {
    for (const projection of generations.projections) {
      const status = statusOfLive(projection);
      if (status !== null && reached.has(status.collection)) ready.add(projection.name);
    }
  }

  function startTask(projection: AnyProjection, collection: string): Task {
    const controller = new AbortController();
    const task: Task = {
      controller,
      done: Promise.resolve(),
      status: {
        projection,
        collection,
        state: 'catching-up',
        position: null,
        atHead: false,
        lastEventAt: null,
        reason: null,
      },
    };
    const onProgress = (progress: ProjectorProgress): void => {
      if (isReached(progress.position, startHead)) reached.add(collection);
      task.status = { ...task.status, ...progress, state: reached.has(collection) ? 'live' : 'catching-up' };
    };
    const onRetry = (error: Error, attempt: number): void => {
      events.onRetry(collection, error, attempt);
    };
    task.done = runProjector(
      deps,
      { projection, collection },
      { signal: controller.signal, onProgress, onRetry },
    ).catch((error: unknown) => {
      task.status = {
        ...task.status,
        state: 'stopped',
        reason: reasonOf(error),
      };
      events.onStopped(collection, error);
    });
    return task;
  }

  function statusOfLive(projection: AnyProjection): ProjectionStatus | null {
    try {
      return tasks.get(generations.liveCollection(projection))?.status ?? null;
    } catch (error) {
      if (error instanceof StoreUnavailable) return null;
      throw error;
    }
  }
}

interface Task {
  readonly controller: AbortController;
  done: Promise<void>;
  status: ProjectionStatus;
}
