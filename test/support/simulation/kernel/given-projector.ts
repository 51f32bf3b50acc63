import type { ExecutionContext } from 'ava';
import type { DocumentWriter } from '../../../../src/event-sourcing/views/document-writer.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import {
  type ProjectorProgress,
  runProjector,
} from '../../../../src/event-sourcing/feeding/projectors/projector.js';
import type { ReadModelStore } from '../../../../src/event-sourcing/ports/read-model-store.js';
import { countersProjection } from '../../examples/counter-views.js';
import type { MemoryEventStore } from '../../fakes/memory-event-store.js';
import { givenWorld, type World } from '../../given/given-world.js';
import { foldOfLog, storedDocuments } from './expected-documents.js';
import type { VirtualClock } from './virtual-clock.js';
import { writeCounters } from './write-counters.js';

export const collection = 'counters@1.1';

export interface Running {
  readonly progress: ProjectorProgress[];
  readonly retries: string[];
  /** Waits until the projector has reached the head. */
  readonly caughtUp: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Resolves when the projector ends. */
  readonly ended: Promise<void>;
}

export interface Scene {
  readonly clock: VirtualClock;
  readonly log: MemoryEventStore;
  readonly documents: ReadModelStore;
  readonly run: (stores?: {
    readonly eventStore?: EventStore;
    readonly readModelStore?: ReadModelStore;
    readonly documentWriter?: Pick<DocumentWriter, 'settled'>;
  }) => Running;
  /** Runs a projector until it reaches the head, and stops it. */
  readonly catchUp: (stores?: Parameters<Scene['run']>[0]) => Promise<Running>;
}

/** Starts a projector of one view. It runs until the test stops it. */
export function startProjector(
  { clock, ...deps }: Pick<World, 'clock'> & Parameters<typeof runProjector>[0],
  target: Parameters<typeof runProjector>[1],
): Running {
  const controller = new AbortController();
  const progress: ProjectorProgress[] = [];
  const retries: string[] = [];
  const ended = runProjector({ clock, ...deps }, target, {
    signal: controller.signal,
    onProgress: (now) => progress.push(now),
    onRetry: (error) => retries.push(error.message),
  });
  return {
    ...{ progress, retries, ended },
    caughtUp: () => {
      // The test handles a projector that stops by itself.
      ended.catch(() => undefined);
      return clock.until(() => progress.at(-1)?.atHead === true);
    },
    stop: async () => {
      controller.abort();
      await clock.run(ended);
    },
  };
}

/** Given a log of some counters, and an empty collection. */
export async function givenProjector(counters = 5): Promise<Scene> {
  const world = givenWorld();
  const { clock, eventStore: log, readModelStore: documents } = world;
  await documents.ensureCollection(collection, countersProjection.indexes);
  await writeCounters(log, { counters, additions: 4 });
  const run: Scene['run'] = (stores) =>
    startProjector({ ...world, ...stores }, { projection: countersProjection, collection });
  return {
    clock,
    log,
    documents,
    run,
    catchUp: async (stores) => {
      const running = run(stores);
      await running.caughtUp();
      await running.stop();
      return running;
    },
  };
}

export async function thenDocumentsAreTheFold(t: ExecutionContext, { log, documents }: Scene): Promise<void> {
  t.deepEqual(await storedDocuments(documents, collection), await foldOfLog(log, countersProjection));
}
