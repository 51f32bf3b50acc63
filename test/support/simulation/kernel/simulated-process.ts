import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { AnyReaction } from '../../../../src/event-sourcing/reacting/reaction.js';
import {
  type ReactionRunner,
  startReactions,
} from '../../../../src/event-sourcing/reacting/reaction-runner.js';
import type { AnyProjection } from '../../../../src/event-sourcing/views/projection.js';
import type { ProjectionRunner } from '../../../../src/event-sourcing/views/projection-runner.js';
import { makeMembers } from '../../../../src/event-sourcing/sharing/members.js';
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
  /** Ends the effects of the process. */
  readonly kill: () => void;
  readonly stop: () => Promise<void>;
  /** Returns the collections that the process feeds, and the names of the reactions that it runs. */
  readonly feeds: () => readonly string[];
}

/** What the reactions of a simulated process need of it. */
export interface ReactingProcess {
  readonly id: string;
  readonly eventStore: EventStore;
  /** Resolves while the process runs, waits while it is paused, and rejects after it was killed. */
  readonly gate: () => Promise<void>;
}

interface ProcessDeps extends World {
  readonly id: string;
  /** Default: the two views of the counters. */
  readonly projections?: readonly AnyProjection[];
  /** Makes the reactions of the process. Default: none. */
  readonly reactions?: (process: ReactingProcess) => readonly AnyReaction[];
  readonly plan: FaultPlan;
  readonly pageSize: number;
}

export function startSimulatedProcess(deps: ProcessDeps): SimulatedProcess {
  const { clock, random, pageSize } = deps;
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
  const connection = { clock, plan, gate };
  const eventStore = faultyEventStore(deps.eventStore, { ...connection, random, pageSize });
  const readModelStore = faultyReadModelStore(deps.readModelStore, connection);
  const stateStore = faultyStateStore(deps.stateStore, connection);
  const members = makeMembers({ id: deps.id, stateStore, clock, onRetry: () => undefined });
  const started = start();

  return {
    id: deps.id,
    feeds: () =>
      killed
        ? []
        : [
            ...(runner?.statuses() ?? []).map(({ collection }) => collection),
            ...(reactions?.statuses() ?? []).map(({ name }) => name),
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
    },
    stop: async () => {
      stopping = true;
      await started;
      await Promise.all([runner?.stop(), reactions?.stop()]);
    },
  };

  /** Starts the process as `main` does: it retries until the stores let it start. */
  async function start(): Promise<void> {
    while (!stopping && !killed) {
      try {
        process ??= await givenProcess({
          ...{ clock, random, eventStore, readModelStore, members },
          ...(deps.projections === undefined ? {} : { projections: deps.projections }),
        });
        await process.generations.refresh();
        runner = await process.startProjections();
        react(process.reports);
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        await clock.sleep(500);
      }
    }
  }
  function react(reports: string[]): void {
    const { clock, random, id } = deps;
    const made = deps.reactions?.({ id, eventStore, gate }) ?? [];
    reactions = startReactions(
      { eventStore, readModelStore, stateStore, clock, random, holder: id, members },
      made,
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
