import { toError } from '../../../kit/errors.js';
import { setMaxListeners } from 'node:events';
import type { Quarantined } from '../quarantine.js';
import type { Clock } from '../../../kit/time/clock.js';
import type { Position } from '../../ports/domain-event.js';
import { StoreDamaged, StoreUnavailable } from '../../ports/errors.js';
import { nameOf, viewConsumer } from '../consumers/tasks.js';
import { runConsumers } from '../consumers/run-consumers.js';
import type { Lease, Progress } from '../consumers/lease.js';
import type { Generations } from '../../views/generations/generations.js';
import type { AnyView } from '../../views/projection.js';
import type { ProjectorDeps } from './projector.js';
import { feedCollection, type ProjectionStatus } from './projector-task.js';
import { dropOrphanedGenerations, makeRebuildSupervisor } from '../../views/generations/rebuild.js';
import { makeViewWatch } from './view-watch.js';

export type { ProjectionStatus } from './projector-task.js';

interface ProjectionEvents {
  readonly onRetry: (collection: string, error: Error, attempt: number) => void;
  /** A projection stopped. The others go on; readers of this one get the documents written so far. */
  readonly onStopped: (collection: string, error: unknown) => void;
  /** A stream cannot be taken in. Its document stays at its last revision, and the others go on. */
  readonly onQuarantined?: (collection: string, stream: Quarantined) => void;
  readonly onRebuilt: (collection: string, differences: { compared: number; different: number }) => void;
}

export type ProjectionRunner = Awaited<ReturnType<typeof startProjections>>;

const tickMs = 1_000;
/** Less than two ticks, because a timer may fire a little early. A tick may last as long as a call to the log. */
const registryMs = 1_750;

/**
 * Feeds every generation of all views while this process is the owner of the lease, and carries rebuilds on:
 * src/event-sourcing/feeding/README.md#the-lease. Requires started generations. The caller starts the lease when all consumers are added.
 */
export async function startProjections(
  deps: ProjectorDeps & {
    readonly generations: Generations;
    readonly lease: Lease;
    readonly clock: Clock;
  },
  events: ProjectionEvents,
) {
  const { generations, lease, eventStore, clock } = deps;
  const { projections } = generations;
  const stopping = new AbortController();
  setMaxListeners(projections.length + 1, stopping.signal);
  const [startHead] = await Promise.all([
    eventStore.head(),
    dropOrphanedGenerations(generations, deps.readModelStore),
  ]);
  const statusOf = (collection: string): ProjectionStatus | null => consumers.get(collection);
  const supervisor = makeRebuildSupervisor({ ...deps, statusOf, signal: stopping.signal }, events.onRebuilt);
  /** The views whose rebuild a call carries on now. A comparison may take longer than a tick. */
  const rebuilding = new Map<AnyView, Promise<void>>();
  const watch = makeViewWatch({ ...deps, startHead, statusOf });
  let registryReadAtMs = clock.steadyMs();
  /** The views under a rebuild, as the registry says. Meanwhile it is read each second. */
  let underRebuild: readonly AnyView[] = [];
  let adjustedAt: number | null = null;

  const consumers = runConsumers(lease, projections.map(consumerFor), events.onStopped);
  const loop = tickEachSecond();

  return {
    /** Returns the status of every collection that this process feeds. */
    statuses: consumers.statuses,
    /**
     * Returns whether each view has reached the head of the log at start, by this process or another one, and the statuses
     * of the live collections that this process feeds. Readers fold what a stale collection lacks, so it has no lag.
     */
    live: () => ({
      reached: watch.reached(),
      statuses: projections.flatMap((projection) => {
        const status = liveStatus(projection);
        if (status === null) return [];
        const isStale = deps.stale?.has(status.collection) === true;
        return [{ ...status, lagMs: isStale ? 0 : watch.lagMs(projection) }];
      }),
    }),
    /** Returns whether the view contains the log up to a position, by this process or the record of another owner. */
    shows: watch.shows,
    /** Returns the views and reactions that no process feeds for 15 s while the log moved. */
    stalled: watch.stalled,
    /** Returns `stalled` as sentences. */
    problems: (): readonly string[] =>
      watch
        .stalled()
        .map(
          ({ consumer, forMs }) =>
            `${nameOf(consumer)} is stalled: no process feeds it for ${Math.round(forMs / 1_000)} s`,
        ),
    /** Returns each view with the position up to which it contains the log, and whether it lags. */
    positions: (): readonly {
      readonly view: string;
      readonly position: Position | null;
      readonly lags: boolean;
    }[] =>
      projections.map((projection) => ({
        ...{ view: projection.name, position: watch.positionOf(projection) },
        lags: watch.lagMs(projection) > 0,
      })),
    /** Returns for how long each view has been behind the log, as the process knows that feeds it; by name. */
    lagsMs: (): ReadonlyMap<string, number> =>
      new Map(projections.map((projection) => [projection.name, watch.lagMs(projection)])),
    /** Ends the projectors, which save their checkpoints, and gives the lease up. */
    stop: async () => {
      stopping.abort();
      const ended = Promise.all([consumers.stop(), loop, ...rebuilding.values()]);
      // The others take over at once, for a second feeder is harmless.
      await lease.stop();
      await ended;
    },
  };

  function consumerFor(projection: AnyView) {
    return {
      name: viewConsumer(projection),
      tasks: (running: readonly ProjectionStatus[]) =>
        new Map(
          activeCollections(projection, running).map((collection) => [
            collection,
            (signal: AbortSignal) =>
              feedCollection(deps, {
                ...{ projection, collection, startHead, signal },
                onRetry: (error, attempt) => events.onRetry(collection, error, attempt),
                onQuarantined: (stream) => events.onQuarantined?.(collection, stream),
                onRead: watch.noteRead,
              }),
          ]),
        ),
      progress: (statuses: readonly ProjectionStatus[]) => progressOf(projection, statuses),
    };
  }

  function progressOf(projection: AnyView, statuses: readonly ProjectionStatus[]): Progress {
    const lagMs = watch.lagMs(projection);
    const reached = statuses.flatMap(({ collection, position }) =>
      position === null ? [] : [[collection, position] as const],
    );
    const positions = Object.fromEntries(reached);
    // While the registry cannot be read, the live collection is unknown, and its task goes on.
    const status = liveStatus(projection) ?? statuses[0];
    if (status === undefined) return { state: null, lagMs, problem: null, positions };
    const { state, reason, failure } = status;
    const isFailing = failure !== null && state !== 'stopped';
    const shown = isFailing ? 'failing' : state === 'live' ? 'running' : state;
    return { state: shown, lagMs, problem: reason ?? failure, positions };
  }

  async function tickEachSecond(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await tick();
      } catch (error) {
        if (error instanceof StoreDamaged) {
          events.onStopped('the registry of generations', error);
          return;
        }
        // Readers notice by the age of the last read of the registry.
        events.onRetry('the registry of generations', toError(error), 0);
      }
      // An abort ends the loop.
      await clock.sleep(tickMs, stopping.signal).catch(() => undefined);
    }
  }

  async function tick(): Promise<void> {
    const nowMs = clock.steadyMs();
    if (nowMs - registryReadAtMs >= registryMs || underRebuild.length > 0) {
      registryReadAtMs = nowMs;
      const known = await generations.refresh();
      if (known === adjustedAt && underRebuild.length === 0) return watch.tick();
      adjustedAt = known;
      consumers.adjust();
      underRebuild = projections.filter((projection) => generations.isRebuilding(projection));
      for (const projection of underRebuild) {
        if (consumers.isFedHere(viewConsumer(projection))) carryOn(projection);
      }
    }
    await watch.tick();
  }

  /** While the registry cannot be read, the active collections stay as they are. */
  function activeCollections(projection: AnyView, running: readonly ProjectionStatus[]): readonly string[] {
    try {
      return generations.activeCollections(projection);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return running.map(({ collection }) => collection);
    }
  }

  function carryOn(projection: AnyView): void {
    if (rebuilding.has(projection)) return;
    const work = supervisor
      .carryOn(projection)
      .catch((error: unknown) => {
        if (stopping.signal.aborted) return;
        const what = `the rebuild of ${projection.name}`;
        if (error instanceof StoreDamaged) events.onStopped(what, error);
        else events.onRetry(what, toError(error), 0);
      })
      .finally(() => rebuilding.delete(projection));
    rebuilding.set(projection, work);
  }

  /** Returns the status of the live collection; null when another process feeds it, or the live one is unknown. */
  function liveStatus(projection: AnyView): ProjectionStatus | null {
    const collection = generations.knownLive(projection);
    return collection === null ? null : consumers.get(collection);
  }
}
