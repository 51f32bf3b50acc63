import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../src/kit/time/clock.js';
import type { CommandHandler } from '../../../src/event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../src/event-sourcing/ports/command-context.js';
import { makeDocumentWriter } from '../../../src/event-sourcing/views/document-writer.js';
import { makeViews, type Views } from '../../../src/event-sourcing/views/views.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { makeGenerations } from '../../../src/event-sourcing/views/generations/generations.js';
import { makeCommandHandler } from '../../../src/event-sourcing/deciding/make-command-handler.js';
import { noteReturned, observeStore } from '../../../src/observing/stores/observed-store.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { type RandomBytes, makeDigests } from '../../../src/keys/sealing/digests.js';
import { makeKeyring } from '../../../src/keys/rings/keyring.js';
import { makeSealer, type Sealer } from '../../../src/keys/sealing/sealer.js';
import { allViews } from '../../../projections/index.js';
import { makeSeededRandom, makeTestClock } from '../fakes/clock.js';
import type { SettableClock } from '../fakes/settable-clock.js';
import { makeMemoryEventStore } from '../fakes/memory-event-store.js';
import { makeMemoryReadModelStore } from '../fakes/memory-read-model-store.js';
import { makeMemoryStateStore } from '../fakes/memory-state-store.js';

/** The kernel over stores in memory. All other parts are real. */
export interface GivenStores {
  readonly clock: SettableClock;
  readonly eventStore: EventStore;
  readonly stateStore: StateStore;
  readonly handler: CommandHandler;
  readonly views: Views;
  readonly sealer: Sealer;
  readonly digests: ReturnType<typeof makeDigests>;
  /** Seeded bytes that never repeat. */
  readonly randomBytes: RandomBytes;
  /** Returns the same stores as another process sees them, with separate queues and caches. */
  readonly anotherProcess: () => GivenStores;
}

/**
 * Makes the stores.
 * @param options.wrap puts faults between the handler and the event store
 * @param options.wrapDocuments does the same for the read models
 * @param options.wrapState does the same for the state store
 * @param options.mayLag whether documents may stay behind the appended events; a test fails otherwise
 */
export async function givenStores({
  clock = makeTestClock(),
  wrap = (store) => store,
  wrapDocuments = (store) => store,
  wrapState = (store) => store,
  mayLag = false,
}: {
  clock?: SettableClock;
  wrap?: (store: EventStore) => EventStore;
  wrapDocuments?: (store: ReadModelStore) => ReadModelStore;
  wrapState?: (store: StateStore) => StateStore;
  mayLag?: boolean;
} = {}): Promise<GivenStores> {
  const random = makeSeededRandom(1);
  const eventStore = observeStore(wrap(makeMemoryEventStore({ clock, random })), [noteReturned]);
  const readModelStore = observeStore(wrapDocuments(makeMemoryReadModelStore()), [noteReturned]);
  const stateStore = wrapState(makeMemoryStateStore({ clock }));
  // The registry counts as stale after 3 s. Here no other process changes it, and the test's clock jumps.
  const still: Clock = { ...clock, now: () => new Date(0), steadyMs: () => 0 };
  const generations = makeGenerations({ projections: allViews, readModelStore, clock: still });
  await generations.start();
  const onFailure = (error: unknown): void => {
    if (!mayLag) throw error;
  };
  // The limit of 2 s is real time. The test's clock would let it pass at once.
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

/** Makes a command's context. `n` determines its id, so the same number is the same command. */
export function givenContext(n: number, time: Date, actor = 'anonymous'): CommandContext {
  const commandId = `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`;
  return { commandId, causationId: commandId, correlationId: commandId, actor, time };
}

/** Makes the context of a new command of an operator. */
export function operatorContext(): CommandContext {
  const commandId = randomUUID();
  return {
    ...givenContext(0, new Date(), 'operator'),
    commandId,
    causationId: commandId,
    correlationId: commandId,
  };
}
