import { type Clock, steadyMsOf } from '../../../../src/kit/time/clock.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { AnyReaction } from '../../../../src/event-sourcing/effects/reaction.js';
import {
  type ReactionRunner,
  type ReactionStatus,
  startReactions,
} from '../../../../src/event-sourcing/effects/reaction-runner.js';
import type { AnyProjection } from '../../../../src/event-sourcing/views/projection.js';
import type { ProjectionRunner } from '../../../../src/event-sourcing/feeding/projectors/projection-runner.js';
import { feederKey, makeLease } from '../../../../src/event-sourcing/feeding/consumers/lease.js';
import type { FaultPlan } from './faults.js';
import { faultyEventStore, faultyReadModelStore, faultyStateStore } from './faulty-stores.js';
import { type GivenProcess, givenProcess } from './given-process.js';
import type { World } from '../../given/given-world.js';

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
  readonly projections?: readonly AnyProjection[];
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
    steadyMs: () => steadyMsOf(deps.clock),
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
        onStopped: (name, error) => {
          reports.push(`stopped ${name}: ${String(error)}`);
        },
        onSetApart: (name, { reason }) => {
          reports.push(`set apart by ${name}: ${reason}`);
        },
      },
    );
  }
}
