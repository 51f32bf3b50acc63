import type { ExecutionContext } from 'ava';
import type { DocumentWriter } from '../../../src/event-sourcing/views/document-writer.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import {
  type ProjectorProgress,
  runProjector,
} from '../../../src/event-sourcing/feeding/projectors/projector.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { countersProjection, writeCounters } from './counters.js';
import type { MemoryEventStore } from '../fakes/memory-event-store.js';
import { givenWorld, type World, foldOfLog, storedDocuments, givenProcess } from './world.js';
import type { VirtualClock } from './virtual-clock.js';
import { requestRebuild } from '../../../src/event-sourcing/views/generations/rebuild.js';
import { type Fate, faultyReadModelStore } from './faulty-stores.js';
import { getRecord } from '../../../src/event-sourcing/ports/records.js';

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
    readonly documentWriter?: Pick<DocumentWriter, 'settled' | 'hasWritten'>;
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

const fine: Fate = { fault: null, delayMs: 0, lateMs: 0 };
const gone: Fate = { fault: 'before', delayMs: 0, lateMs: 0 };

interface Crash {
  readonly when: 'before' | 'after';
  readonly successor: 'at once' | 'later';
}

/** Checks rebuilds that crash at some of their operations, from the first one on in steps. */
export async function crashRebuildFrom(
  t: ExecutionContext,
  { first, step, ...crash }: Crash & { readonly first: number; readonly step: number },
): Promise<void> {
  const whole = await crashRebuildAt(Infinity, crash);
  t.true(whole.rebuilt && whole.right);
  // The operations after the drop of the old generation repeat each second.
  const points = Math.min(whole.operations, 90);
  t.true(points > 40);
  for (let n = first; n <= points; n += step) {
    const { rebuilt, right } = await crashRebuildAt(n, crash);
    t.true(rebuilt, `crashed at operation ${n}: the rebuild did not continue`);
    t.true(right, `crashed at operation ${n}: the documents are not the fold of the log`);
  }
}

/**
 * Announces a rebuild in a process that crashes at its n-th operation on the read models, before or after its effect.
 * From then on the process has no effect. Another process runs from the start, or starts later.
 */
async function crashRebuildAt(n: number, { when, successor }: Crash) {
  const world = givenWorld();
  const { clock, eventStore, readModelStore: documents } = world;
  await writeCounters(eventStore, { counters: 3, additions: 2 });
  let operations = 0;
  let armed = false;
  const plan = (): Fate => {
    if (!armed) return fine;
    operations += 1;
    if (operations < n) return fine;
    return operations === n ? { ...gone, fault: when } : gone;
  };
  const start = (readModelStore: ReadModelStore): ReturnType<typeof givenProcess> =>
    givenProcess({ ...world, readModelStore, projections: [countersProjection] });

  const crashing = await start(faultyReadModelStore(documents, { clock, plan }));
  const runners = [await crashing.startProjections()];
  if (successor === 'at once') runners.push(await (await start(documents)).startProjections());
  await clock.advance(100);
  armed = true;
  await requestRebuild(crashing.generations, countersProjection, clock.now()).catch(() => null);
  await clock.advance(17_000);
  await writeCounters(eventStore, { counters: 3, additions: 1, more: true });
  await clock.advance(60_000);
  if (successor === 'later') {
    runners.push(await (await start(documents)).startProjections());
    await clock.advance(90_000);
  }
  const announced = (await documents.collections()).length > 1 || (await liveOf(documents)) > 1;
  await clock.advance(60_000);
  const live = await liveOf(documents);
  const stored = await storedDocuments(documents, `counters@1.${live}`);
  const fold = await foldOfLog(eventStore, countersProjection);
  const collections = await documents.collections();
  for (const runner of runners) await clock.run(runner.stop());
  return {
    /** The number of operations that the crashing process had begun by the end. */
    operations,
    rebuilt: announced ? live === 2 && collections.length === 1 : live === 1,
    right: JSON.stringify(stored, asText) === JSON.stringify(fold, asText),
  };
}

async function liveOf(documents: ReadModelStore): Promise<number> {
  const record = await getRecord(documents, 'generations/counters@1');
  return (record?.value as { live: number }).live;
}

function asText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
