import { hash } from 'node:crypto';
import { z } from 'zod';
import { Overloaded } from '../../../kit/overloaded.js';
import { assetAggregate, type AssetState } from '../domain/asset/asset.js';
import { keysOfAsset } from '../domain/asset/status.js';
import { rejectAsset, type AssetRejection } from '../domain/asset/rejections.js';
import { entityId, instant } from '../../../validation/fields.js';
import { CommandRejected, PreconditionFailed } from '../../../event-sourcing/ports/errors.js';
import { changeRecord } from '../../../event-sourcing/ports/change-record.js';
import type { AssetDeps } from '../deps.js';
import { isRejection } from '../../shared/rejections.js';

/** An asset, the objects that it gets, and the command that gives it to them. */
export interface ClaimedObjects {
  readonly storageId: string;
  readonly assetId: string;
  readonly keys: readonly string[];
  readonly commandId: string;
}

/**
 * Gives each object of a storage to one asset, also when commands of several processes race
 * (docs/decisions/object-keys.md#0058-an-object-has-one-asset).
 */
export interface ObjectKeys {
  /**
   * Claims the keys for the asset and appends. A rejected append gives them back.
   * @throws CommandRejected object_key_taken; the errors of `append`; Overloaded, StoreUnavailable
   */
  claiming<Result>(objects: ClaimedObjects, append: () => Promise<Result>): Promise<Result>;
  /**
   * Records that the asset has the keys, so that a view that lags gives none of them to another asset while the objects of
   * the asset are deleted. A key that another asset has claimed stays with it.
   */
  marking(objects: ClaimedObjects): Promise<void>;
  /**
   * Claims an object for its deletion and deletes it. Until the deletion has an answer, no asset gets the object.
   * @param object the keys of the object in the storages that lead to its bucket
   * @returns `kept`, when an asset has the object or is getting it; nothing is deleted then
   */
  deleting<Result extends { readonly isAnswered: boolean }>(
    object: { readonly assetId: string; readonly places: readonly ObjectPlace[] },
    deleteObject: () => Promise<Result>,
  ): Promise<Result | 'kept'>;
}

/** An object as a storage names it. */
export interface ObjectPlace {
  readonly storageId: string;
  readonly key: string;
}

/** The command of a claim for a deletion. */
const deletionClaim = 'delete-object';

/** At this age a claim has no running command: 32 s for a load and an append (src/event-sourcing/deciding/README.md#command-queue-and-retries), 28 s for clock skew. */
const claimMs = 60_000;
/** The lifetime of a record: longer than any view lags. */
const recordMs = 86_400_000;
const tries = 10;

const recordSchema = z.strictObject({ asset_id: entityId, command_id: z.string(), at: instant });
type ClaimRecord = z.output<typeof recordSchema>;

interface Claim {
  readonly key: string;
  readonly version: string;
}

export function makeObjectKeys({
  stateStore,
  handler,
  assets,
  clock,
}: Pick<AssetDeps, 'stateStore' | 'handler' | 'assets' | 'clock'>): ObjectKeys {
  return {
    claiming: async ({ keys, ...asset }, append) => {
      const claims: Claim[] = [];
      try {
        for (const key of new Set(keys)) claims.push(await claim(key, asset));
        return await append();
      } catch (error) {
        if (error instanceof CommandRejected || error instanceof PreconditionFailed) await giveBack(claims);
        throw error;
      }
    },
    marking: async ({ storageId, assetId, keys, commandId }) => {
      for (const objectKey of new Set(keys)) {
        await changeRecord(
          stateStore,
          { key: recordKey(storageId, objectKey), schema: recordSchema },
          (found) =>
            found === null || found.value.asset_id === assetId
              ? recordOf({ assetId, commandId })
              : { keep: null },
          { tries, unknownOutcome: 'retry' },
        );
      }
    },
    deleting: async ({ assetId, places }, deleteObject) => {
      const claims: Claim[] = [];
      try {
        for (const { storageId, key } of places) {
          claims.push(await claim(key, { storageId, assetId, commandId: deletionClaim }));
        }
      } catch (error) {
        await giveBack(claims);
        if (isRejection<AssetRejection>(error, 'object_key_taken')) return 'kept';
        throw error;
      }
      const deleted = await deleteObject();
      // Without an answer, the bucket may delete the object later. The claim then counts for its minute.
      if (deleted.isAnswered) await giveBack(claims);
      return deleted;
    },
  };

  function recordOf({
    assetId: asset_id,
    commandId: command_id,
  }: Omit<ClaimedObjects, 'keys' | 'storageId'>) {
    const at = clock.now();
    return {
      write: { asset_id, command_id, at: at.toISOString() },
      expiresAt: new Date(at.getTime() + recordMs),
      result: null,
    };
  }

  async function claim(objectKey: string, asset: Omit<ClaimedObjects, 'keys'>): Promise<Claim> {
    const key = recordKey(asset.storageId, objectKey);
    const changed = await changeRecord(
      stateStore,
      { key, schema: recordSchema },
      async (found) => {
        await refuseIfTaken(objectKey, asset, found?.value ?? null);
        return recordOf(asset);
      },
      { tries, unknownOutcome: 'retry' },
    );
    if (changed === null || 'kept' in changed) {
      throw new Overloaded(`an object key changed hands ${tries} times while it was being claimed`);
    }
    return { key, version: changed.version };
  }

  /**
   * The record is read before the view and the streams. A claim leaves its record after a day, when the view has long shown
   * its asset.
   */
  async function refuseIfTaken(
    objectKey: string,
    { storageId, assetId, commandId }: Omit<ClaimedObjects, 'keys'>,
    record: ClaimRecord | null,
  ): Promise<void> {
    const forDeletion = commandId === deletionClaim;
    const shown = record === null ? await assets.withObject(storageId, objectKey) : [];
    const holders = new Set([...(record === null ? [] : [record.asset_id]), ...shown]);
    holders.delete(assetId);
    for (const holder of holders) {
      const own = record?.asset_id === holder ? record : null;
      const { state } = await handler.load(assetAggregate, holder);
      if (holds(state, { storageId, key: objectKey }, own)) {
        rejectAsset('object_key_taken', `the asset ${holder} of this storage has this object_key already`);
      }
      if (!forDeletion && isDeleting(state, { storageId, key: objectKey }, own)) {
        rejectAsset(
          'object_key_taken',
          `the object of the removed asset ${holder} is being deleted; see undeleted-objects of the storage`,
        );
      }
    }
  }

  function holds(state: AssetState, { storageId, key }: ObjectPlace, record: ClaimRecord | null): boolean {
    if (state.status === 'removed') return false;
    if (state.status === 'existing') {
      if (state.storage_id === storageId && keysOfAsset(state).includes(key)) return true;
      // The command of the claim has ended, and the asset has lost the object since.
      if (record !== null && state.lastCommands.includes(record.command_id)) return false;
    }
    return record !== null && isYoung(record);
  }

  /** Says whether the object of a removed asset is still to be deleted, or may be deleted at this moment. */
  function isDeleting(
    state: AssetState,
    { storageId, key }: ObjectPlace,
    record: ClaimRecord | null,
  ): boolean {
    if (record?.command_id === deletionClaim && isYoung(record)) return true;
    if (state.status !== 'removed' || state.deletion === null) return false;
    return state.deletion.storage_id === storageId && state.deletion.object_keys.includes(key);
  }

  function isYoung({ at }: ClaimRecord): boolean {
    return clock.now().getTime() - Date.parse(at) < claimMs;
  }

  /** A claim that stays counts for a minute at most. */
  async function giveBack(claims: readonly Claim[]): Promise<void> {
    await Promise.allSettled(claims.map(({ key, version }) => stateStore.compareAndSet(key, version, null)));
  }
}

function recordKey(storageId: string, objectKey: string): string {
  return `object-keys/${storageId}/${hash('sha256', objectKey, 'base64url')}`;
}
