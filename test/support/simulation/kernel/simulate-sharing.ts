import { isDeepStrictEqual } from 'node:util';
import type { Random } from '../../../../src/event-sourcing/ports/clock.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../../src/event-sourcing/ports/read-model-store.js';
import { type AnyProjection, collectionName } from '../../../../src/event-sourcing/views/projection.js';
import { makeSeededRandom } from '../../fakes/clock.js';
import { counterLabelsProjection, countersProjection } from '../../examples/counter-views.js';
import { makeMemoryEventStore } from '../../fakes/memory-event-store.js';
import { makeMemoryReadModelStore } from '../../fakes/memory-read-model-store.js';
import { makeMemoryStateStore } from '../../fakes/memory-state-store.js';
import { foldOfLog, storedDocuments } from './expected-documents.js';
import { type SimulatedProcess, startSimulatedProcess } from './simulated-process.js';
import { makeVirtualClock, type VirtualClock } from './virtual-clock.js';
import { watchReadModels } from './watched-read-models.js';
import { writeCounters } from './write-counters.js';

/** Several views, so that a process that dies feeds some of them. */
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
  /** Processes that were frozen or killed. */
  readonly disturbed: number;
  /** The longest time, in whole seconds, for which an event was missing in a view. */
  readonly behindSecondsMax: number;
}

interface World {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly log: EventStore;
  readonly documents: ReadModelStore;
  readonly start: () => SimulatedProcess;
  readonly processes: SimulatedProcess[];
  readonly frozen: Set<SimulatedProcess>;
}

/**
 * Runs one history from a seed: in each round some of two to five processes are frozen, killed, stopped or started, and at
 * least one of those that ran stays, while the log grows and only the projectors write documents. At every second each
 * view contains the events that are older than 15 s. At the end the views are the fold of the log, and each view has one
 * feeder.
 */
export async function simulateSharing(seed: number, rounds: number): Promise<SimulatedSharing> {
  const random = makeSeededRandom(seed);
  const clock = makeVirtualClock();
  const log = makeMemoryEventStore({ clock, random });
  const stateStore = makeMemoryStateStore({ clock });
  let problem: string | null = null;
  const { store: documents } = watchReadModels(makeMemoryReadModelStore(), { log, projections }, (error) => {
    problem ??= error.message;
  });
  let started = 0;
  const start = (): SimulatedProcess =>
    startSimulatedProcess({
      ...{ clock, random, eventStore: log, readModelStore: documents, stateStore, projections },
      id: `process ${(started += 1)} of ${seed}`,
      plan: () => ({ fault: null, delayMs: Math.floor(random() * 20), lateMs: 0 }),
      pageSize: 50,
    });
  const processes = Array.from({ length: 2 + Math.floor(random() * 4) }, start);
  const world: World = { clock, random, log, documents, start, processes, frozen: new Set() };
  await writeCounters(log, { counters: 3, additions: 1 });
  await clock.advance(10_000);

  let round = 0;
  let disturbed = 0;
  let behindMs = 0;
  for (; round < rounds && problem === null; round += 1) {
    disturbed += await disturb(world);
    // Longer than the hand-over, so that the next round disturbs processes that have settled.
    const seconds = 16 + Math.floor(random() * 10);
    for (let second = 0; second < seconds; second += 1) {
      if (random() < 0.5) await writeCounters(log, { counters: 3, additions: 1, more: true });
      await clock.advance(1_000);
      behindMs = Math.max(behindMs, await oldestMissingMs(world));
      if (behindMs > behindMsMax) problem ??= `round ${round}: a view is ${behindMs} ms behind`;
    }
  }
  for (const process of world.frozen) process.resume();
  await clock.advance(20_000);
  problem ??= await findProblem(world);
  await clock.run(Promise.all(processes.map((process) => process.stop())));
  return { problem, rounds: round, disturbed, behindSecondsMax: Math.floor(behindMs / 1_000) };
}

/** Disturbs some processes, and lets at least one that runs be. @returns the number of disturbed processes */
async function disturb({ clock, random, processes, frozen, start }: World): Promise<number> {
  for (const process of [...frozen]) {
    if (random() < 0.5) continue;
    process.resume();
    frozen.delete(process);
  }
  if (processes.length - frozen.size < 2) processes.push(start());
  // A process that has just started or continued is no substitute yet.
  await clock.advance(8_000);
  const running = processes.filter((process) => !frozen.has(process));
  const victims = running.slice(1).filter(() => random() < 0.5);
  for (const victim of victims) {
    await clock.advance(Math.floor(random() * 300));
    const chance = random();
    if (chance < 0.4) {
      victim.pause();
      frozen.add(victim);
      continue;
    }
    processes.splice(processes.indexOf(victim), 1);
    if (chance < 0.8) victim.kill();
    else await clock.run(victim.stop());
    if (random() < 0.7) processes.push(start());
  }
  // Any of them may be the one that stays in the next round.
  processes.sort(() => random() - 0.5);
  return victims.length;
}

/** Returns the age of the oldest event that a live collection lacks; 0 when it lacks none. */
async function oldestMissingMs({ clock, log, documents }: World): Promise<number> {
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

async function findProblem({ log, documents, processes }: World): Promise<string | null> {
  for (const projection of projections) {
    const collection = collectionName(projection, 1);
    const expected = await foldOfLog(log, projection);
    if (!isDeepStrictEqual(await storedDocuments(documents, collection), expected)) {
      return `${collection} is not the fold of the log`;
    }
    const feeders = processes.filter((process) => process.feeds().includes(collection));
    if (feeders.length !== 1) return `${feeders.length} processes feed ${collection} at rest`;
  }
  const reports = processes.flatMap((process) => process.running()?.reports ?? []);
  return reports.find((report) => report.startsWith('stopped')) ?? null;
}
