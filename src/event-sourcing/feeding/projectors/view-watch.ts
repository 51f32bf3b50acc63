import type { Clock } from '../../../kit/time/clock.js';
import type { Position } from '../../ports/domain-event.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ReadModelStore } from '../../ports/read-model-store.js';
import type { Generations } from '../../views/generations/generations.js';
import type { AnyView } from '../../views/projection.js';
import { makeLoadOwnCheckpoint } from '../checkpoints.js';
import { isReactionConsumer, viewConsumer } from '../consumers/tasks.js';
import type { Lease } from '../consumers/lease.js';
import { isReached } from './projector.js';
import type { ProjectionStatus } from './projector-task.js';
import { loadCheckpoint } from '../../ports/records.js';

/** A consumer that no process feeds for a while. */
export interface StalledConsumer {
  readonly consumer: string;
  readonly forMs: number;
}

const stalledAfterMs = 15_000;
/** A process that does not feed reads the head of the log every fifth tick. */
const headTicks = 5;

/** Watches how far all views are, by the projectors of this process or the record of another owner. */
export function makeViewWatch(deps: {
  readonly generations: Generations;
  readonly lease: Lease;
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly clock: Clock;
  readonly startHead: Position | null;
  readonly stale?: ReadonlySet<string>;
  /** Returns the status of a collection's projector in this process. */
  readonly statusOf: (collection: string) => ProjectionStatus | null;
}) {
  const { generations, lease, clock, startHead, statusOf } = deps;
  const { projections } = generations;
  const startedMs = clock.steadyMs();
  /** A rebuild removes none: the process that switches has filled the collection. */
  const ready = new Set<AnyView>();
  /** The live collections as last known. While the registry cannot be read, a view lags from there on. */
  const lastLive = new Map<AnyView, string>();
  /** When a view last contained everything that was read of the log. */
  const caughtUpMs = new Map<AnyView, number>();
  /** The consumers that wait for a process to feed them, and between which times their progress was noted unchanged. */
  let noted = new Map<string, { progress: string | null; sinceMs: number; notedMs: number }>();
  /** The furthest position of the log that this process knows. */
  let head = startHead;
  let ticks = 0;
  let lookedMs = startedMs;
  let check: ReturnType<typeof makeLoadOwnCheckpoint> | null = null;
  let isChecked = false;

  return {
    /** Notes what stands still, once a second. @throws StoreUnavailable, StoreDamaged */
    tick: async (): Promise<void> => {
      await checkLog();
      ticks += 1;
      // The owner knows the log by its projectors. An owner that reads no more says nothing of it.
      if (!lease.isOwner() && ticks % headTicks === 0) noteRead(await deps.eventStore.head());
      const views = projections.map(look);
      noteReady(views);
      noteStandstill(views);
    },
    /** Notes up to where a projector of this process has read the log. */
    noteRead,
    /** Returns whether each view has reached the head of the log at start. */
    reached: (): boolean => {
      if (ready.size < projections.length) noteReady(projections.map(look));
      return ready.size === projections.length;
    },
    shows: ({ name }: Pick<AnyView, 'name'>, position: Position): boolean => {
      const projection = projections.find((candidate) => candidate.name === name);
      return projection !== undefined && isReached(look(projection).position, position);
    },
    /** Returns the position up to which the live collection contains the log, as this process knows it. */
    positionOf: (projection: AnyView) => look(projection).position,
    lagMs: (projection: AnyView) => look(projection).lagMs,
    stalled: (): readonly StalledConsumer[] =>
      [...noted]
        // Up to the last note: while the stores cannot be read, nothing shows whether a consumer stands still.
        .map(([consumer, { sinceMs, notedMs }]) => ({ consumer, forMs: notedMs - sinceMs }))
        .filter(({ forMs }) => forMs >= stalledAfterMs),
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

  function noteRead(position: Position | null): void {
    if (!isReached(head, position)) head = position;
  }

  function look(projection: AnyView): ViewLook {
    const live = generations.knownLive(projection);
    if (live !== null) lastLive.set(projection, live);
    const collection = live ?? lastLive.get(projection) ?? '';
    const here = statusOf(collection);
    // A view that has stopped here is left to the other processes.
    const isElsewhere = (here?.state ?? 'stopped') === 'stopped';
    const owner = lease.elsewhere();
    const there = owner?.positions[collection] ?? null;
    const position = here !== null && isReached(here.position, there) ? here.position : there;
    const lagThere = isElsewhere ? owner?.lags_ms[viewConsumer(projection)] : undefined;
    const lagMs = lagOf(projection, { here, position, lagThere });
    return { projection, live, here, isElsewhere, position, lagMs };
  }

  /**
   * Returns the age of the oldest event that the view lacks, as the owner says. The owner knows two ages that are not smaller:
   * that of the last event that the view contains, and the time since the view lacked none.
   */
  function lagOf(
    projection: AnyView,
    { here, position, lagThere }: Pick<ViewLook, 'here' | 'position'> & { lagThere: number | undefined },
  ): number {
    const nowMs = clock.steadyMs();
    const { atHead = true, lastEventAt = null } = here ?? {};
    const lagMs = lagThere ?? (atHead && isReached(position, head) ? 0 : null);
    if (lagMs !== null) {
      caughtUpMs.set(projection, nowMs - lagMs);
      return lagMs;
    }
    const eventMs = lastEventAt === null ? Infinity : clock.now().getTime() - lastEventAt.getTime();
    return Math.max(0, Math.min(eventMs, nowMs - (caughtUpMs.get(projection) ?? startedMs)));
  }

  function noteReady(views: readonly ViewLook[]): void {
    for (const { projection, live, here, isElsewhere, position } of views) {
      if (live === null || ready.has(projection)) continue;
      // The projector of this process also checks that the log is the one of the checkpoint.
      const isThere = isElsewhere
        ? isReached(position, startHead) && (isChecked || startHead === null)
        : here?.state === 'live';
      // Readers fold what a stale collection lacks.
      if (isThere || deps.stale?.has(live) === true) ready.add(projection);
    }
  }

  /** Reports consumers whose position does not change while events wait. Slow progress is not reported. */
  function noteStandstill(views: readonly ViewLook[]): void {
    const waiting = views
      .filter(({ live, isElsewhere, lagMs }) => isElsewhere && live !== null && lagMs > 0)
      .map(({ projection, position }) => [viewConsumer(projection), position] as const);
    // A reaction saves no checkpoint while its events wait, so the record of the owner counts. No receiver of events makes the
    // service unready, so endpoints do not count.
    const stalled = lease.stalled().filter(isReactionConsumer);
    const notedMs = clock.steadyMs();
    noted = new Map(
      [...waiting, ...stalled.map((consumer) => [consumer, null] as const)].map(([consumer, progress]) => {
        const before = noted.get(consumer);
        // One that did not wait at the look before waits since then at the longest.
        const sinceMs =
          before === undefined ? lookedMs : before.progress === progress ? before.sinceMs : notedMs;
        return [consumer, { progress, sinceMs, notedMs }];
      }),
    );
    lookedMs = notedMs;
  }
}

/** A view as this process knows it at one moment. */
interface ViewLook {
  readonly projection: AnyView;
  /** The live collection; null while the registry cannot be read. */
  readonly live: string | null;
  /** The projector of this process. */
  readonly here: ProjectionStatus | null;
  /** Whether another process feeds the view. */
  readonly isElsewhere: boolean;
  /** Up to where the live collection, as last known, contains the log. */
  readonly position: Position | null;
  readonly lagMs: number;
}
