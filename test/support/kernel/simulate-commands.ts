import type { Random } from '../../../src/kit/time/clock.js';
import type { CommandHandler, Load } from '../../../src/event-sourcing/deciding/command-handler.js';
import type { LogEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import {
  CommandRejected,
  OutcomeUnknown,
  PreconditionFailed,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../../src/event-sourcing/ports/errors.js';
import { Overloaded } from '../../../src/kit/semaphore.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { counterAggregate, type CounterCommand, contextOf } from './counters.js';
import { type FaultPlan, randomFaults, faultyEventStore } from './faulty-stores.js';
import { givenWorld, handlerWithoutViews, type World } from './world.js';

/** The outcome of one attempt of a command for its caller. */
type Outcome =
  | { readonly kind: 'done'; readonly revision: bigint | null; readonly appended: number }
  | { readonly kind: 'refused' | 'away' | 'unknown' };

interface Client {
  readonly n: number;
  readonly id: string;
  readonly command: CounterCommand;
  /** The revision that the client saw before, if it sends an If-Match. */
  seen: bigint | null;
  readonly outcomes: Outcome[];
}

interface Service extends Pick<World, 'clock' | 'random'> {
  readonly processes: readonly CommandHandler[];
}

/**
 * Runs one history from a seed: clients send commands on two counters to several processes, whose appends and reads
 * fail, hang and take effect late. Clients repeat unanswered commands, also while another attempt is running.
 * @returns the problem, or null, and the number of commands that were carried out
 */
export async function simulateCommands(
  seed: number,
): Promise<{ readonly problem: string | null; readonly done: number }> {
  const { clock, random, eventStore: memory } = givenWorld(seed);
  const eventStore = random() < 0.5 ? memory : strict(memory);
  const plan: FaultPlan = randomFaults(random, {
    rate: [0, 0.05, 0.2, 0.5][Math.floor(random() * 4)] ?? 0,
    delayMsMax: [2, 50, 2_000][Math.floor(random() * 3)] ?? 2,
  });
  const processes = Array.from({ length: 2 + Math.floor(random() * 3) }, () =>
    handlerWithoutViews({
      ...{ clock, random },
      eventStore: faultyEventStore(eventStore, { clock, random, plan }),
      cachedStreamsMax: 1 + Math.floor(random() * 3),
    }),
  );
  const service: Service = { clock, random, processes };
  const clients = Array.from({ length: 4 + Math.floor(random() * 16) }, (_, n) => makeClient(random, n));
  await clock.run(Promise.all(clients.map((client) => live(service, client))), 3_600_000);
  // Late effects come within 20 s.
  await clock.advance(30_000);
  const { events } = await memory.readAll({ after: null, limit: 1_000_000 });
  const done = clients.filter(({ outcomes }) => outcomes.some(({ kind }) => kind === 'done')).length;
  return { problem: findProblem(clients, events), done };
}

/** Returns a store that does not recognise a repeated append. A read then finds the written events. */
function strict(store: EventStore): EventStore {
  return {
    ...store,
    append: async (stream, expected, events, options) => {
      // Both calls take effect before the first of them is awaited, so no other call comes in between.
      const next = store.read(stream, { from: expected === 'no-stream' ? 0n : expected + 1n, limit: 1 });
      const appending = store.append(stream, expected, events, options);
      const [taken, appended] = await Promise.all([next, appending]);
      if (taken.length > 0) throw new WrongExpectedRevision(stream, expected);
      return appended;
    },
  };
}

function makeClient(random: Random, n: number): Client {
  const chance = random();
  const amounts = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, index) => n * 10 + index);
  const command: CounterCommand =
    chance < 0.2
      ? { type: 'Open', label: `label ${n}` }
      : chance < 0.94
        ? { type: 'Add', operation: `o${n}`, amounts }
        : { type: 'Close' };
  return { n, id: random() < 0.7 ? 'c1' : 'c2', command, seen: null, outcomes: [] };
}

/** Sends the command of a client, at times twice at once, and again while the outcome is unknown. */
async function live(service: Service, client: Client): Promise<void> {
  const { clock, random } = service;
  await clock.sleep(Math.floor(random() * 5_000));
  const conditional = random() < 0.2;
  for (let attempt = 0; attempt < 6; attempt += 1) {
    if (conditional && attempt === 0) client.seen = await revisionOf(service, client.id);
    const tries = random() < 0.2 ? 2 : 1;
    const outcomes = await Promise.all(Array.from({ length: tries }, () => send(service, client)));
    client.outcomes.push(...outcomes);
    if (outcomes.some(({ kind }) => kind === 'done' || kind === 'refused')) return;
    await clock.sleep(Math.floor(random() * 3_000));
  }
}

async function revisionOf({ random, processes }: Service, id: string): Promise<bigint | null> {
  const process = processes[Math.floor(random() * processes.length)];
  try {
    return (await process?.load(counterAggregate, id))?.revision ?? null;
  } catch (error) {
    if (error instanceof StoreUnavailable) return null;
    throw error;
  }
}

function loadOf(chance: number): Load {
  if (chance < 0.3) return 'latest';
  return chance < 0.8 ? 'remembered' : 'new';
}

async function send({ random, processes }: Service, { n, id, command, seen }: Client): Promise<Outcome> {
  const process = processes[Math.floor(random() * processes.length)];
  if (process === undefined) throw new Error('there is no process');
  try {
    const { revision, events } = await process.handle(
      { aggregate: counterAggregate, id },
      command,
      contextOf(n),
      { ...(seen === null ? {} : { expectedRevision: seen }), load: loadOf(random()) },
    );
    return { kind: 'done', revision, appended: events.length };
  } catch (error) {
    if (error instanceof OutcomeUnknown) return { kind: 'unknown' };
    if (error instanceof StoreUnavailable || error instanceof Overloaded) return { kind: 'away' };
    if (error instanceof CommandRejected || error instanceof PreconditionFailed) return { kind: 'refused' };
    throw error;
  }
}

function findProblem(clients: readonly Client[], log: readonly LogEvent[]): string | null {
  for (const client of clients) {
    const problem = problemOf(client, log);
    if (problem !== null) return `command ${client.n} (${client.command.type} ${client.id}): ${problem}`;
  }
  for (const id of ['c1', 'c2']) {
    const types = log.filter(({ stream }) => stream === `counter-${id}`).map(({ type }) => type);
    const lawful = /^(?:o(?:a*)c?)?$/.test(types.map((type) => letters[type] ?? '?').join(''));
    if (!lawful) return `${id} has a history that no decision allows: ${types.join(', ')}`;
  }
  return null;
}

const letters: Readonly<Record<string, string>> = {
  CounterOpened: 'o',
  CounterAdded: 'a',
  CounterClosed: 'c',
};

function problemOf(client: Client, log: readonly LogEvent[]): string | null {
  const { n, id, command, outcomes } = client;
  const own = log.filter(
    ({ stream, metadata }) => stream === `counter-${id}` && metadata.command_id === contextOf(n).commandId,
  );
  const mayBeThere = outcomes.some(({ kind }) => kind === 'done' || kind === 'unknown');
  if (own.length > 0 && !mayBeThere) return 'it is in the log although its callers got another answer';
  return problemOfEvents(client, own) ?? problemOfReplies(outcomes, own.at(-1)?.revision ?? null, command);
}

function problemOfEvents({ command, seen }: Client, own: readonly LogEvent[]): string | null {
  const whole = command.type === 'Add' ? command.amounts.length : 1;
  const [first] = own;
  if (first === undefined) return null;
  if (own.length !== whole) return `${own.length} of ${whole} events are in the log`;
  if (own.some(({ revision }, index) => revision !== first.revision + BigInt(index))) {
    return 'its events do not stand together';
  }
  return seen !== null && first.revision !== seen + 1n ? 'it overwrote events that it had not seen' : null;
}

function problemOfReplies(
  outcomes: readonly Outcome[],
  last: bigint | null,
  command: CounterCommand,
): string | null {
  for (const outcome of outcomes) {
    if (outcome.kind !== 'done') continue;
    if (outcome.appended > 0 && outcome.revision !== last)
      return 'the reply names another revision than the log';
    // The command may find that another one has already opened or closed the counter.
    if (last === null && command.type === 'Add') return 'it was acknowledged and is not in the log';
  }
  return null;
}
