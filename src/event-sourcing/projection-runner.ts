import type { Clock } from './clock.js';
import type { Position } from './domain-event.js';
import { StoreUnavailable } from './errors.js';
import type { Generations } from './generations.js';
import type { AnyProjection } from './projection.js';
import { type ProjectorDeps, type ProjectorProgress, runProjector } from './projector.js';
import { dropOrphanedGenerations, superviseRebuild } from './rebuild.js';

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
  const tasks = new Map<string, Task>();
  const startHead = await eventStore.head();
  await dropOrphanedGenerations(generations, deps.readModelStore);
  const reached = new Set<string>();

  adjustTasks();
  const loop = superviseRegistry();

  return {
    statuses: () => [...tasks.values()].map((task) => task.status),
    live: () => {
      const statuses = generations.projections.map((projection) => statusOfLive(projection));
      return {
        reached: statuses.every((status) => status !== null && reached.has(status.collection)),
        statuses: statuses.filter((status) => status !== null),
      };
    },
    stop: async () => {
      stopping.abort();
      for (const task of tasks.values()) task.controller.abort();
      await Promise.all([loop, ...[...tasks.values()].map((task) => task.done)]);
    },
  };

  async function superviseRegistry(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await generations.refresh();
        adjustTasks();
        await superviseRebuild(
          { ...deps, statuses: [...tasks.values()].map((task) => task.status) },
          events.onRebuilt,
        );
      } catch (error) {
        // Readers notice by the age of the registry's last read.
        const failure = error instanceof Error ? error : new Error(String(error));
        events.onRetry('the registry of generations', failure, 0);
      }
      // An aborted wait ends the loop.
      await clock.sleep(registryIntervalMs, stopping.signal).catch(() => undefined);
    }
  }

  function adjustTasks(): void {
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
      if (isReached(progress.position, startHead) || (progress.atHead && startHead === null))
        reached.add(collection);
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
        reason: error instanceof Error ? error.message : String(error),
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

/** Whether a position is at or past another: positions sort as bytes. */
export function isReached(position: Position | null, goal: Position | null): boolean {
  if (goal === null) return true;
  return position !== null && position >= goal;
}
