import { makeCommandHandler } from '../../../src/event-sourcing/deciding/make-command-handler.js';
import type { Clock, Random } from '../../../src/kit/time/clock.js';
import type { ReadModelStore, StoredDocument } from '../../../src/event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { makeSeededRandom } from '../fakes/clock.js';
import { makeMemoryEventStore, type MemoryEventStore } from '../fakes/memory-event-store.js';
import { makeMemoryReadModelStore } from '../fakes/memory-read-model-store.js';
import { makeMemoryStateStore } from '../fakes/memory-state-store.js';
import { makeVirtualClock, type VirtualClock } from './virtual-clock.js';
import type { CommandHandler, Handled } from '../../../src/event-sourcing/deciding/command-handler.js';
import {
  type DocumentWriter,
  makeDocumentWriter,
} from '../../../src/event-sourcing/views/document-writer.js';
import { makeViews, type Views } from '../../../src/event-sourcing/views/views.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import {
  type Generations,
  makeGenerations,
} from '../../../src/event-sourcing/views/generations/generations.js';
import { type Lease, makeSoleLease } from '../../../src/event-sourcing/feeding/consumers/lease.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import {
  type ProjectionRunner,
  startProjections,
} from '../../../src/event-sourcing/feeding/projectors/projection-runner.js';
import {
  counterAggregate,
  type CounterCommand,
  type CounterEvent,
  counterLabelsProjection,
  countersProjection,
  contextOf,
} from './counters.js';
import { type LogEvent, parseStreamName } from '../../../src/event-sourcing/ports/domain-event.js';

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
function givenWorldAt<Time extends Clock>(clock: Time, seed = 1): World<Time> {
  const random = makeSeededRandom(seed);
  return {
    ...{ clock, random },
    eventStore: makeMemoryEventStore({ clock, random }),
    readModelStore: makeMemoryReadModelStore(),
    stateStore: makeMemoryStateStore({ clock }),
  };
}

type HandlerDeps = Parameters<typeof makeCommandHandler>[0];

/** Writes no documents. */
export const withoutViews: Pick<DocumentWriter, 'viewsOf' | 'write' | 'appending'> = {
  viewsOf: () => [],
  write: () => Promise.resolve(),
  appending: (_, append) => append(),
};

/** Makes a command handler that writes no documents through, so that only projectors write them. */
export function handlerWithoutViews({
  clock,
  random,
  eventStore,
  ...options
}: Omit<HandlerDeps, 'documentWriter'>): ReturnType<typeof makeCommandHandler> {
  return makeCommandHandler({ clock, random, eventStore, documentWriter: withoutViews, ...options });
}

/** One process of the service: the kernel over stores that it may share with other processes. */
export interface GivenProcess {
  readonly generations: Generations;
  readonly handler: CommandHandler;
  readonly views: Views;
  /** The reports of the write-through and the projections, as sentences. */
  readonly reports: string[];
  startProjections(watched?: { readonly generations: Generations }): Promise<ProjectionRunner>;
}

/** @param deps.projections defaults to the two views of the counters */
export async function givenProcess(deps: {
  readonly clock: Clock;
  readonly random: Random;
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly projections?: readonly Projection[];
  /** Default: the process feeds everything. */
  readonly lease?: Lease;
}): Promise<GivenProcess> {
  const { clock, random, eventStore, readModelStore, lease = makeSoleLease('process 1') } = deps;
  const projections = deps.projections ?? [countersProjection, counterLabelsProjection];
  const reports: string[] = [];
  const report = (what: string, error: unknown) => reports.push(`${what}: ${String(error)}`);
  const generations = makeGenerations({ projections, readModelStore, clock });
  await generations.start();
  const documentWriter = makeDocumentWriter({
    generations,
    readModelStore,
    clock,
    onFailure: (error) => report('write-through', error),
  });
  return {
    generations,
    handler: makeCommandHandler({ eventStore, documentWriter, clock, random }),
    views: makeViews({ generations, readModelStore, eventStore }),
    reports,
    startProjections: (watched = { generations }) =>
      startProjections(
        { ...watched, lease, eventStore, readModelStore, documentWriter, clock, random },
        {
          onRetry: (what, error) => report(`retry ${what}`, error),
          onStopped: (collection, error) => report(`stopped ${collection}`, error),
          onRebuilt: (collection, { compared, different }) => {
            reports.push(`rebuilt ${collection}: ${different} of ${compared} differ`);
          },
        },
      ),
  };
}

/** Sends a command to the counter `id`. The same number is the same command. */
export function sendToCounter(
  handler: CommandHandler,
  id: string,
  command: CounterCommand,
  n: number,
): Promise<Handled<CounterEvent>> {
  return handler.handle({ aggregate: counterAggregate, id }, command, contextOf(n));
}

/** Returns the expected documents of a view: a plain fold of the log, in order of id. */
export async function foldOfLog(log: EventStore, projection: Projection): Promise<readonly StoredDocument[]> {
  const { events } = await log.readAll({ after: null, limit: 1_000_000 });
  return foldOf(projection, events);
}

/** Returns the expected documents of a part of the log. */
export function foldOf(projection: Projection, events: readonly LogEvent[]): readonly StoredDocument[] {
  const documents = new Map<string, StoredDocument>();
  for (const event of events) {
    const name = parseStreamName(event.stream);
    if (name?.category !== projection.category) continue;
    const before = documents.get(name.id)?.body ?? null;
    const body = projection.evolve(before, projection.codec.decode(event));
    documents.set(name.id, { id: name.id, revision: event.revision, body });
  }
  return [...documents.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Returns the stored documents of a view, including tombstones, in order of id. */
export function storedDocuments(
  store: ReadModelStore,
  collection: string,
): Promise<readonly StoredDocument[]> {
  return store.scan(collection, { limit: 1_000_000 });
}
