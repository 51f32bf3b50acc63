import type { Clock } from '../../../kit/time/clock.js';
import type { Position } from '../../ports/domain-event.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ReadModelStore } from '../../ports/read-model-store.js';
import { isReactionPart, viewPart } from '../sharing/assignment.js';
import { makeElapsed } from '../../../kit/time/elapsed.js';
import { makeHeadHistory } from '../sharing/head-history.js';
import type { Members } from '../sharing/members.js';
import { makeStandstill, type StandingPart } from '../sharing/standstill.js';
import type { HeldCollections } from '../../views/generations/held-collections.js';
import type { Generations } from '../../views/generations/generations.js';
import { type AnyView, viewVersion } from '../../views/projection.js';
import { isReached } from './projector.js';
import type { ProjectorTask } from './projector-task.js';
import { makeStoredPositions } from './stored-positions.js';

/** Watches how far all views are, also those of other processes: for readiness, reactions and reports. */
export interface ViewWatch {
  /** Reads what it needs, once a second. @throws StoreUnavailable, StoreDamaged */
  tick(): Promise<void>;
  /** Returns whether each view has reached the head of the log at start. */
  readonly reached: () => boolean;
  readonly shows: (view: Pick<AnyView, 'name'>, position: Position) => boolean;
  readonly unfed: () => readonly StandingPart[];
  readonly lagMs: (projection: AnyView) => number;
  /** Returns the position up to which the live collection contains the log, as this process knows it. */
  readonly positionOf: (projection: AnyView) => Position | null;
}

/** An idle process reads the checkpoints of the views that others feed every fifth tick. */
const checkpointTicks = 5;
/** After this time a view that stands still may merely have saved no checkpoint, so its feeder is asked to. */
const suspectAfterMs = 4_000;
export const unfedAfterMs = 15_000;

export function makeViewWatch(deps: {
  readonly generations: Generations;
  readonly members: Members;
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly clock: Clock;
  readonly startHead: Position | null;
  readonly held?: HeldCollections;
  /** Returns the projector of the live collection in this process. */
  readonly taskOf: (projection: AnyView) => ProjectorTask | null;
}): ViewWatch {
  const { generations, members, eventStore, clock, startHead, taskOf } = deps;
  const { projections } = generations;
  const elapsedMs = makeElapsed(clock);
  const stored = makeStoredPositions(deps);
  const heads = makeHeadHistory(elapsedMs);
  const standstill = makeStandstill(elapsedMs);
  /** A rebuild removes none: the process that switches has filled the collection. */
  const ready = new Set<AnyView>();
  /** The positions that reactions of this process wait for, by view. */
  const awaited = new Map<AnyView, Position>();
  /** The positions that projectors of this process have reached, by collection. They stay true after a move. */
  const reachedHere = new Map<string, Position>();
  /** The live collections as last known. While the registry cannot be read, a view lags from there on. */
  const lastLive = new Map<AnyView, string>();
  let ticks = 0;

  return {
    tick,
    reached: () => {
      noteReady();
      return ready.size === projections.length;
    },
    shows: ({ name }, position) => {
      const projection = projections.find((candidate) => candidate.name === name);
      if (projection === undefined) return false;
      if (isReached(positionOf(projection), position)) return true;
      const before = awaited.get(projection) ?? position;
      awaited.set(projection, before > position ? before : position);
      return false;
    },
    positionOf: lastPositionOf,
    unfed: () => standstill.longerThan(unfedAfterMs),
    lagMs: (projection) => heads.lagMs(lastPositionOf(projection)),
  };

  async function tick(): Promise<void> {
    ticks += 1;
    forgetShown();
    noteReachedHere();
    const elsewhere = projections.filter(isElsewhere);
    const isDue =
      awaited.size > 0 ||
      !isReady() ||
      suspects().length > 0 ||
      elsewhere.some((projection) => positionOf(projection) === null) ||
      ticks % checkpointTicks === 0;
    if (elsewhere.length > 0 && isDue) {
      await stored.refresh(elsewhere.flatMap((projection) => generations.knownLive(projection) ?? []));
      // A process that feeds a view knows the head from its own reading.
      if (elsewhere.length === projections.length) heads.note(await eventStore.head());
    }
    for (const projection of projections) heads.note(positionOf(projection));
    noteReady();
    noteStandstill();
    members.awaits(goal());
    saveForOthers();
  }

  /** Returns whether another process feeds the view. One that has stopped here is left to the others. */
  function isElsewhere(projection: AnyView): boolean {
    return (taskOf(projection)?.status().state ?? 'stopped') === 'stopped';
  }

  function noteReachedHere(): void {
    for (const projection of projections) {
      const collection = generations.knownLive(projection);
      const position = taskOf(projection)?.status().position ?? null;
      if (collection === null) continue;
      lastLive.set(projection, collection);
      if (position !== null) reachedHere.set(collection, position);
    }
  }

  function forgetShown(): void {
    for (const [projection, position] of awaited) {
      if (isReached(positionOf(projection), position)) awaited.delete(projection);
    }
  }

  /** Returns how far the live collection is: its projector here, or what another process has saved. */
  function positionOf(projection: AnyView): Position | null {
    const collection = generations.knownLive(projection);
    return collection === null ? null : positionIn(projection, collection);
  }

  /** Returns the position also while the registry cannot be read. */
  function lastPositionOf(projection: AnyView): Position | null {
    const collection = generations.knownLive(projection) ?? lastLive.get(projection) ?? null;
    return collection === null ? null : positionIn(projection, collection);
  }

  function positionIn(projection: AnyView, collection: string): Position | null {
    const here = taskOf(projection)?.status().position ?? reachedHere.get(collection) ?? null;
    const saved = stored.of(collection);
    return here !== null && isReached(here, saved) ? here : saved;
  }

  function noteReady(): void {
    for (const projection of projections) {
      const collection = generations.knownLive(projection);
      if (collection === null || ready.has(projection)) continue;
      // The projector of this process also checks that the log is the one of the checkpoint.
      const isThere = isElsewhere(projection)
        ? isReached(stored.of(collection), startHead)
        : taskOf(projection)?.status().state === 'live';
      // Readers fold what a held collection lacks.
      if (isThere || deps.held?.has(collection) === true) ready.add(projection);
    }
  }

  function isReady(): boolean {
    return ready.size === projections.length;
  }

  function noteStandstill(): void {
    for (const projection of projections) {
      const part = partOf(projection);
      const position = positionOf(projection);
      const isJudged = isElsewhere(projection) && generations.knownLive(projection) !== null;
      if (isJudged) standstill.note(part, position, !isReached(position, heads.head()));
      else standstill.forget(part);
    }
    // A reaction saves no mark while its events wait, so the reports of the live processes count.
    const fed = new Set(members.live().flatMap(({ feeds }) => feeds));
    // Also those that have stopped here: no process may be left that can run them. No receiver of events makes the service
    // unready, so endpoints do not count.
    for (const part of members.declared().filter(isReactionPart)) standstill.note(part, null, !fed.has(part));
  }

  function suspects(): readonly unknown[] {
    return standstill.longerThan(suspectAfterMs);
  }

  /** Returns the furthest position that this process awaits in checkpoints that others save. */
  function goal(): Position | null {
    const positions = [
      ...awaited.values(),
      ...(isReady() ? [] : [startHead]),
      ...(suspects().length > 0 ? [heads.head()] : []),
    ].filter((position) => position !== null);
    return positions.length === 0 ? null : positions.reduce((one, other) => (one > other ? one : other));
  }

  /** Saves the checkpoints that other processes await. */
  function saveForOthers(): void {
    const goals = members.live().flatMap((member) => (member.id === members.id ? [] : (member.goal ?? [])));
    for (const projection of projections) {
      for (const position of goals) taskOf(projection)?.saveFor(position);
    }
  }
}

function partOf(projection: AnyView): string {
  return viewPart(viewVersion(projection));
}
