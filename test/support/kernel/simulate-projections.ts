import { isDeepStrictEqual } from 'node:util';
import type { Random } from '../../../src/kit/time/clock.js';
import type { GenerationRecord } from '../../../src/event-sourcing/views/generations/generations.js';
import { CommandRejected, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { Overloaded } from '../../../src/kit/semaphore.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { type Projection, collectionName } from '../../../src/event-sourcing/views/projection.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { requestRebuild } from '../../../src/event-sourcing/views/generations/rebuild.js';
import { pick, makeSeededRandom } from '../fakes/clock.js';
import { givenWorld, foldOfLog, storedDocuments, type GivenProcess } from './world.js';
import {
  contextOf,
  counterAggregate,
  type CounterCommand,
  counterLabelsProjection,
  countersProjection,
} from './counters.js';
import { type FaultPlan, noFaults, randomFaults } from './faulty-stores.js';
import { type SimulatedProcess, startSimulatedProcess, watchReadModels } from './processes.js';
import type { VirtualClock } from './virtual-clock.js';
import { getRecord, loadCheckpoint } from '../../../src/event-sourcing/ports/records.js';

const projections: readonly Projection[] = [countersProjection, counterLabelsProjection];

interface Simulated {
  /** The problem, or null. */
  readonly problem: string | null;
  readonly events: number;
  readonly rebuilt: number;
}

interface Scene {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly log: EventStore;
  readonly documents: ReadModelStore;
  readonly processes: SimulatedProcess[];
  readonly work: Promise<void>[];
  readonly broken: (what: string) => void;
  readonly startProcess: () => void;
  commands: number;
}

/**
 * Runs one history from a seed: two or more processes, of which some are killed and others started, take commands on a
 * few counters and feed both views, under faults, delays, long pauses and rebuilds. Then the faults end, and the views
 * must become the fold of the log. Invariants of every moment are checked after every operation.
 */
export async function simulateProjections(seed: number): Promise<Simulated> {
  const memory = givenWorld(seed);
  const { clock, random, eventStore: log } = memory;
  const found: { problem: string | null } = { problem: null };
  const broken = (what: string): void => {
    found.problem ??= what;
  };
  const { store: documents } = watchReadModels(memory.readModelStore, { log, projections }, (error) => {
    broken(error.message);
  });
  const faults = randomFaults(random, {
    rate: pick(random, [0, 0.01, 0.05, 0.2]),
    delayMsMax: pick(random, [1, 20, 300]),
  });
  let faulty = true;
  const plan: FaultPlan = (operation) => (faulty ? faults(operation) : noFaults(operation));
  const pageSize = pick(random, [1, 2, 5, 50]);
  const processes: SimulatedProcess[] = [];
  const startProcess = (): void => {
    processes.push(
      startSimulatedProcess({
        ...{ ...memory, readModelStore: documents, plan, pageSize },
        id: `process ${processes.length}`,
      }),
    );
  };
  const world: Scene = {
    ...{ clock, random, log, documents, processes, broken, startProcess },
    ...{ work: [], commands: 0 },
  };
  startProcess();
  startProcess();
  const steps = 30 + Math.floor(random() * 90);
  for (let step = 0; step < steps && found.problem === null; step += 1) {
    await clock.advance(Math.floor(random() ** 3 * 4_000));
    act(world);
  }
  faulty = false;
  for (const process of processes) process.resume();
  await clock.run(Promise.all(world.work));
  // Late effects come within 20 s, and the phases of two rebuilds take less than 120 s.
  await clock.advance(180_000);
  found.problem ??= await findDifference(world);
  await clock.run(Promise.all(processes.map((process) => process.stop())));
  if (clock.sleepers > 0) broken(`${clock.sleepers} still wait after the stop`);
  const { events } = await log.readAll({ after: null, limit: 1_000_000 });
  const { live } = await recordOf(documents, countersProjection);
  return { problem: found.problem, events: events.length, rebuilt: live - 1 };
}

/** Makes one thing happen, mostly a command. */
function act(world: Scene): void {
  const { random, processes, work, startProcess } = world;
  const process = pick(random, processes);
  const chance = random();
  const running = process.running();
  if (chance < 0.08) {
    process.pause();
  } else if (chance < 0.2) {
    process.resume();
  } else if (chance < 0.24) {
    process.kill();
    process.resume();
    startProcess();
  } else if (chance < 0.3 && running !== null) {
    work.push(rebuild(world, running));
  } else if (running !== null) {
    const n = random() < 0.2 ? Math.floor(random() * world.commands) : (world.commands += 1);
    work.push(command(world, running, n));
  }
}

async function rebuild({ clock, broken }: Scene, { generations }: GivenProcess): Promise<void> {
  try {
    await requestRebuild(generations, countersProjection, clock.now());
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) broken(`rebuild: ${String(error)}`);
  }
}

/** Returns the n-th command, which is always the same one. A lower n is a repetition. */
function commandOf(n: number): {
  readonly id: string;
  readonly command: CounterCommand;
  readonly revokesAccess: boolean;
} {
  const random = makeSeededRandom(n);
  const id = `c${Math.floor(random() * 4)}`;
  const kind = random();
  const amounts = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, index) => index + n);
  const command: CounterCommand =
    kind < 0.3
      ? { type: 'Open', label: `label ${n}` }
      : kind < 0.95
        ? { type: 'Add', operation: `o${n}`, amounts }
        : { type: 'Close' };
  return { id, command, revokesAccess: random() < 0.4 };
}

async function command(world: Scene, { handler }: GivenProcess, n: number): Promise<void> {
  const { id, command: what, revokesAccess } = commandOf(n);
  try {
    const target = { aggregate: counterAggregate, id };
    const { revision } = await handler.handle(target, what, contextOf(n), { revokesAccess });
    if (revokesAccess && revision !== null) await everyProcessSees(world, id, revision);
  } catch (error) {
    const expected = [StoreUnavailable, Overloaded, CommandRejected].some((kind) => error instanceof kind);
    if (!expected) world.broken(`command ${n}: ${String(error)}`);
  }
}

/** Checks that every process reads the documents of a command that takes access away, once it has replied. */
async function everyProcessSees(
  { processes, documents, broken }: Scene,
  id: string,
  revision: bigint,
): Promise<void> {
  for (const process of processes) {
    for (const projection of projections) {
      const collection = liveCollection(process, projection);
      if (collection === null) continue;
      const stored = await documents.get(collection, id);
      if (stored === null || stored.revision < revision) {
        broken(`${id} in ${collection} lacks revision ${revision} after a reply that promised it`);
      }
    }
  }
}

function liveCollection(process: SimulatedProcess, projection: Projection): string | null {
  try {
    return process.running()?.generations.liveCollection(projection) ?? null;
  } catch (error) {
    if (error instanceof StoreUnavailable) return null;
    throw error;
  }
}

async function recordOf(documents: ReadModelStore, projection: Projection): Promise<GenerationRecord> {
  const stored = await getRecord(documents, `generations/${projection.name}@${projection.version}`);
  return stored?.value as unknown as GenerationRecord;
}

/** Returns a difference from the expected final state, or null. */
async function findDifference(world: Scene): Promise<string | null> {
  const { log, documents, processes } = world;
  const head = await log.head();
  for (const projection of projections) {
    const record = await recordOf(documents, projection);
    const live = collectionName(projection, record.live);
    if (record.building !== null || record.retiring !== null || record.dropping !== null) {
      return `the rebuild of ${projection.name} has not ended: ${JSON.stringify(record)}`;
    }
    const expected = await foldOfLog(log, projection);
    if (!isDeepStrictEqual(await storedDocuments(documents, live), expected)) {
      return `${live} is not the fold of the log`;
    }
    const checkpoint = await loadCheckpoint(documents, live);
    if (checkpoint !== null && head !== null && checkpoint.position > head)
      return `${live} is ahead of the log`;
  }
  const stopped = processes.flatMap(
    (process) => process.running()?.reports.filter((report) => report.startsWith('stopped')) ?? [],
  );
  return stopped[0] ?? null;
}
