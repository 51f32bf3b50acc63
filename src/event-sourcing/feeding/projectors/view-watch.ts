import { type Clock, makeElapsed } from '../../../kit/time/clock.js';
import type { Position } from '../../ports/domain-event.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ReadModelStore } from '../../ports/read-model-store.js';
import type { Generations, HeldCollections } from '../../views/generations/generations.js';
import { type AnyView, viewVersion } from '../../views/projection.js';
import { type LoadOwnCheckpoint, makeLoadOwnCheckpoint } from '../checkpoints.js';
import { isReactionConsumer, viewConsumer } from '../consumers/names.js';
import type { Lease } from '../consumers/lease.js';
import { isReached } from './projector.js';
import type { ProjectionStatus } from './projector-task.js';
import { loadCheckpoint } from '../../ports/records.js';

/** A consumer that no process has fed for a while. */
export interface Standing {
  readonly consumer: string;
  readonly forMs: number;
}

/** Watches how far all views are, by the projectors of this process or the record of another owner. */
export interface ViewWatch {
  /** Notes what stands still, once a second. @throws StoreUnavailable, StoreDamaged */
  tick(): Promise<void>;
  /** Returns whether each view has reached the head of the log at start. */
  readonly reached: () => boolean;
  readonly shows: (view: Pick<AnyView, 'name'>, position: Position) => boolean;
  readonly unfed: () => readonly Standing[];
  readonly lagMs: (projection: AnyView) => number;
  /** Returns the position up to which the live collection contains the log, as this process knows it. */
  readonly positionOf: (projection: AnyView) => Position | null;
}

const unfedAfterMs = 15_000;
/** A process that does not feed reads the head of the log every fifth tick. */
const headTicks = 5;

export function makeViewWatch(deps: {
  readonly generations: Generations;
  readonly lease: Lease;
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly clock: Clock;
  readonly startHead: Position | null;
  readonly held?: HeldCollections;
  /** Returns the status of a collection's projector in this process. */
  readonly statusOf: (collection: string) => ProjectionStatus | null;
  readonly statuses: () => readonly ProjectionStatus[];
}): ViewWatch {
  const { generations, lease, clock, startHead, statusOf } = deps;
  const { projections } = generations;
  const elapsedMs = makeElapsed(clock);
  const startedMs = elapsedMs();
  /** A rebuild removes none: the process that switches has filled the collection. */
  const ready = new Set<AnyView>();
  /** The live collections as last known. While the registry cannot be read, a view lags from there on. */
  const lastLive = new Map<AnyView, string>();
  /** When a view last contained everything that was read of the log. */
  const caughtUpMs = new Map<AnyView, number>();
  /** The progress of consumers that this process does not feed, and between which times it was noted unchanged. */
  const noted = new Map<string, { progress: string | null; sinceMs: number; notedMs: number }>();
  let head = startHead;
  let ticks = 0;
  let check: LoadOwnCheckpoint | null = null;
  let isChecked = false;

  return {
    tick: async () => {
      await checkLog();
      ticks += 1;
      // The owner knows the log by its projectors. An owner that reads no more says nothing of it.
      if (!lease.isOwner() && ticks % headTicks === 0) head = await deps.eventStore.head();
      for (const projection of projections) lagMs(projection);
      noteReady();
      noteStandstill();
    },
    reached: () => {
      noteReady();
      return ready.size === projections.length;
    },
    shows: ({ name }, position) => {
      const projection = projections.find((candidate) => candidate.name === name);
      return projection !== undefined && isReached(positionOf(projection), position);
    },
    positionOf,
    lagMs,
    unfed: () =>
      [...noted]
        // Up to the last note: while the stores cannot be read, nothing shows whether a consumer stands still.
        .map(([consumer, { sinceMs, notedMs }]) => ({ consumer, forMs: notedMs - sinceMs }))
        .filter(({ forMs }) => forMs >= unfedAfterMs),
  };

  /**
   * Makes the check of a projector's start, which a process without projectors does not make. A log that holds the event of
   * the furthest checkpoint holds those of the others too.
   */
  async function checkLog(): Promise<void> {
    const { positions = {} } = lease.elsewhere() ?? {};
    const [furthest] = Object.entries(positions).toSorted(([, one], [, other]) => (one < other ? 1 : -1));
    if (isChecked || furthest === undefined) return;
    const [collection] = furthest;
    const load = () => loadCheckpoint(deps.readModelStore, collection);
    check ??= makeLoadOwnCheckpoint({ ...deps, load }, `the view ${collection}`);
    isChecked = (await check()).checkpoint !== null;
    // The owner has saved none yet, or has dropped the generation.
    if (!isChecked) check = null;
  }

  function liveOf(projection: AnyView): string | null {
    const live = generations.knownLive(projection);
    if (live !== null) lastLive.set(projection, live);
    return live ?? lastLive.get(projection) ?? null;
  }

  function statusHere(projection: AnyView): ProjectionStatus | null {
    const collection = liveOf(projection);
    return collection === null ? null : statusOf(collection);
  }

  /** Returns whether another process feeds the view. One that has stopped here is left to the others. */
  function isElsewhere(projection: AnyView): boolean {
    return (statusHere(projection)?.state ?? 'stopped') === 'stopped';
  }

  function positionOf(projection: AnyView): Position | null {
    const collection = liveOf(projection);
    if (collection === null) return null;
    const here = statusOf(collection)?.position ?? null;
    const there = lease.elsewhere()?.positions[collection] ?? null;
    return here !== null && isReached(here, there) ? here : there;
  }

  /**
   * Returns the age of the oldest event that the view lacks, as the owner says. The owner knows two ages that are not smaller:
   * that of the last event that the view contains, and the time since the view lacked none.
   */
  function lagMs(projection: AnyView): number {
    const nowMs = elapsedMs();
    const there = isElsewhere(projection) ? lease.elsewhere() : null;
    const lag = there?.lags_ms[consumerOf(projection)];
    if (lag !== undefined) {
      caughtUpMs.set(projection, nowMs - lag);
      return lag;
    }
    const { atHead = true, lastEventAt = null } = statusHere(projection) ?? {};
    if (atHead && isReached(positionOf(projection), furthestRead())) {
      caughtUpMs.set(projection, nowMs);
      return 0;
    }
    const eventMs = lastEventAt === null ? Infinity : clock.now().getTime() - lastEventAt.getTime();
    return Math.max(0, Math.min(eventMs, nowMs - (caughtUpMs.get(projection) ?? startedMs)));
  }

  /** Returns the furthest position of the log that this process knows. */
  function furthestRead(): Position | null {
    return deps
      .statuses()
      .flatMap(({ read, position }) => [read, position])
      .reduce((one, other) => (isReached(one, other) ? one : other), head);
  }

  function noteReady(): void {
    for (const projection of projections) {
      const collection = generations.knownLive(projection);
      if (collection === null || ready.has(projection)) continue;
      // The projector of this process also checks that the log is the one of the checkpoint.
      const isThere = isElsewhere(projection)
        ? isReached(positionOf(projection), startHead) && (isChecked || startHead === null)
        : statusOf(collection)?.state === 'live';
      // Readers fold what a held collection lacks.
      if (isThere || deps.held?.has(collection) === true) ready.add(projection);
    }
  }

  /** Reports views whose position does not change while events wait. Slow progress is not reported. */
  function noteStandstill(): void {
    for (const projection of projections) {
      const isJudged = isElsewhere(projection) && generations.knownLive(projection) !== null;
      const waits = isJudged && lagMs(projection) > 0;
      note(consumerOf(projection), positionOf(projection), waits);
    }
    // A reaction saves no mark while its events wait, so the record of the owner counts. No receiver of events makes the
    // service unready, so endpoints do not count.
    const fed = lease.record()?.feeds ?? [];
    for (const consumer of [...lease.progress().keys()].filter(isReactionConsumer)) {
      note(consumer, null, !fed.includes(consumer));
    }
  }

  /** @param waits whether work waits that this process does not do */
  function note(consumer: string, progress: string | null, waits: boolean): void {
    const before = noted.get(consumer);
    const notedMs = elapsedMs();
    const stands = waits && before?.progress === progress;
    noted.set(consumer, { progress, sinceMs: stands ? before.sinceMs : notedMs, notedMs });
  }
}

function consumerOf(projection: AnyView): string {
  return viewConsumer(viewVersion(projection));
}
