import { parentPort, workerData } from 'node:worker_threads';
import { allViews } from '../../../projections/index.js';
import { catchUp } from '../../event-sourcing/feeding/projectors/catch-up.js';
import { type FeedingStores, openFeedingStores } from '../../stores/embedded/log/feeding-stores.js';
import { type CatchUpThreadData, type FromCatchUpThread, shared, type ThreadGroup } from './catch-up.js';
import { sentenceOf } from '../starting.js';
import { systemClock } from '../system.js';

/** The thread takes one group of views after the other, feeds it up to the head of the log, and reports its failures. */
const { directory, streamPrefix, groups, memory } = workerData as CatchUpThreadData;
const isEnding = (): boolean => Atomics.load(memory, shared.ending) !== 0;

try {
  const stores = openFeedingStores({ directory, streamPrefix });
  try {
    for (let group = take(); group !== undefined && !isEnding(); group = take()) {
      await feed(stores, group).catch(fail);
    }
  } finally {
    stores.close();
  }
} catch (error) {
  fail(error);
}
report({ kind: 'done' });

function take(): ThreadGroup | undefined {
  return groups[Atomics.add(memory, shared.nextGroup, 1)];
}

async function feed(
  { log, readModelStore, inOneWrite }: FeedingStores,
  { category, collections }: ThreadGroup,
): Promise<void> {
  const targets = allViews.flatMap((projection) => {
    const collection = collections.get(projection.name);
    return collection === undefined ? [] : [{ projection, collection }];
  });
  await catchUp(
    {
      ...{ eventStore: log, readModelStore, clock: systemClock },
      readPage: log.ofCategory(category),
      inOneWrite: (work, { wait }) => inTurn(() => inOneWrite(work), wait),
    },
    targets,
    {
      isEnding,
      onQuarantined: (collection, stream) => report({ kind: 'quarantined', collection, stream }),
    },
  );
}

/** Does the work while no other thread writes. Returns false, without the work, when one does and it need not wait. */
async function inTurn(work: () => Promise<void>, wait: boolean): Promise<boolean> {
  while (Atomics.compareExchange(memory, shared.writing, 0, 1) !== 0) {
    if (!wait) return false;
    Atomics.wait(memory, shared.writing, 1);
  }
  try {
    await work();
    return true;
  } finally {
    Atomics.store(memory, shared.writing, 0);
    Atomics.notify(memory, shared.writing, 1);
  }
}

function fail(error: unknown): void {
  report({ kind: 'failed', reason: sentenceOf(error) });
}

function report(message: FromCatchUpThread): void {
  parentPort?.postMessage(message);
}
