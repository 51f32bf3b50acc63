import { fingerprintOf, makeLoadOwnCheckpoint } from '../checkpoints.js';
import type { Quarantined } from '../quarantine.js';
import type { Clock } from '../../../kit/time/clock.js';
import type { LogEvent, Position } from '../../ports/domain-event.js';
import type { EventStore, ReadCategory } from '../../ports/event-store.js';
import type { ReadModelStore } from '../../ports/read-model-store.js';
import { type ActiveCollection, makePending, quarantineOf } from '../../views/pending-totals.js';
import { loadCheckpoint, makeSaveCheckpoint } from '../../ports/records.js';

/** Large pages cost less for each event, and the caller serves no request. */
const pageSize = 1_000;
/** A write takes so many batches, those of all views together. More documents are then written once. */
const batchesAtOnce = 4;
/** So many batches wait at most while another thread writes. The pass folds further pages meanwhile. */
const batchesMax = 16;

/**
 * Feeds collections from one pass over the log, from the oldest of their checkpoints to the head. Another feeder may
 * work beside it, as beside a projector. Ends early when `isEnding` returns true.
 * @param deps.readPage reads at least the events of all targets
 * @param deps.inOneWrite runs work so that all of its writes are stored together, or none. Returns false, without the work,
 * when another writer is at work and it need not wait
 * @throws StoreUnavailable, StoreDamaged, and the error of a stream too many that cannot be read
 */
export async function catchUp(
  deps: {
    readonly eventStore: Pick<EventStore, 'shortLogMs' | 'logId' | 'read'>;
    readonly readPage: ReadCategory;
    readonly readModelStore: Pick<ReadModelStore, 'get' | 'getMany' | 'scan' | 'write'>;
    readonly inOneWrite: (work: () => Promise<void>, options: { readonly wait: boolean }) => Promise<boolean>;
    readonly clock: Clock;
  },
  targets: readonly ActiveCollection[],
  options: {
    readonly isEnding: () => boolean;
    readonly onQuarantined: (collection: string, stream: Quarantined) => void;
  },
): Promise<void> {
  const { eventStore, readModelStore } = deps;
  const logId = await eventStore.logId();
  let after = await oldestCheckpoint();
  const feeds = await Promise.all(targets.map(makeFeed));
  let lastEvent: LogEvent | null = null;
  while (!options.isEnding()) {
    const page = await deps.readPage({ after, limit: pageSize });
    // Not at the head: the documents in memory stay fresh, because no command writes beside this pass.
    const folded = { ...page, atHead: false };
    for (const { pending } of feeds) await pending.fold(folded);
    lastEvent = page.last ?? lastEvent;
    after = page.cursor;
    const waiting = feeds.reduce((sum, { pending }) => sum + pending.batches(), 0);
    if (!page.atHead && waiting < batchesAtOnce) continue;
    const isWritten = await deps.inOneWrite(write, { wait: page.atHead || waiting >= batchesMax });
    if (isWritten && page.atHead) return;
  }

  async function makeFeed(target: ActiveCollection): Promise<{
    readonly pending: ReturnType<typeof makePending>;
    readonly saveCheckpoint: ReturnType<typeof makeSaveCheckpoint>;
  }> {
    const { collection } = target;
    const quarantine = quarantineOf(readModelStore, collection, (stream) => {
      options.onQuarantined(collection, stream);
    });
    // The streams that are quarantined already count too.
    await quarantine.load();
    return {
      pending: makePending({ ...deps, quarantine }, target),
      saveCheckpoint: makeSaveCheckpoint(readModelStore, collection),
    };
  }

  /** Returns the position before which every collection contains the log; null where one has no checkpoint. */
  async function oldestCheckpoint(): Promise<Position | null> {
    const positions = await Promise.all(
      targets.map(async ({ collection }) => {
        const load = () => loadCheckpoint(readModelStore, collection);
        const { checkpoint } = await makeLoadOwnCheckpoint({ ...deps, load }, `the view ${collection}`)();
        return checkpoint?.position ?? '';
      }),
    );
    // Positions of one log sort as bytes.
    return positions.sort()[0] || null;
  }

  async function write(): Promise<void> {
    for (const { pending } of feeds) await pending.take()();
    if (after === null) return;
    const fingerprint = lastEvent === null ? {} : { fingerprint: fingerprintOf(lastEvent) };
    for (const { saveCheckpoint } of feeds) await saveCheckpoint({ logId, position: after, ...fingerprint });
  }
}
