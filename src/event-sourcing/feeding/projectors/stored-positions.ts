import { type LoadOwnCheckpoint, makeLoadOwnCheckpoint } from '../checkpoints.js';
import type { Clock } from '../../../kit/time/clock.js';
import type { Position } from '../../ports/domain-event.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Checkpoint, ReadModelStore } from '../../ports/read-model-store.js';

/** How far the collections are that other processes feed: their stored checkpoints, as this process last read them. */
export interface StoredPositions {
  /**
   * Reads the checkpoints in one call.
   * @throws StoreUnavailable; StoreDamaged when they belong to another log than that of this process
   */
  refresh(collections: readonly string[]): Promise<void>;
  /** Returns the position up to which the collection contains the log; null when that is unknown. */
  of(collection: string): Position | null;
}

export function makeStoredPositions(deps: {
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly clock: Clock;
}): StoredPositions {
  const { eventStore, readModelStore } = deps;
  let positions = new Map<string, Position>();
  let check: LoadOwnCheckpoint | null = null;
  let isChecked = false;

  return {
    refresh: async (collections) => {
      const loaded = await readModelStore.loadCheckpoints(collections);
      const logId = await eventStore.logId();
      await checkLog([...loaded], logId);
      positions = new Map(
        [...loaded]
          .filter(([, checkpoint]) => checkpoint.logId === logId)
          .map(([collection, { position }]) => [collection, position]),
      );
    },
    of: (collection) => positions.get(collection) ?? null,
  };

  /**
   * Makes the check of a projector's start, which this process may not run: a log that holds the event of the furthest
   * checkpoint holds those of the others too.
   */
  async function checkLog(loaded: readonly (readonly [string, Checkpoint])[], logId: string): Promise<void> {
    if (isChecked || loaded.length === 0) return;
    const byPosition = loaded.toSorted(([, one], [, other]) => (one.position < other.position ? 1 : -1));
    const foreign = byPosition.find(([, checkpoint]) => checkpoint.logId !== logId);
    const [collection = ''] = foreign ?? byPosition[0] ?? [];
    check ??= makeLoadOwnCheckpoint(deps, collection, `the view ${collection}`);
    await check();
    isChecked = true;
  }
}
