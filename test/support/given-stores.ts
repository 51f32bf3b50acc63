import type { Clock } from '../../src/event-sourcing/clock.js';
import type { CommandContext, CommandHandler } from '../../src/event-sourcing/command-handler.js';
import { makeDocumentWriter } from '../../src/event-sourcing/document-writer.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import { makeGenerations } from '../../src/event-sourcing/generations.js';
import { makeCommandHandler } from '../../src/event-sourcing/make-command-handler.js';
import { makeViews } from '../../src/event-sourcing/make-views.js';
import type { ReadModelStore } from '../../src/event-sourcing/read-model-store.js';
import type { StateStore } from '../../src/event-sourcing/state-store.js';
import type { Views } from '../../src/event-sourcing/views.js';
import { makeDigests } from '../../src/keys/digests.js';
import { makeKeyring } from '../../src/keys/keyring.js';
import type { RandomBytes } from '../../src/keys/random-bytes.js';
import { makeSealer, type Sealer } from '../../src/keys/sealer.js';
import { projections } from '../../projections/index.js';
import { makeSeededRandom, makeTestClock, type TestClock } from './clock.js';
import { makeMemoryEventStore } from './memory-event-store.js';
import { makeMemoryReadModelStore } from './memory-read-model-store.js';
import { makeMemoryStateStore } from './memory-state-store.js';

/** The kernel over stores in memory, all of it real but the disks. */
export interface GivenStores {
  readonly clock: TestClock;
  readonly eventStore: EventStore;
  readonly stateStore: StateStore;
  readonly handler: CommandHandler;
  readonly views: Views;
  readonly sealer: Sealer;
  readonly digests: ReturnType<typeof makeDigests>;
  /** Seeded, and never the same twice. */
  readonly randomBytes: RandomBytes;
  /** The same stores as another process sees them, with queues and caches of its own. */
  readonly anotherProcess: () => GivenStores;
}

/**
 * @param wrap puts faults between the handler and the event store
 * @param wrapDocuments the same for the read models
 * @param mayLag whether documents may stay behind what was appended; a test fails otherwise
 */
export async function givenStores({
  clock = makeTestClock(),
  wrap = (store) => store,
  wrapDocuments = (store) => store,
  mayLag = false,
}: {
  clock?: TestClock;
  wrap?: (store: EventStore) => EventStore;
  wrapDocuments?: (store: ReadModelStore) => ReadModelStore;
  mayLag?: boolean;
} = {}): Promise<GivenStores> {
  const random = makeSeededRandom(1);
  const eventStore = wrap(makeMemoryEventStore({ clock, random }));
  const readModelStore = wrapDocuments(makeMemoryReadModelStore());
  const stateStore = makeMemoryStateStore({ clock });
  // The registry counts as stale after 3 s; here nobody else changes it, and the test's clock leaps.
  const still: Clock = { ...clock, now: () => new Date(0) };
  const generations = makeGenerations({ projections, readModelStore, clock: still });
  await generations.start();
  const onFailure = (error: unknown): void => {
    if (!mayLag) throw error;
  };
  // Its limit of 2 s is real time: the test's clock would let it pass at once.
  const waiting: Clock = { ...clock, sleep: () => new Promise(() => undefined) };
  const documentWriter = makeDocumentWriter({ generations, readModelStore, clock: waiting, onFailure });
  const masterKeys = makeKeyring([{ kid: 'm1', key: Buffer.alloc(32, 1) }]);
  const views = makeViews({ generations, readModelStore, eventStore });
  const digests = makeDigests(Buffer.alloc(32, 2));
  const secrets = makeSeededRandom(2);
  const randomBytes: RandomBytes = (size) =>
    Buffer.from(Array.from({ length: size }, () => Math.floor(secrets() * 256)));
  let drawn = 0;
  return startProcess();

  function startProcess(): GivenStores {
    return {
      ...{ clock, eventStore, stateStore, views, digests, randomBytes },
      handler: makeCommandHandler({ eventStore, documentWriter, clock, random }),
      sealer: makeSealer({
        masterKeys,
        stateStore,
        clock,
        randomBytes: (size) => Buffer.alloc(size, (drawn += 1)),
      }),
      anotherProcess: startProcess,
    };
  }
}

/** A command's context; `n` makes its id, so that the same number is the same command. */
export function givenContext(n: number, time: Date, actor = 'anonymous'): CommandContext {
  const commandId = `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`;
  return { commandId, causationId: commandId, correlationId: commandId, actor, time };
}
