import type { ExecutionContext } from 'ava';
import type { DocumentWriter } from '../../../src/event-sourcing/document-writer.js';
import type { EventStore } from '../../../src/event-sourcing/event-store.js';
import { type ProjectorProgress, runProjector } from '../../../src/event-sourcing/projector.js';
import type { ReadModelStore } from '../../../src/event-sourcing/read-model-store.js';
import { makeSeededRandom } from '../../support/clock.js';
import { countersProjection } from '../../support/counter-views.js';
import { makeMemoryEventStore, type MemoryEventStore } from '../../support/memory-event-store.js';
import { makeMemoryReadModelStore } from '../../support/memory-read-model-store.js';
import { foldOfLog, storedDocuments } from './expected-documents.js';
import { makeVirtualClock, type VirtualClock } from './virtual-clock.js';
import { writeCounters } from './write-counters.js';

export const collection = 'counters@1.1';

export interface Running {
  readonly progress: ProjectorProgress[];
  readonly retries: string[];
  readonly stop: () => Promise<void>;
  /** Ends when the projector does. */
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
  /** Runs a projector until it has come to the head, and ends it. */
  readonly catchUp: (stores?: Parameters<Scene['run']>[0]) => Promise<Running>;
}

/** A log of some counters, and a collection that has seen none of it. */
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
      // A projector that stops by itself is the test's to look at.
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
