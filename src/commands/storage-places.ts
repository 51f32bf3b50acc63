import { z } from 'zod';
import type { Clock } from '../event-sourcing/clock.js';
import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { Overloaded, OutcomeUnknown } from '../event-sourcing/errors.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import { entityId, instant } from '../domain/fields.js';
import { rejectStorage } from '../domain/storage/rejections.js';
import { storageAggregate, storagesMax } from '../domain/storage/storage.js';
import type { StorageReader } from '../../projections/storage-configs/reader.js';

/**
 * The places for storages in a project (DESIGN 4.2), exact also when many are created at once: whoever is about to create
 * one claims a place in a record of the project, which changes by compare-and-set. Claims count until the view shows their
 * storages; a claim is no event, and one whose storage never came to be is forgotten.
 */
export interface StoragePlaces {
  /**
   * Takes a place for a storage; one that has a place keeps it.
   * @throws CommandRejected storage_limit_reached; Overloaded, StoreUnavailable
   */
  take(projectId: string, storageId: string): Promise<void>;
}

/** A claim of this age has no command behind it any more: an append takes 15 s at most (DESIGN 5). Clocks may differ by the rest. */
const claimMs = 60_000;
/** How long the record is kept: longer than any view lags. */
const recordMs = 86_400_000;
/** Whoever loses a race has lost it to a place that was taken, so there are hardly more races than places. */
const triesMax = 2 * storagesMax;

/** Storage format of the record `storage-places/<project id>`. */
const recordSchema = z.strictObject({
  claims: z.array(z.strictObject({ storage_id: entityId, at: instant })),
});
type Claim = z.output<typeof recordSchema>['claims'][number];

export function makeStoragePlaces({
  handler,
  stateStore,
  storages,
  clock,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
  readonly stateStore: StateStore;
  readonly storages: Pick<StorageReader, 'ids'>;
  readonly clock: Clock;
}): StoragePlaces {
  return {
    take: async (projectId, storageId) => {
      const key = `storage-places/${projectId}`;
      for (let attempt = 0; attempt < triesMax; attempt += 1) {
        const now = clock.now();
        // The record first: a claim leaves it only when the view, which is read after it, shows the storage.
        const record = await stateStore.get(key);
        const claims = record === null ? [] : recordSchema.parse(record.value).claims;
        const shown = await storages.ids(projectId, storagesMax + 1);
        if (shown.includes(storageId) || claims.some((claim) => claim.storage_id === storageId)) return;
        const counting = await stillCounting(claims, shown, now);
        if (shown.length + counting.length >= storagesMax) {
          rejectStorage('storage_limit_reached', `a project has at most ${storagesMax} storages`);
        }
        const taken = [...counting, { storage_id: storageId, at: now.toISOString() }];
        if (await write(key, record?.version ?? null, taken)) return;
      }
      throw new Overloaded(`a place for a storage was lost to others ${triesMax} times`);
    },
  };

  /** Claims that the view does not show yet, of storages that exist or are about to. */
  async function stillCounting(
    claims: readonly Claim[],
    shown: readonly string[],
    now: Date,
  ): Promise<readonly Claim[]> {
    const counting: Claim[] = [];
    for (const claim of claims) {
      if (shown.includes(claim.storage_id)) continue;
      const { state } = await handler.load(storageAggregate, claim.storage_id);
      const isYoung = now.getTime() - Date.parse(claim.at) < claimMs;
      if (state.status === 'deleted' || (state.status === 'absent' && !isYoung)) continue;
      counting.push(claim);
    }
    return counting;
  }

  /** False when another was faster, or nobody knows: the record tells when it is read again. */
  async function write(key: string, version: string | null, claims: readonly Claim[]): Promise<boolean> {
    const expiresAt = new Date(clock.now().getTime() + recordMs);
    try {
      return (await stateStore.compareAndSet(key, version, { claims }, { expiresAt })) !== null;
    } catch (error) {
      if (error instanceof OutcomeUnknown) return false;
      throw error;
    }
  }
}
