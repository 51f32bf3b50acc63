import { isDeepStrictEqual } from 'node:util';
import { type Projection, collectionName } from '../../../src/event-sourcing/views/projection.js';
import { counterLabelsProjection, countersProjection, writeCounters } from './counters.js';
import type { FaultPlan } from './faulty-stores.js';
import { type SimulatedProcess, startSimulatedProcess, watchReadModels } from './processes.js';
import { shareParcels } from './reactions.js';
import { foldOfLog, givenWorld, storedDocuments } from './world.js';

const projections: readonly Projection[] = [
  countersProjection,
  counterLabelsProjection,
  { ...countersProjection, name: 'totals' },
  { ...counterLabelsProjection, name: 'names' },
];
/** An event older than this must be in the views of its stream. */
const behindMsMax = 15_000;
const outageMsMax = 8_000;
const stateOperations = ['get', 'compareAndSet', 'list'];
/** A claim of 60 s covers an effect of 2 s between clocks that differ by this much. */
const skewMsMax = 10_000;

/** A process whose state store and wall clock the simulation controls. */
interface Struck {
  readonly process: SimulatedProcess;
  readonly trouble: { downUntilMs: number; skewMs: number };
}

type Blow = (victim: Struck) => void | Promise<void>;

interface SimulatedSharing {
  /** The problem, or null. */
  readonly problem: string | null;
  readonly rounds: number;
  /** The blows, and how many of them hit a feeder. */
  readonly struck: number;
  readonly struckFeeders: number;
  /** The most feeders at once, of those that ran. */
  readonly ownersMax: number;
  /** The longest time for which an event was missing in a view. */
  readonly behindMsMax: number;
  /** Effects of the reactions, and how many of these were repetitions. */
  readonly effects: number;
  readonly repeated: number;
}

/**
 * Runs one history from a seed: two to five processes share a lease, four views and two reactions. In half of the rounds several
 * are frozen, killed or stopped, mostly the one that feeds, and at least one of those that ran stays. In the others one is,
 * or it loses the state store for up to 8 s, as all may, or wall clocks are set. The log grows, and only the projectors write
 * documents. At every second each view contains the events that are older than 15 s. At the end the views are the fold of the
 * log, each request to a reaction has one outcome, and one process feeds each view and each reaction.
 */
export async function simulateSharing(seed: number, rounds: number): Promise<SimulatedSharing> {
  const memory = givenWorld(seed);
  const { clock, random, eventStore: log } = memory;
  const problems: string[] = [];
  const { store: readModelStore } = watchReadModels(memory.readModelStore, { log, projections }, (error) => {
    problems.push(error.message);
  });
  const parcels = await shareParcels(memory);
  const nowMs = (): number => clock.steadyMs();
  const below = (max: number): number => Math.floor(random() * max);
  const processes: Struck[] = [];
  const frozen = new Set<Struck>();
  /** When the log reached so many events. */
  const grown: { readonly events: number; readonly atMs: number }[] = [];
  const sum = { struck: 0, struckFeeders: 0, ownersMax: 0, behindMsMax: 0 };
  let [started, downUntilMs, round] = [0, 0, 0];
  const isRight = (): boolean => problems.length === 0;

  for (let n = 2 + below(4); n > 0; n -= 1) start();
  await writeCounters(log, { counters: 3, additions: 1 });
  await clock.advance(10_000);
  for (; round < rounds && isRight(); round += 1) {
    await recover();
    await strike();
    // Longer than a takeover, so that the next round strikes processes that have settled.
    for (let seconds = 16 + below(10); seconds > 0 && isRight(); seconds -= 1) await passSecond();
  }
  for (const one of frozen) one.process.resume();
  // A process that was killed holds the claim of its effect for a minute, and a step of the clock for longer.
  await clock.advance(200_000);
  problems.push(...[await findProblem(), await parcels.findProblem()].filter((found) => found !== null));
  await clock.run(Promise.all(processes.map(({ process }) => process.stop())));
  return { problem: problems[0] ?? null, rounds: round, ...sum, ...parcels.sum() };

  function start(): void {
    const trouble = { downUntilMs: 0, skewMs: 0 };
    const plan: FaultPlan = (operation) => {
      const isDown =
        nowMs() < Math.max(downUntilMs, trouble.downUntilMs) && stateOperations.includes(operation);
      return { fault: isDown ? 'before' : null, delayMs: below(20), lateMs: 0 };
    };
    const own = { ...clock, now: () => new Date(clock.now().getTime() + trouble.skewMs) };
    const process = startSimulatedProcess({
      ...{ ...memory, readModelStore, clock: own, projections, plan, pageSize: 50 },
      reactions: parcels.reactionsOf,
      id: `process ${(started += 1)} of ${seed}`,
    });
    processes.push({ process, trouble });
  }

  function isFeeding({ process }: Struck): boolean {
    return process.feeds().length > 0;
  }

  function running(): readonly Struck[] {
    return processes.filter((one) => !frozen.has(one));
  }

  /** Lets some of the frozen processes go on, and sees to it that two run. */
  async function recover(): Promise<void> {
    for (const one of [...frozen].filter(() => random() < 0.5)) {
      one.process.resume();
      frozen.delete(one);
    }
    while (running().length < 2) start();
    // A process that has just started or continued is no substitute yet.
    await clock.advance(8_000);
  }

  async function strike(): Promise<void> {
    const candidates = running();
    const feeders = candidates.filter(isFeeding);
    if (random() < 0.5) {
      const others = candidates.filter((one) => !feeders.includes(one)).sort(() => random() - 0.5);
      const [, ...rest] = [...others, ...feeders];
      const victims = rest.filter((one) => random() < (feeders.includes(one) ? 0.8 : 0.4));
      for (const victim of victims) await hit(victim, [kill, freeze, kill, freeze, end]);
      return;
    }
    // A process may die while the state store is away.
    if (random() < 0.1) loseStore();
    const victim = random() < 0.8 ? (feeders[0] ?? candidates[0]) : candidates[below(candidates.length)];
    if (victim === undefined) throw new Error('no process runs');
    await hit(victim, [kill, kill, freeze, freeze, end, loseOwnStore, loseStore, setClock, setClocks]);
  }

  async function hit(victim: Struck, blows: readonly Blow[]): Promise<void> {
    // An effect is under way at most blows.
    await parcels.ask();
    await clock.advance(below(2_000));
    sum.struck += 1;
    if (isFeeding(victim)) sum.struckFeeders += 1;
    await blows[below(blows.length)]?.(victim);
  }

  function kill(victim: Struck): void {
    remove(victim);
    victim.process.kill();
    parcels.disturbed(victim.process);
  }

  async function end(victim: Struck): Promise<void> {
    remove(victim);
    await clock.run(victim.process.stop());
  }

  function remove(victim: Struck): void {
    processes.splice(processes.indexOf(victim), 1);
    if (random() < 0.7) start();
  }

  function freeze(victim: Struck): void {
    victim.process.pause();
    frozen.add(victim);
    parcels.disturbed(victim.process);
  }

  function loseOwnStore({ trouble }: Struck): void {
    trouble.downUntilMs = nowMs() + below(outageMsMax);
  }

  function loseStore(): void {
    downUntilMs = nowMs() + below(outageMsMax);
  }

  function setClock({ trouble }: Struck): void {
    trouble.skewMs = below(skewMsMax) - skewMsMax / 2;
  }

  /** Claims outlive a process, so they follow the wall clock: a step ends them early, or late. */
  function setClocks(): void {
    for (const { process } of processes) parcels.disturbed(process);
    clock.set(random() < 0.5 ? 3_600_000 : -30_000);
  }

  async function passSecond(): Promise<void> {
    if (random() < 0.5) await writeCounters(log, { counters: 3, additions: 1, more: true });
    if (random() < 0.3) await parcels.ask();
    const { events } = await log.readAll({ after: null, limit: 1_000_000 });
    grown.push({ events: events.length, atMs: nowMs() });
    await clock.advance(1_000);
    sum.ownersMax = Math.max(sum.ownersMax, running().filter(isFeeding).length);
    sum.behindMsMax = Math.max(sum.behindMsMax, await oldestMissingMs());
    if (sum.behindMsMax > behindMsMax)
      problems.push(`round ${round}: a view is ${sum.behindMsMax} ms behind`);
  }

  /** Returns for how long the log has held an event that a live collection lacks; 0 when none is missing. */
  async function oldestMissingMs(): Promise<number> {
    const { events } = await log.readAll({ after: null, limit: 1_000_000 });
    let oldestMs = 0;
    for (const projection of projections) {
      const stored = await storedDocuments(readModelStore, collectionName(projection, 1));
      const revisions = new Map(stored.map(({ id, revision }) => [id, revision]));
      const missing = events.findIndex(({ stream, revision }) => {
        const id = stream.slice(projection.category.length + 1);
        return stream.startsWith(`${projection.category}-`) && (revisions.get(id) ?? -1n) < revision;
      });
      const since = missing < 0 ? undefined : grown.find((one) => one.events > missing);
      if (since !== undefined) oldestMs = Math.max(oldestMs, nowMs() - since.atMs);
    }
    return oldestMs;
  }

  async function findProblem(): Promise<string | null> {
    const stopped = processes
      .flatMap(({ process }) => process.running()?.reports ?? [])
      .find((report) => report.startsWith('stopped'));
    if (stopped !== undefined) return stopped;
    const collections = projections.map((projection) => collectionName(projection, 1));
    for (const [index, projection] of projections.entries()) {
      const stored = await storedDocuments(readModelStore, collections[index] ?? '');
      if (!isDeepStrictEqual(stored, await foldOfLog(log, projection))) {
        return `${projection.name} is not the fold of the log`;
      }
    }
    for (const part of [...collections, 'send-parcels', 'count-parcels']) {
      const feeders = processes.filter(({ process }) => process.feeds().includes(part));
      if (feeders.length !== 1) return `${feeders.length} processes feed ${part} at rest`;
    }
    const owners = processes.filter(isFeeding).length;
    return owners === 1 ? null : `${owners} processes feed at rest`;
  }
}
