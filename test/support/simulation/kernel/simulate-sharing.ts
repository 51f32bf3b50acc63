import { isDeepStrictEqual } from 'node:util';
import type { Random } from '../../../../src/kit/time/clock.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../../src/event-sourcing/ports/read-model-store.js';
import { type AnyProjection, collectionName } from '../../../../src/event-sourcing/views/projection.js';
import { counterLabelsProjection, countersProjection } from '../../examples/counter-views.js';
import { foldOfLog, storedDocuments } from './expected-documents.js';
import { type SharedParcels, shareParcels } from './shared-parcels.js';
import { type SimulatedProcess, startSimulatedProcess } from './simulated-process.js';
import type { VirtualClock } from './virtual-clock.js';
import { watchReadModels } from './watched-read-models.js';
import { writeCounters } from './write-counters.js';
import { givenWorld } from '../../given/given-world.js';

const projections: readonly AnyProjection[] = [
  countersProjection,
  counterLabelsProjection,
  { ...countersProjection, name: 'totals' },
  { ...counterLabelsProjection, name: 'names' },
];

/** An event older than this must be in the views of its stream. */
const behindMsMax = 15_000;

export interface SimulatedSharing {
  /** The problem, or null. */
  readonly problem: string | null;
  readonly rounds: number;
  /** Processes that were frozen, killed or stopped. */
  readonly disturbed: number;
  /** Those of them that fed. */
  readonly disturbedFeeders: number;
  /** Effects of the reactions, and how many of these were repetitions. */
  readonly effects: number;
  readonly repeated: number;
  /** The longest time, in whole seconds, for which an event was missing in a view. */
  readonly behindSecondsMax: number;
}

interface Scene {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly log: EventStore;
  readonly documents: ReadModelStore;
  readonly parcels: SharedParcels;
  readonly start: () => SimulatedProcess;
  readonly processes: SimulatedProcess[];
  readonly frozen: Set<SimulatedProcess>;
  readonly sum: { disturbed: number; disturbedFeeders: number };
}

/**
 * Runs one history from a seed: in each round some of two to five processes are frozen, killed, stopped or started, mostly
 * the one that feeds, and at least one of those that ran stays, while the log grows and only the projectors write
 * documents. At every second each view contains the events that are older than 15 s. At the end the views are the fold of
 * the log, each request to a reaction has one outcome, and each view and each reaction has one feeder.
 */
export async function simulateSharing(seed: number, rounds: number): Promise<SimulatedSharing> {
  const memory = givenWorld(seed);
  const { clock, random, eventStore: log } = memory;
  let problem: string | null = null;
  const { store: documents } = watchReadModels(memory.readModelStore, { log, projections }, (error) => {
    problem ??= error.message;
  });
  const parcels = await shareParcels(memory);
  let started = 0;
  const start = (): SimulatedProcess =>
    startSimulatedProcess({
      ...{ ...memory, readModelStore: documents, projections },
      reactions: parcels.reactionsOf,
      id: `process ${(started += 1)} of ${seed}`,
      plan: () => ({ fault: null, delayMs: Math.floor(random() * 20), lateMs: 0 }),
      pageSize: 50,
    });
  const processes = Array.from({ length: 2 + Math.floor(random() * 4) }, start);
  const world: Scene = {
    ...{ clock, random, log, documents, parcels, start, processes },
    frozen: new Set(),
    sum: { disturbed: 0, disturbedFeeders: 0 },
  };
  await writeCounters(log, { counters: 3, additions: 1 });
  await clock.advance(10_000);

  let round = 0;
  let behindMs = 0;
  for (; round < rounds && problem === null; round += 1) {
    await disturb(world);
    // Longer than the hand-over, so that the next round disturbs processes that have settled.
    const seconds = 16 + Math.floor(random() * 10);
    for (let second = 0; second < seconds; second += 1) {
      if (random() < 0.5) await writeCounters(log, { counters: 3, additions: 1, more: true });
      if (random() < 0.3) await parcels.ask();
      await clock.advance(1_000);
      behindMs = Math.max(behindMs, await oldestMissingMs(world));
      if (behindMs > behindMsMax) problem ??= `round ${round}: a view is ${behindMs} ms behind`;
    }
  }
  for (const process of world.frozen) process.resume();
  // A process that was killed holds the claim of its effect for a minute.
  await clock.advance(100_000);
  problem ??= (await findProblem(world)) ?? (await parcels.findProblem());
  await clock.run(Promise.all(processes.map((process) => process.stop())));
  const behindSecondsMax = Math.floor(behindMs / 1_000);
  return { problem, rounds: round, behindSecondsMax, ...world.sum, ...parcels.sum() };
}

/** Disturbs some processes, and lets at least one that runs be. */
async function disturb({ clock, random, processes, frozen, start, parcels, sum }: Scene): Promise<void> {
  for (const process of [...frozen]) {
    if (random() < 0.5) continue;
    process.resume();
    frozen.delete(process);
  }
  if (processes.length - frozen.size < 2) processes.push(start());
  // A process that has just started or continued is no substitute yet.
  await clock.advance(8_000);
  const running = processes.filter((process) => !frozen.has(process));
  const feeders = running.filter((process) => process.feeds().length > 0);
  const others = running.filter((process) => !feeders.includes(process)).sort(() => random() - 0.5);
  const [, ...rest] = [...others, ...feeders];
  for (const victim of rest.filter((process) => random() < (feeders.includes(process) ? 0.8 : 0.4))) {
    // An effect is under way at most disturbances.
    await parcels.ask();
    await clock.advance(Math.floor(random() * 2_000));
    sum.disturbed += 1;
    if (feeders.includes(victim)) sum.disturbedFeeders += 1;
    const chance = random();
    if (chance < 0.4) {
      victim.pause();
      parcels.disturbed(victim);
      frozen.add(victim);
      continue;
    }
    processes.splice(processes.indexOf(victim), 1);
    if (chance < 0.8) {
      victim.kill();
      parcels.disturbed(victim);
    } else {
      await clock.run(victim.stop());
    }
    if (random() < 0.7) processes.push(start());
  }
}

/** Returns the age of the oldest event that a live collection lacks; 0 when it lacks none. */
async function oldestMissingMs({ clock, log, documents }: Scene): Promise<number> {
  const { events } = await log.readAll({ after: null, limit: 1_000_000 });
  const nowMs = clock.now().getTime();
  let oldestMs = 0;
  for (const projection of projections) {
    const stored = await storedDocuments(documents, collectionName(projection, 1));
    const revisions = new Map(stored.map(({ id, revision }) => [id, revision]));
    const missing = events.find(({ stream, revision }) => {
      const id = stream.slice(projection.category.length + 1);
      return stream.startsWith(`${projection.category}-`) && (revisions.get(id) ?? -1n) < revision;
    });
    if (missing !== undefined) oldestMs = Math.max(oldestMs, nowMs - missing.recordedAt.getTime());
  }
  return oldestMs;
}

async function findProblem({ log, documents, processes }: Scene): Promise<string | null> {
  const reports = processes.flatMap((process) => process.running()?.reports ?? []);
  const stopped = reports.find((report) => report.startsWith('stopped'));
  if (stopped !== undefined) return stopped;
  for (const projection of projections) {
    const collection = collectionName(projection, 1);
    const expected = await foldOfLog(log, projection);
    if (!isDeepStrictEqual(await storedDocuments(documents, collection), expected)) {
      return `${collection} is not the fold of the log`;
    }
  }
  const parts = [
    ...projections.map((projection) => collectionName(projection, 1)),
    ...['send-parcels', 'count-parcels'],
  ];
  for (const part of parts) {
    const feeders = processes.filter((process) => process.feeds().includes(part));
    if (feeders.length !== 1) return `${feeders.length} processes feed ${part} at rest`;
  }
  return null;
}
