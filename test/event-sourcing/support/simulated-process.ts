import type { Clock, Random } from '../../../src/event-sourcing/clock.js';
import { StoreUnavailable } from '../../../src/event-sourcing/errors.js';
import type { EventStore } from '../../../src/event-sourcing/event-store.js';
import type { ProjectionRunner } from '../../../src/event-sourcing/projection-runner.js';
import type { ReadModelStore } from '../../../src/event-sourcing/read-model-store.js';
import type { FaultPlan } from './faults.js';
import { faultyEventStore, faultyReadModelStore } from './faulty-stores.js';
import { type GivenProcess, givenProcess } from './given-process.js';

/** A process of the service over shared stores, that a test can hold still and end. */
export interface SimulatedProcess {
  /** Null until it has started, which faults may put off, and after it was killed. */
  readonly running: () => GivenProcess | null;
  /** Holds all that it does with the stores, in the middle of whatever it is doing. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** From now on nothing that it does has an effect. */
  readonly kill: () => void;
  readonly stop: () => Promise<void>;
}

export function startSimulatedProcess(deps: {
  readonly clock: Clock;
  readonly random: Random;
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly plan: FaultPlan;
  readonly pageSize: number;
}): SimulatedProcess {
  const { clock, random, pageSize } = deps;
  let killed = false;
  let stopping = false;
  let paused: Promise<void> | null = null;
  let resume = (): void => undefined;
  let process: GivenProcess | null = null;
  let runner: ProjectionRunner | null = null;
  const plan: FaultPlan = (operation) =>
    killed ? { fault: 'before', delayMs: 0, lateMs: 0 } : deps.plan(operation);
  const gate = async (): Promise<void> => {
    while (paused !== null) await paused;
    if (killed) throw new StoreUnavailable('the process is gone');
  };
  const connection = { clock, plan, gate };
  const eventStore = faultyEventStore(deps.eventStore, { ...connection, random, pageSize });
  const readModelStore = faultyReadModelStore(deps.readModelStore, connection);
  const started = start();

  return {
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
      await runner?.stop();
    },
  };

  /** What `main` does: it tries again until the stores let it start. */
  async function start(): Promise<void> {
    while (!stopping && !killed) {
      try {
        process ??= await givenProcess({ clock, random, eventStore, readModelStore });
        await process.generations.refresh();
        runner = await process.startProjections();
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        await clock.sleep(500);
      }
    }
  }
}
