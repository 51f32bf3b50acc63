import type { Clock } from '../../../src/kit/time/clock.js';
import type { CommandHandler } from '../../../src/event-sourcing/deciding/command-handler.js';
import type { LogEvent, Position } from '../../../src/event-sourcing/ports/domain-event.js';
import type { ReactionStatus } from '../../../src/event-sourcing/effects/reaction-runner.js';
import { aheadMax, reactionCheckpoint } from '../../../src/event-sourcing/effects/run-reaction.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { counterAggregate, contextOf } from './counters.js';
import { type FaultPlan, noFaults, randomFaults, withRecordHooks } from './faulty-stores.js';
import { sendToCounter, givenWorld, handlerWithoutViews, type World } from './world.js';
import { type SimulatedProcess, startSimulatedProcess } from './processes.js';
import { makeCountParcels, makeSendParcels, parcelAggregate, type ParcelAsked } from './reactions.js';
import { dropCheckpoint, loadCheckpoint } from '../../../src/event-sourcing/ports/records.js';
import { pick } from '../fakes/clock.js';

/** An outside effect from its start. `happened` is true once it has left the process. */
interface Effect {
  readonly eventId: string;
  readonly fromMs: number;
  happened: boolean;
}

interface Scene extends World {
  readonly handler: CommandHandler;
  readonly aheadMax: number;
  readonly effects: Effect[];
  /** The times of faults that may cause a repeated effect. */
  readonly disturbances: number[];
  readonly plan: FaultPlan;
  readonly broken: (what: string) => void;
  /** All processes that were ever started. */
  readonly started: SimulatedProcess[];
  faulty: boolean;
  commands: number;
}

/**
 * Runs one history from a seed: parcels are requested, some with a deadline, some withdrawn, while two or three
 * processes run the reaction that sends them and the one that counts them, under faults, delays, long pauses, kills,
 * stops and lost checkpoints. Then the faults end, and each request must end with one outcome.
 */
export async function simulateReactions(seed: number) {
  const memory = givenWorld(seed);
  const { clock, random } = memory;
  const found: { problem: string | null } = { problem: null };
  const faults = randomFaults(random, {
    rate: pick(random, [0, 0, 0.02, 0.1, 0.3]),
    delayMsMax: pick(random, [1, 50, 1_000]),
  });
  const world: Scene = {
    ...memory,
    readModelStore: watchCheckpoint(memory.readModelStore, () => world),
    handler: handlerWithoutViews(memory),
    aheadMax: pick(random, [1, 3, 10, aheadMax]),
    effects: [],
    disturbances: [],
    plan: (operation) => {
      const fate = world.faulty ? faults(operation) : noFaults(operation);
      if (fate.fault !== null) disturb(world);
      return fate;
    },
    broken: (what) => {
      found.problem ??= what;
    },
    ...{ started: [], faulty: true, commands: 0 },
  };
  await sendToCounter(world.handler, 'sent', { type: 'Open', label: 'sent' }, 1);
  const calm = random() < 0.2;
  const processes = Array.from({ length: 2 + Math.floor(random() * 2) }, (_, n) =>
    startProcess(world, `0.${n}`),
  );
  const steps = 20 + Math.floor(random() * 60);
  for (let step = 1; step <= steps && found.problem === null; step += 1) {
    await clock.advance(Math.floor(random() ** 3 * 20_000));
    if (random() < 0.6) await askOrWithdraw(world);
    else if (!calm) await interfere(world, processes, step);
  }
  await comeToRest(world, processes);
  found.problem ??= await findProblem(world);
  const { events } = await world.eventStore.readAll({ after: null, limit: 1_000_000 });
  const count = (type: string): number => events.filter((event) => event.type === type).length;
  const happened = world.effects.filter((effect) => effect.happened);
  return {
    /** The problem, or null. */
    problem: found.problem,
    asked: count('ParcelAsked'),
    sent: count('ParcelSent'),
    /** Effects after the first one of their event. */
    repeated: happened.length - new Set(happened.map(({ eventId }) => eventId)).size,
    expired: count('ParcelAsked') - count('ParcelSent') - count('ParcelWithdrawn'),
  };
}

function disturb({ clock, disturbances }: Scene): void {
  disturbances.push(clock.now().getTime());
}

async function askOrWithdraw(world: Scene): Promise<void> {
  const { random, handler, clock } = world;
  world.commands += 1;
  const n = world.commands;
  const target = { aggregate: parcelAggregate, id: `p${Math.floor(random() * 5)}` };
  const context = contextOf(n + 1, clock.now());
  const chance = random();
  if (chance < 0.1) {
    await handler.handle(target, { type: 'Withdraw', n: Math.ceil(random() * n) }, context);
    return;
  }
  const expiresAt = chance < 0.4 ? new Date(clock.now().getTime() + Math.floor(random() * 120_000)) : null;
  await handler.handle(target, { type: 'Ask', n, expiresAt }, context);
}

async function interfere(world: Scene, processes: SimulatedProcess[], step: number): Promise<void> {
  const { random } = world;
  const index = Math.floor(random() * processes.length);
  const process = processes[index];
  const chance = random();
  if (chance < 0.3) {
    disturb(world);
    process?.pause();
  } else if (chance < 0.6) {
    disturb(world);
    process?.resume();
  } else if (chance < 0.8) {
    disturb(world);
    process?.kill();
    // A paused process continues, so that it reaches its end.
    process?.resume();
    processes[index] = startProcess(world, `${step}.${index}`);
  } else if (chance < 0.93) {
    process?.resume();
    disturb(world);
    if (process !== undefined) await world.clock.run(process.stop());
    processes[index] = startProcess(world, `${step}.${index}`);
  } else {
    await dropCheckpoint(world.readModelStore, reactionCheckpoint({ name: 'send-parcels' }));
  }
}

/** Ends the faults and waits for claims, the longest back-off and late effects. */
async function comeToRest(world: Scene, processes: readonly SimulatedProcess[]): Promise<void> {
  world.faulty = false;
  disturb(world);
  for (const process of processes) process.resume();
  await world.clock.advance(400_000);
  const statuses = processes.flatMap((process) => process.statuses());
  for (const { open } of statuses) if (open > 0) world.broken(`${open} events are open at rest`);
  const names = statuses.map(({ name }) => name).toSorted();
  if (names.join() !== 'count-parcels,send-parcels')
    world.broken(`at rest the processes run ${names.join()}`);
  await world.clock.run(Promise.all(processes.map((process) => process.stop())));
}

function startProcess(world: Scene, id: string): SimulatedProcess {
  const { random } = world;
  const process = startSimulatedProcess({
    ...{ ...world, id, projections: [], pageSize: pick(random, [1, 3, 50]) },
    reactions: ({ clock, eventStore, gate, statuses }) => {
      const handler = handlerWithoutViews({ clock, random, eventStore });
      return [
        makeSendParcels({
          handler,
          send: (event, signal) => send({ world, clock, gate }, event, signal),
          onAsked: (event) => {
            void checkAhead(world, statuses(), event);
          },
        }),
        makeCountParcels({ handler }),
      ];
    },
  });
  world.started.push(process);
  return process;
}

/** Runs the outside effect: it takes time, fails, fails after it has happened, or never ends. */
async function send(
  { world, clock, gate }: { world: Scene; clock: Clock; gate: () => Promise<void> },
  event: ParcelAsked,
  signal: AbortSignal,
): Promise<void> {
  const { random, faulty } = world;
  const nowMs = world.clock.now().getTime();
  const deadlineMs = event.data.expires_at === null ? Infinity : Date.parse(event.data.expires_at);
  if (nowMs >= deadlineMs) world.broken(`parcel ${event.data.n} was sent after its deadline`);
  const effect: Effect = { eventId: event.id, fromMs: nowMs, happened: false };
  world.effects.push(effect);
  const chance = faulty && world.disturbances.length > 0 ? random() : 1;
  await clock.sleep(Math.floor(random() ** 4 * 40_000), signal);
  await gate();
  if (chance < 0.1) throw new Error('refused');
  effect.happened = true;
  if (chance >= 0.3) return;
  disturb(world);
  if (chance < 0.2) throw new Error('the answer was lost');
  await new Promise(() => undefined);
}

/** Checks that a reaction is not further ahead of its checkpoint than allowed. */
async function checkAhead(
  world: Scene,
  statuses: readonly ReactionStatus[],
  event: ParcelAsked,
): Promise<void> {
  const sending = statuses.find(({ name }) => name === 'send-parcels');
  if (sending === undefined) return;
  const checkpoint = sending.position;
  const asked = (await askedEvents(world)).filter(
    ({ position }) => (checkpoint === null || position > checkpoint) && position <= event.position,
  );
  if (asked.length > world.aheadMax) world.broken(`${asked.length} events ahead of the checkpoint`);
}

async function askedEvents({ eventStore }: Scene): Promise<readonly LogEvent[]> {
  const { events } = await eventStore.readAll({ after: null, limit: 1_000_000 });
  return events.filter(({ type }) => type === 'ParcelAsked');
}

/** Checks after every save that the checkpoint has not passed an open event. */
function watchCheckpoint(store: ReadModelStore, world: () => Scene): ReadModelStore {
  return withRecordHooks(store, {
    save: async (reader, pass, position) => {
      const outcome = await pass();
      if (reader !== reactionCheckpoint({ name: 'send-parcels' })) return outcome;
      const open = await firstOpen(world());
      if (open !== null && open <= position)
        world().broken(`the checkpoint has passed ${open}, which is open`);
      return outcome;
    },
  });
}

/** Returns the position of the first event without an outcome that may still get one. */
async function firstOpen(world: Scene): Promise<Position | null> {
  for (const event of await askedEvents(world)) {
    const { data } = parcelAggregate.codec.decode(event);
    const { state } = await world.handler.load(parcelAggregate, event.stream.slice('parcel-'.length));
    const expiresAt = 'expires_at' in data ? data.expires_at : null;
    const expired = expiresAt !== null && Date.parse(expiresAt) <= world.clock.now().getTime();
    if (state.get(data.n) === 'asked' && !expired) return event.position;
  }
  return null;
}

/** Returns the problem of the final state, or null. */
async function findProblem(world: Scene): Promise<string | null> {
  const { eventStore, readModelStore, handler, started } = world;
  const reports = started.flatMap((process) => process.reports());
  const failure = reports.find((report) => /^(stopped|quarantined)/.test(report));
  if (failure !== undefined) return failure;
  const open = await firstOpen(world);
  if (open !== null) return `${open} has no outcome`;
  const { events } = await eventStore.readAll({ after: null, limit: 1_000_000 });
  const sent = events.filter(({ type }) => type === 'ParcelSent');
  for (const event of await askedEvents(world)) {
    const problem = problemOf(world, event, sent);
    if (problem !== null) return `${event.stream} at revision ${event.revision}: ${problem}`;
  }
  const { total } = (await handler.load(counterAggregate, 'sent')).state;
  if (total !== sent.length) return `${total} counted, ${sent.length} sent`;
  const checkpoint = await loadCheckpoint(readModelStore, reactionCheckpoint({ name: 'send-parcels' }));
  const head = await eventStore.head();
  return checkpoint?.position === head
    ? null
    : `the checkpoint rests at ${checkpoint?.position ?? 'the start'}, the log at ${head ?? ''}`;
}

function problemOf(world: Scene, asked: LogEvent, sent: readonly LogEvent[]): string | null {
  const outcomes = sent.filter(({ metadata }) => metadata.causation_id === asked.id);
  const effects = world.effects.filter(({ eventId }) => eventId === asked.id);
  if (outcomes.length > 1) return `${outcomes.length} outcomes`;
  if (outcomes.length === 1 && !effects.some(({ happened }) => happened))
    return 'an outcome without an effect';
  for (const [index, effect] of effects.entries()) {
    const next = effects[index + 1];
    if (next === undefined) continue;
    const between = world.disturbances.some((at) => at >= effect.fromMs && at <= next.fromMs);
    // A refused effect may be tried again without a fault.
    if (effect.happened && !between) return 'repeated without a fault';
  }
  return null;
}
