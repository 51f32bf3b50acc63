import type { ExecutionContext } from 'ava';
import type { DocumentWriter } from '../../../../src/event-sourcing/views/document-writer.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { type ProjectorProgress, runProjector } from '../../../../src/event-sourcing/views/projector.js';
import type { ReadModelStore } from '../../../../src/event-sourcing/ports/read-model-store.js';
import { makeSeededRandom } from '../../fakes/clock.js';
import { countersProjection } from '../../examples/counter-views.js';
import { makeMemoryEventStore, type MemoryEventStore } from '../../fakes/memory-event-store.js';
import { makeMemoryReadModelStore } from '../../fakes/memory-read-model-store.js';
import { foldOfLog, storedDocuments } from './expected-documents.js';
import { makeVirtualClock, type VirtualClock } from './virtual-clock.js';
import { writeCounters } from './write-counters.js';

export const collection = 'counters@1.1';

export interface Running {
  readonly progress: ProjectorProgress[];
  readonly retries: string[];
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

/** Given a log of some counters, and an empty collection. */
export async function givenProjector(counters = 5): Promise<Scene> {
  const clock = makeVirtualClock();
  const random = makeSeededRandom(1);
  const log = makeMemoryEventStore({ clock, random });
  const documents = makeMemoryReadModelStore();
  await documents.ensureCollection(collection, countersProjection.indexes);
  await writeCounters(log, { counters, additions: 4 });
  const run: Scene['run'] = ({ eventStore = log, readModelStore = documents, ...others } = {}) => {
    const controller = new AbortController();
    const progress: ProjectorProgress[] = [];
    const retries: string[] = [];
    const ended = runProjector(
      { eventStore, readModelStore, clock, random, ...others },
      { projection: countersProjection, collection },
      {
        signal: controller.signal,
        onProgress: (now) => progress.push(now),
        onRetry: (error) => retries.push(error.message),
      },
    );
    const stop = async (): Promise<void> => {
      controller.abort();
      await clock.run(ended);
    };
    return { progress, retries, ended, stop };
  };
  return {
    clock,
    log,
    documents,
    run,
    catchUp: async (stores) => {
      const running = run(stores);
      // The test handles a projector that stops by itself.
      running.ended.catch(() => undefined);
      await clock.until(() => running.progress.at(-1)?.atHead === true);
      await running.stop();
      return running;
    },
  };
}

export async function thenDocumentsAreTheFold(t: ExecutionContext, { log, documents }: Scene): Promise<void> {
  t.deepEqual(await storedDocuments(documents, collection), await foldOfLog(log, countersProjection));
}
