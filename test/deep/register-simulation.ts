import type { Clock, Random } from '../../src/kit/time/clock.js';
import type { CommandHandler } from '../../src/event-sourcing/deciding/command-handler.js';
import { OutcomeUnknown, StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../src/event-sourcing/ports/read-model-store.js';
import { makeMemoryEventStore } from '../support/fakes/memory-event-store.js';
import { makeMemoryReadModelStore } from '../support/fakes/memory-read-model-store.js';
import { givenContext } from '../support/given/given-stores.js';
import { pick } from '../support/fakes/clock.js';
import type { CommandContext } from '../../src/event-sourcing/ports/command-context.js';
import type { LogEvent } from '../../src/event-sourcing/ports/domain-event.js';

/** The probabilities of faults per store call, and of long pauses between two calls. */
export interface Weather {
  /** The process stops for good, before or after the effect. */
  readonly crash: number;
  /** The store has no effect. */
  readonly refuse: number;
  /** The append takes effect, and its acknowledgement is lost. */
  readonly loseAcknowledgement: number;
  /** The caller gives up the write, which takes effect at a later moment, or never. */
  readonly delay: number;
  /** More time passes between two steps than a registration, or a second use of a refresh token, may take. */
  readonly longPause: number;
}

export const calm: Weather = { crash: 0, refuse: 0, loseAcknowledgement: 0, delay: 0, longPause: 0 };

/** Chooses the weather of a schedule: calm for a quarter of them, otherwise each fault at its worst or absent. */
export function chooseWeather(chance: (probability: number) => boolean, worst: Weather): Weather {
  if (chance(0.25)) return calm;
  const sometimes = (most: number): number => (chance(0.5) ? most : 0);
  return {
    crash: sometimes(worst.crash),
    refuse: sometimes(worst.refuse),
    loseAcknowledgement: sometimes(worst.loseAcknowledgement),
    delay: sometimes(worst.delay),
    longPause: sometimes(worst.longPause),
  };
}

/** A step of a simulated process, which waits until the scheduler resumes it. */
interface Turn {
  readonly resume: () => void;
}

/** The stores and the clock of a simulated process. */
export interface SimulatedProcess {
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly clock: Clock;
}

/** Counts events by name. A simulation in which an event never happens proves nothing about it. */
export type Tally = Map<string, number>;

/** Breaks the command handler to prove that the checks find the fault. */
export type Sabotage = (handler: CommandHandler) => CommandHandler;

/** The options of one schedule. The seed determines everything else. */
export interface ScheduleOptions {
  readonly tally: Tally;
  readonly sabotage?: Sabotage;
}

export interface Simulation {
  /** The store without faults, for checks after the run. */
  readonly store: EventStore;
  readonly documents: ReadModelStore;
  readonly random: Random;
  /** Counts the steps so far, which order all that happened. */
  step(): number;
  nowMs(): number;
  /** Makes the context of a new command at this moment. */
  readonly nextContext: () => CommandContext;
  advance(ms: number): void;
  /** Returns the log so far. */
  readonly events: () => Promise<readonly LogEvent[]>;
  /** Counts an event by its name in the tally. */
  readonly count: (what: string) => void;
  readonly pick: <Item>(items: readonly Item[]) => Item;
  readonly chance: (probability: number) => boolean;
  /**
   * Starts a process, which waits for its first turn.
   * @param onCrash called when the process has stopped for good
   */
  start(
    main: (process: SimulatedProcess) => Promise<void>,
    options: { readonly skewMs: number; readonly onCrash: () => void },
  ): void;
  /** Lets the processes take turns until none is left. */
  run(): Promise<void>;
  setWeather(weather: Weather): void;
}

/** In milliseconds. */
const longPauseMs = 61_000;

/**
 * Simulates processes over one event store and one read-model store. A seeded scheduler interleaves them at every call
 * and moves the clock. At any moment one process runs, and all others wait for their turn.
 */
export function makeSimulation(deps: { readonly random: Random; readonly tally: Tally }): Simulation {
  const { random, tally } = deps;
  let now = Date.parse('2026-01-02T03:04:05.000Z');
  let steps = 0;
  let commands = 0;
  let weather = calm;
  let wake: () => void = () => undefined;
  let broken: unknown = null;
  const waiting: Turn[] = [];
  /** Writes that their callers have given up. */
  const delayed: (() => Promise<unknown>)[] = [];
  const storeClock: Clock = {
    now: () => new Date(now),
    steadyMs: () => now,
    sleep: () => Promise.resolve(),
  };
  const store = makeMemoryEventStore({ clock: storeClock, random });
  const documents = makeMemoryReadModelStore();

  const chance = (probability: number): boolean => probability > 0 && random() < probability;
  const count = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);

  return {
    store,
    documents,
    random,
    step: () => steps,
    nowMs: () => now,
    nextContext: () => givenContext((commands += 1), new Date(now)),
    advance: (ms) => {
      now += ms;
    },
    events: async () => (await store.readAll({ after: null, limit: 1_000 })).events,
    count,
    pick: (items) => pick(random, items),
    chance,
    start,
    run,
    setWeather: (next) => {
      weather = next;
    },
  };

  function start(
    main: (process: SimulatedProcess) => Promise<void>,
    { skewMs, onCrash }: { readonly skewMs: number; readonly onCrash: () => void },
  ): void {
    const turn = (): Promise<void> =>
      new Promise((resume) => {
        waiting.push({ resume });
        wake();
      });
    const crash = (when: string): Promise<never> => {
      count(`crash ${when}`);
      onCrash();
      wake();
      return new Promise(() => undefined);
    };
    const clock: Clock = {
      now: () => new Date(now + skewMs),
      steadyMs: () => now,
      sleep: async (ms) => {
        const until = now + ms;
        await turn();
        now = Math.max(now, until);
      },
    };
    const eventStore: EventStore = {
      ...store,
      read: async (stream, options) => {
        await turn();
        if (chance(weather.crash)) await crash('before a read');
        if (chance(weather.refuse)) throw new StoreUnavailable('simulated');
        return store.read(stream, options);
      },
      append: async (stream, expected, events) => {
        await turn();
        if (chance(weather.crash)) await crash('before an append');
        if (chance(weather.refuse)) throw new StoreUnavailable('simulated');
        if (chance(weather.delay)) {
          delayed.push(() => store.append(stream, expected, events));
          throw new OutcomeUnknown('simulated');
        }
        const appended = await store.append(stream, expected, events);
        // Other processes may act between the effect and its acknowledgement.
        await turn();
        if (chance(weather.crash)) await crash('after an append');
        if (chance(weather.loseAcknowledgement)) {
          count('lost acknowledgement');
          throw new OutcomeUnknown('simulated');
        }
        return appended;
      },
    };
    const readModelStore: ReadModelStore = {
      ...documents,
      get: async (collection, id) => {
        await turn();
        if (chance(weather.refuse)) throw new StoreUnavailable('simulated');
        return documents.get(collection, id);
      },
      write: async (collection, writes) => {
        await turn();
        if (chance(weather.crash)) await crash('before a document');
        if (chance(weather.refuse)) throw new StoreUnavailable('simulated');
        if (chance(weather.delay)) {
          delayed.push(() => documents.write(collection, writes));
          throw new OutcomeUnknown('simulated');
        }
        return documents.write(collection, writes);
      },
    };
    // A start does not wake the scheduler, because the caller is still running.
    new Promise<void>((resume) => waiting.push({ resume }))
      .then(() => main({ eventStore, readModelStore, clock }))
      .catch((error: unknown) => {
        broken ??= error;
      })
      .finally(() => wake());
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      steps += 1;
      now += Math.floor(random() * 20);
      if (chance(weather.longPause)) {
        now += longPauseMs;
        count('long pause');
      }
      if (delayed.length > 0 && chance(0.2)) applyDelayed();
      const index = Math.floor(random() * waiting.length);
      const [next] = waiting.splice(index, 1);
      const parked = new Promise<void>((resolve) => {
        wake = resolve;
      });
      next?.resume();
      await parked;
      if (broken !== null) throw broken instanceof Error ? broken : new Error('a process broke');
    }
    while (delayed.length > 0) applyDelayed();
  }

  function applyDelayed(): void {
    const [write] = delayed.splice(Math.floor(random() * delayed.length), 1);
    if (write === undefined || chance(0.3)) return;
    void write().then(
      () => count('late write'),
      () => undefined,
    );
  }
}

/** Returns whether a command of any aggregate has a type. */
export function isCommand(command: unknown, type: string): command is { readonly type: string } {
  return typeof command === 'object' && command !== null && 'type' in command && command.type === type;
}
