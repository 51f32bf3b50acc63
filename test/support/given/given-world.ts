import { makeCommandHandler } from '../../../src/event-sourcing/deciding/make-command-handler.js';
import type { Clock, Random } from '../../../src/kit/time/clock.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { makeSeededRandom } from '../fakes/clock.js';
import { makeMemoryEventStore, type MemoryEventStore } from '../fakes/memory-event-store.js';
import { makeMemoryReadModelStore } from '../fakes/memory-read-model-store.js';
import { makeMemoryStateStore } from '../fakes/memory-state-store.js';
import { makeVirtualClock, type VirtualClock } from '../simulation/kernel/virtual-clock.js';

/** What all processes of a test share: stores in memory, a clock, and the source of everything random. */
export interface World<Time extends Clock = VirtualClock> {
  readonly clock: Time;
  readonly random: Random;
  readonly eventStore: MemoryEventStore;
  readonly readModelStore: ReadModelStore;
  readonly stateStore: StateStore;
}

/** Makes a world whose time only the test moves. The same seed gives the same history. */
export function givenWorld(seed = 1): World {
  return givenWorldAt(makeVirtualClock(), seed);
}

/** Makes a world with another clock. */
export function givenWorldAt<Time extends Clock>(clock: Time, seed = 1): World<Time> {
  const random = makeSeededRandom(seed);
  return {
    ...{ clock, random },
    eventStore: makeMemoryEventStore({ clock, random }),
    readModelStore: makeMemoryReadModelStore(),
    stateStore: makeMemoryStateStore({ clock }),
  };
}

type HandlerDeps = Parameters<typeof makeCommandHandler>[0];

/** Makes a command handler that writes no documents through, so that only projectors write them. */
export function handlerWithoutViews({
  clock,
  random,
  eventStore,
  ...options
}: Omit<HandlerDeps, 'documentWriter'>): ReturnType<typeof makeCommandHandler> {
  const documentWriter = { viewsOf: () => [], write: () => Promise.resolve() };
  return makeCommandHandler({ clock, random, eventStore, documentWriter, ...options });
}
