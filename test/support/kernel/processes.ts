import type { Clock } from '../../../src/kit/time/clock.js';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { AnyReaction } from '../../../src/event-sourcing/effects/reaction.js';
import {
  type ReactionRunner,
  type ReactionStatus,
  startReactions,
} from '../../../src/event-sourcing/effects/reaction-runner.js';
import { type Projection, collectionName } from '../../../src/event-sourcing/views/projection.js';
import type { ProjectionRunner } from '../../../src/event-sourcing/feeding/projectors/projection-runner.js';
import { feederKey, makeLease } from '../../../src/event-sourcing/feeding/consumers/lease.js';
import {
  type FaultPlan,
  faultyEventStore,
  faultyReadModelStore,
  faultyStateStore,
  readerOf,
} from './faulty-stores.js';
import { type GivenProcess, givenProcess, type World, foldOf } from './world.js';
import { isDeepStrictEqual } from 'node:util';
import type { GenerationRecord } from '../../../src/event-sourcing/views/generations/generations.js';
import type { ReadModelStore, StoredDocument } from '../../../src/event-sourcing/ports/read-model-store.js';
import { getRecord, loadCheckpoint, recordsCollection } from '../../../src/event-sourcing/ports/records.js';

/** A process of the service over shared stores. A test can pause and end it. */
export interface SimulatedProcess {
  readonly id: string;
  /** Returns null before it has started, which faults may delay, and after it was killed. */
  readonly running: () => GivenProcess | null;
  /** Pauses the process at its store calls, in the middle of its work. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** SIGKILL: the process has no further effect. What has left it goes on. */
  readonly kill: () => void;
  readonly stop: () => Promise<void>;
  /** Returns the collections that the process feeds, and the names of the reactions that it runs. */
  readonly feeds: () => readonly string[];
  /** Returns the statuses of the reactions that it runs. */
  readonly statuses: () => readonly ReactionStatus[];
  /** The reports of the process, also of one that was killed. */
  readonly reports: () => readonly string[];
}

/** What the reactions of a simulated process need of it. */
export interface ReactingProcess {
  readonly id: string;
  /** The timers of a paused process do not fire until it continues. */
  readonly clock: Clock;
  readonly eventStore: EventStore;
  /** Resolves while the process runs, waits while it is paused, and rejects after it was killed. */
  readonly gate: () => Promise<void>;
  readonly statuses: () => readonly ReactionStatus[];
}

interface ProcessDeps extends World {
  readonly id: string;
  /** Default: the two views of the counters. */
  readonly projections?: readonly Projection[];
  /** Makes the reactions of the process. Default: none. */
  readonly reactions?: (process: ReactingProcess) => readonly AnyReaction[];
  readonly plan: FaultPlan;
  readonly pageSize: number;
  /** Default: that of production. */
  readonly aheadMax?: number;
}

export function startSimulatedProcess(deps: ProcessDeps): SimulatedProcess {
  const { id, random, pageSize } = deps;
  let killed = false;
  let stopping = false;
  let paused: Promise<void> | null = null;
  let resume = (): void => undefined;
  let process: GivenProcess | null = null;
  let runner: ProjectionRunner | null = null;
  let reactions: ReactionRunner | null = null;
  const plan: FaultPlan = (operation) =>
    killed ? { fault: 'before', delayMs: 0, lateMs: 0 } : deps.plan(operation);
  const gate = async (): Promise<void> => {
    while (paused !== null) await paused;
    if (killed) throw new StoreUnavailable('the process is gone');
  };
  const clock: Clock = {
    now: () => deps.clock.now(),
    steadyMs: () => deps.clock.steadyMs(),
    sleep: async (ms, signal) => {
      await deps.clock.sleep(ms, signal);
      while (paused !== null) await paused;
    },
  };
  const statuses = (): readonly ReactionStatus[] => (killed ? [] : (reactions?.statuses() ?? []));
  const connection = { clock: deps.clock, plan, gate };
  const eventStore = faultyEventStore(deps.eventStore, { ...connection, clock, random, pageSize });
  const readModelStore = faultyReadModelStore(deps.readModelStore, connection);
  const stateStore = faultyStateStore(deps.stateStore, connection);
  const lease = makeLease({ id, keyOf: feederKey, stateStore, clock, onRetry: () => undefined });
  const started = start();

  return {
    ...{ id, statuses },
    reports: () => process?.reports ?? [],
    feeds: () =>
      killed
        ? []
        : [
            ...(runner?.statuses() ?? []).map(({ collection }) => collection),
            ...statuses().map(({ name }) => name),
          ],
    running: () => (runner === null || killed ? null : process),
    pause: () => {
      paused ??= new Promise((resolve) => {
        resume = resolve;
      });
    },
    resume: () => {
      paused = null;
      resume();
    },
    kill: () => {
      killed = true;
      // Its work ends without an effect, and does not burden the rest of the history.
      void stop();
    },
    stop,
  };

  async function stop(): Promise<void> {
    stopping = true;
    await started;
    await Promise.all([runner?.stop(), reactions?.stop()]);
  }

  /** Starts the process as `main` does: it retries until the stores let it start. */
  async function start(): Promise<void> {
    while (!stopping && !killed) {
      try {
        process ??= await givenProcess({
          ...{ clock, random, eventStore, readModelStore, lease },
          ...(deps.projections === undefined ? {} : { projections: deps.projections }),
        });
        await process.generations.refresh();
        runner = await process.startProjections();
        react(process.reports);
        lease.start();
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        await clock.sleep(500);
      }
    }
  }

  function react(reports: string[]): void {
    const { aheadMax, reactions: made = () => [] } = deps;
    reactions = startReactions(
      {
        ...{ eventStore, readModelStore, stateStore, clock, random, holder: id, lease },
        ...(aheadMax === undefined ? {} : { aheadMax }),
      },
      made({ id, clock, eventStore, gate, statuses }),
      {
        onRetry: () => undefined,
        onStopped: (name, error) => reports.push(`stopped ${name}: ${String(error)}`),
        onQuarantined: (name, { reason }) => reports.push(`quarantined by ${name}: ${reason}`),
      },
    );
  }
}

interface WatchedReadModels {
  readonly store: ReadModelStore;
  /** Returns the number of applied writes. */
  readonly applied: () => number;
}

/**
 * Returns a read-model store that checks the documents after every operation: each is the fold of its stream up to its
 * revision, no revision falls, and no checkpoint is ahead of the documents.
 * Throws at the first violation.
 */
export function watchReadModels(
  store: ReadModelStore,
  { log, projections }: { readonly log: EventStore; readonly projections: readonly Projection[] },
  onBroken: (error: Error) => void,
): WatchedReadModels {
  let applied = 0;
  return {
    applied: () => applied,
    store: {
      ...store,
      write: async (collection, writes) => {
        if (collection === recordsCollection) {
          const saved = await store.write(collection, writes);
          for (const { document } of writes) {
            const reader = readerOf(document.id);
            // The checkpoints of reactions have no documents.
            if (reader !== null && !reader.startsWith('reaction/')) await checkCheckpoint(reader);
          }
          return saved;
        }
        const before = await store.getMany(
          collection,
          writes.map(({ document }) => document.id),
        );
        const outcomes = await store.write(collection, writes);
        applied += outcomes.filter((outcome) => outcome === 'applied').length;
        for (const { document } of writes) {
          const after = await store.get(collection, document.id);
          const earlier = before.find(({ id }) => id === document.id);
          if (after !== null) await checkDocument(collection, after, earlier ?? null);
        }
        return outcomes;
      },
    },
  };

  async function checkDocument(
    collection: string,
    document: StoredDocument,
    earlier: StoredDocument | null,
  ): Promise<void> {
    const projection = projectionOf(collection);
    if (earlier !== null && earlier.revision > document.revision) {
      broken(
        `${document.id} in ${collection} fell from revision ${earlier.revision} to ${document.revision}`,
      );
    }
    const { events } = await log.readAll({ after: null, limit: 1_000_000 });
    const stream = `${projection.category}-${document.id}`;
    const folded = events.filter((event) => event.stream === stream && event.revision <= document.revision);
    if (!isDeepStrictEqual(foldOf(projection, folded), [document])) {
      broken(`${document.id} in ${collection} is not the fold of its stream up to ${document.revision}`);
    }
  }

  async function checkCheckpoint(collection: string): Promise<void> {
    const projection = projectionOf(collection);
    const checkpoint = await loadCheckpoint(store, collection);
    // A late checkpoint of a dropped generation does no harm, because its number is never used again.
    if (checkpoint === null || !(await isActive(collection, projection))) return;
    const { events } = await log.readAll({ after: null, limit: 1_000_000 });
    const passed = events.filter(({ position }) => position <= checkpoint.position);
    for (const expected of foldOf(projection, passed)) {
      const stored = await store.get(collection, expected.id);
      if (stored === null || stored.revision < expected.revision) {
        broken(`the checkpoint of ${collection} is ahead of ${expected.id}`);
      }
    }
  }

  async function isActive(collection: string, projection: Projection): Promise<boolean> {
    const record = await getRecord(store, `generations/${projection.name}@${projection.version}`);
    if (record === null) return true;
    const { live, building, retiring } = record.value as unknown as GenerationRecord;
    return [live, building?.generation, retiring?.generation].some(
      (generation) => generation !== undefined && collectionName(projection, generation) === collection,
    );
  }

  function projectionOf(collection: string): Projection {
    const found = projections.find((projection) =>
      collection.startsWith(collectionName(projection, 1).slice(0, -1)),
    );
    if (found === undefined) throw new Error(`${collection} is of no projection`);
    return found;
  }

  function broken(what: string): never {
    const error = new Error(what);
    onBroken(error);
    throw error;
  }
}
