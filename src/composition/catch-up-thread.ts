import { parentPort, workerData } from 'node:worker_threads';
import { allViews } from '../../projections/index.js';
import { catchUp } from '../event-sourcing/views/catch-up.js';
import { openFeedingStores } from '../stores/embedded/feeding-stores.js';
import { type CatchUpThreadData, flag, type FromCatchUpThread } from './catch-up.js';
import { sentenceOf } from './sentence-of.js';
import { systemClock } from './system.js';

/** The thread feeds its views up to the head of the log, reports how that went, and ends. */
const { directory, streamPrefix, collections, flags } = workerData as CatchUpThreadData;

report(await feed().catch((error: unknown) => ({ kind: 'failed', reason: sentenceOf(error) })));

async function feed(): Promise<FromCatchUpThread> {
  const targets = allViews.flatMap((projection) => {
    const collection = collections.get(projection.name);
    return collection === undefined ? [] : [{ projection, collection }];
  });
  const stores = openFeedingStores({ directory, streamPrefix });
  try {
    const { log, readModelStore } = stores;
    const readPage = log.only([...new Set(targets.map(({ projection }) => projection.category))]);
    await catchUp({ eventStore: log, readPage, readModelStore, inOneWrite, clock: systemClock }, targets, {
      isEnding: () => Atomics.load(flags, flag.ending) !== 0,
      onSetApart: (collection, stream) => {
        report({ kind: 'set-apart', collection, stream });
      },
    });
    return { kind: 'done' };
  } finally {
    stores.close();
  }

  async function inOneWrite(work: () => Promise<void>): Promise<void> {
    while (Atomics.compareExchange(flags, flag.writing, 0, 1) !== 0) Atomics.wait(flags, flag.writing, 1);
    try {
      await stores.inOneWrite(work);
    } finally {
      Atomics.store(flags, flag.writing, 0);
      Atomics.notify(flags, flag.writing, 1);
    }
  }
}

function report(message: FromCatchUpThread): void {
  parentPort?.postMessage(message);
}
